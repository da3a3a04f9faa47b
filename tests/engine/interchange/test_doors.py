"""Invalid class names are refused by all ways into the graph, with their place."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.collection.importing.import_images import import_class_folders
from engine.errors import FormatError, GraphError
from engine.graph import group_edits
from engine.graph.limits import DEEPEST_LEVEL
from engine.interchange import imported
from engine.interchange.detect import read_graph
from tests.support.collections import write_shape
from tests.support.projects import new_project

TURNED = "Gull\u202egpj.exe"
UNSEEN = "\u200b\u2060"
LONG = "x" * 400


def _csv(folder: Path, name: str) -> Path:
    path = folder / "classes.csv"
    path.write_text(f"child,parent\nBird,\n{name},Bird\n", encoding="utf-8")
    return path


def _json_tree(folder: Path, name: str) -> Path:
    path = folder / "classes.json"
    path.write_text(json.dumps({"name": "Bird", "children": [name]}), encoding="utf-8")
    return path


def _json_list(folder: Path, name: str) -> Path:
    path = folder / "classes.json"
    path.write_text(json.dumps({"classes": [{"name": name}]}), encoding="utf-8")
    return path


def _words(folder: Path, name: str) -> Path:
    (folder / "wordnet.is_a.txt").write_text("n00000001 n00000002\n", encoding="utf-8")
    (folder / "words.txt").write_text(f"n00000001\tBird\nn00000002\t{name}\n", encoding="utf-8")
    return folder / "wordnet.is_a.txt"


def _ids(folder: Path, name: str) -> Path:
    (folder / "wordnet.is_a.txt").write_text(f"n00000001 {name}\n", encoding="utf-8")
    (folder / "words.txt").write_text("n00000001\tBird\n", encoding="utf-8")
    return folder / "wordnet.is_a.txt"


def _folders(folder: Path, name: str) -> Path:
    (folder / "tree" / "Bird" / name).mkdir(parents=True)
    return folder / "tree"


FORMATS = [
    (_csv, "csv"),
    (_json_tree, "json"),
    (_json_list, "json"),
    (_words, "imagenet"),
    (_ids, "imagenet"),
]
LINES = [(TURNED, "writing direction"), (UNSEEN, "can be seen"), (LONG, "too long")]


@pytest.mark.parametrize(
    ("write", "graph_format", "name", "message"),
    [
        *((*known, *line) for known in FORMATS for line in LINES),
        *(
            (_folders, "folders", *line) for line in LINES[:2]
        ),  # no file system takes a folder of the long name
    ],
)
def test_an_import_with_a_treacherous_name(
    write: Callable[[Path, str], Path], graph_format: str, name: str, message: str, tmp_path: Path
) -> None:
    """Formats name error and place in one readable line; tables skip only that row."""
    source = write(tmp_path, name)
    try:
        graph = read_graph(source, graph_format)
    except FormatError as error:
        line = str(error)
    else:
        assert graph_format == "csv"
        assert [each.name for each in graph.classes] == ["Bird"]
        (line,) = [str(each.name) for each in graph.left_out]
        assert "line 3 of classes.csv" in line
    assert message in line
    assert len(line) < 400
    assert line.isprintable()


@pytest.mark.parametrize("name", [TURNED, UNSEEN, LONG])
def test_adding_and_renaming(name: str, tmp_path: Path) -> None:
    """The project's own actions refuse as well; nothing has changed."""
    with new_project(tmp_path) as project:
        bird = project.classes.add("Bird")[1]
        with pytest.raises(GraphError):
            project.classes.add(name)
        with pytest.raises(GraphError):
            project.classes.rename(bird, name)
        assert [project.classes.graph.name(each) for each in project.classes.graph.classes()] == [
            "Bird"
        ]
        assert str(project.history.undo_action) == "Added class Bird"


@pytest.mark.parametrize("name", [TURNED, UNSEEN])
def test_class_folders(name: str, tmp_path: Path) -> None:
    """A folder that cannot be a class is reported, and nothing in it is added."""
    write_shape(tmp_path / "shots" / name / "1.png", "Red disc", seed=1)
    with new_project(tmp_path) as project:
        done = import_class_folders(project, [tmp_path / "shots"])
        assert [failure.path for failure in done.failures] == [tmp_path / "shots" / name]
        assert (len(project.classes.graph), project.images.count) == (0, 0)


def _chain(folder: Path, length: int) -> Path:
    path = folder / "chain.csv"
    rows = [f"c{number + 1},c{number}" for number in range(length - 1)]
    path.write_text("\n".join(["child,parent", "c0,", *rows]), encoding="utf-8")
    return path


def test_a_chain_of_classes(tmp_path: Path) -> None:
    """The deepest allowed level is read; a deeper one is refused."""
    assert len(read_graph(_chain(tmp_path, DEEPEST_LEVEL + 1)).classes) == DEEPEST_LEVEL + 1
    with pytest.raises(
        FormatError, match=r"chain.csv nests its classes too deeply: expected at most 500 classes"
    ):
        read_graph(_chain(tmp_path, DEEPEST_LEVEL + 2))


def test_a_pit_of_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders deeper than the limit are not listed."""
    monkeypatch.setattr(imported, "DEEPEST_LEVEL", 4)
    looked_at = tmp_path / "1/2/3/4/5"
    looked_at.mkdir(parents=True)
    assert len(read_graph(tmp_path).classes) == 5
    (looked_at / "6" / "\u202e").mkdir(parents=True)
    with pytest.raises(FormatError, match="too deeply"):
        read_graph(tmp_path)


def test_a_pit_of_class_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Class folders deeper than the limit are refused."""
    monkeypatch.setattr(group_edits, "DEEPEST_LEVEL", 3)
    write_shape(tmp_path / "1/2/3/4/5/1.png", "Red disc", seed=1)
    with new_project(tmp_path) as project:
        with pytest.raises(GraphError, match='found "5" on level 4'):
            import_class_folders(project, [tmp_path])
        assert (len(project.classes.graph), project.images.count) == (0, 0)
