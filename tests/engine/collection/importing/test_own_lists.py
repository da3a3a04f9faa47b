"""Class lists edited in a spreadsheet: classes match by identity and keep their labels."""

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.collection.importing.import_graph import import_graph, preview_import
from engine.exporting.export_graph import export_graph
from engine.interchange.detect import read_graph
from engine.project import Project
from tests.support.copies import labels_of
from tests.support.projects import bird_project, new_project

BIRD, GULL = 1, 2
SUFFIXES = ("csv", "json", "graphml", "ttl")


@pytest.fixture
def birds(tmp_path: Path) -> Project:
    """Gull with two photos and Tern below Bird."""
    project, gull, ids = bird_project(tmp_path)
    project.classes.add("Tern", [BIRD])
    project.labels.set(ids[:2], gull, who="ada")
    return project


def exported(project: Project, suffix: str, change: Callable[[str], str] = str) -> Path:
    """The exported list with a text replaced."""
    out = project.path.parent / f"classes.{suffix}"
    export_graph(project, out)
    out.write_text(change(out.read_text(encoding="utf-8")), encoding="utf-8")
    return out


def paths(project: Project) -> set[str]:
    graph = project.classes.graph
    return {graph.path_text(each) for each in graph.classes()}


@pytest.mark.parametrize("was_imported", [False, True])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_new_name_renames_the_class(birds: Project, suffix: str, was_imported: bool) -> None:
    """In each format, with and without an earlier import of the unchanged list."""
    if was_imported:
        import_graph(birds, exported(birds, suffix), updates=True)
    done = import_graph(
        birds, exported(birds, suffix, lambda text: text.replace("Gull", "Möwe")), updates=True
    )
    assert done.report is not None
    counts = {kind: count for kind, count in done.report.counts.items() if count}
    assert counts == {"renamed": 1}
    assert paths(birds) == {"Bird", "Bird/Möwe", "Bird/Tern"}
    assert {each[0] for each in labels_of(birds).values()} == {"Bird/Möwe"}


def test_all_names_may_be_new(birds: Project) -> None:
    """Also if exchanged: identities match the classes, and the window offers to rename."""
    names = {"Bird": "Vogel", "Gull": "Tern", "Tern": "Gull"}

    def exchanged(text: str) -> str:
        for number, old in enumerate(names):
            text = text.replace(old, f"<{number}>")
        for number, new in enumerate(names.values()):
            text = text.replace(f"<{number}>", new)
        return text

    source = exported(birds, "csv", exchanged)
    assert preview_import(birds, read_graph(source), source.name, updates=True).is_alike
    done = import_graph(birds, source, updates=True)
    assert (done.classes_added, done.change.is_empty) == (0, False)
    assert paths(birds) == {"Vogel", "Vogel/Gull", "Vogel/Tern"}
    assert {each[0] for each in labels_of(birds).values()} == {"Vogel/Tern"}


def test_what_was_changed_here_before_the_export_is_no_clash(
    birds: Project, tmp_path: Path
) -> None:
    """A class renamed here, exported and renamed again is no conflict; its source stays known."""
    source = tmp_path / "source.csv"
    source.write_text("child,parent\nBird,\nGull,Bird\nTern,Bird\n", encoding="utf-8")
    import_graph(birds, source)
    birds.classes.rename(GULL, "Seagull")
    done = import_graph(
        birds, exported(birds, "csv", lambda text: text.replace("Seagull", "Larus")), updates=True
    )
    assert done.report is not None
    assert (done.report.counts["renamed"], done.report.counts["kept"]) == (1, 0)
    assert import_graph(birds, source, updates=True).change.graph_edits == ()
    assert "Bird/Larus" in paths(birds)


def test_moved_and_added_by_hand(birds: Project) -> None:
    """A changed parent moves the class; a copied row is a new class."""
    source = exported(birds, "csv")
    with source.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    tern = next(row for row in rows if row["child"] == "Tern")
    heron = {**tern, "child": "Heron", "id": "99"}
    tern.update(parent="", parent_id="")
    with source.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(tern))
        table.writeheader()
        table.writerows([*rows, heron])
    import_graph(birds, source, updates=True)
    assert paths(birds) == {"Bird", "Bird/Gull", "Bird/Heron", "Tern"}


def test_another_project_gets_the_same_classes(birds: Project, tmp_path: Path) -> None:
    """Their identities match later; a second import under another name makes classes of its own."""
    source = exported(birds, "json")
    other = new_project(tmp_path, "other.protoleaf")
    import_graph(other, source)
    ours, theirs = birds.classes.graph, other.classes.graph
    assert ours.by_identity().keys() == theirs.by_identity().keys()
    import_graph(other, exported(birds, "json", lambda text: text.replace("Bird", "Vogel")))
    assert len(theirs.by_identity()) == len(theirs) == 6
