"""Class lists for new projects: files, tables with chosen columns, typed lines."""

from pathlib import Path

import pytest

from engine.collection.importing.folder_choice import FoundFolder, read_class_list, read_class_text
from engine.collection.importing.import_graph import import_graph
from engine.errors import FormatError
from tests.support.projects import new_project


@pytest.mark.slow
def test_indented_lines_lie_below_the_line_above(tmp_path: Path) -> None:
    """Blanks or tabs indent; the list can be imported."""
    read = read_class_text("Bird\n\tGull\n\t\tTern\nMammal\n", "typed list")
    assert (read.count, read.levels, read.top_names(1)) == (4, 3, ("Bird",))
    with new_project(tmp_path) as project:
        import_graph(project, read.source, read=read.imported)
        graph = project.classes.graph
        assert {graph.path_text(each) for each in graph.leaves()} == {"Bird/Gull/Tern", "Mammal"}


def test_no_line_is_no_list() -> None:
    """Blank text is refused."""
    with pytest.raises(FormatError):
        read_class_text("\n \n", "typed list")


def test_a_table_that_says_too_little_is_asked_about(tmp_path: Path) -> None:
    """A table with ambiguous columns raises an error that names them; chosen columns are used."""
    table = tmp_path / "list.csv"
    table.write_text("alpha;beta\nx1;Gull\nx2;Tern\n", encoding="utf-8")
    read = read_class_list(table, {})
    assert (read.imported, read.count, read.levels) == (None, 0, 0)
    assert read.columns is not None
    assert not read.columns.is_clear
    named = read_class_list(table, {"class": "beta"})
    assert named.top_names(5) == ("Gull", "Tern")


def test_a_file_that_is_no_list_is_refused(tmp_path: Path) -> None:
    """The error gives the reason."""
    (tmp_path / "prose.txt").write_text("Dear Sir, I would like to say: no. " * 9, encoding="utf-8")
    with pytest.raises(FormatError):
        read_class_list(tmp_path / "prose.txt", {})


def test_folders_called_as_classes_are_known(tmp_path: Path) -> None:
    """Names match case-insensitively; folders of data set splits match nothing."""
    read = read_class_text("Barn owl\nFox\ntrain", "typed list")
    folders = [
        FoundFolder(tmp_path / name, 1, 3) for name in ("barn_owl", "Fox", "site A", "train")
    ]
    assert {path.name for path in read.known_folders(folders)} == {"barn_owl", "Fox"}
