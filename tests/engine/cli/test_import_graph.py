"""Previewing and updating a taxonomy on the command line."""

from pathlib import Path

import pytest

from engine.project import Project
from tests.support.command_line import done, refused
from tests.support.projects import Dump, dump, new_project

V1 = "child,parent\nBird,\nGull,Bird\nTern,Bird\n"
V2 = "child,parent\nBird,\nSeabird,Bird\nGull,Seabird\nGulls of prey,Seabird\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """An empty project and two versions of a list."""
    new_project(tmp_path).close()
    (tmp_path / "v1.csv").write_text(V1, encoding="utf-8")
    (tmp_path / "v2.csv").write_text(V2, encoding="utf-8")
    return tmp_path / "birds.protoleaf"


def content(path: Path) -> Dump:
    """Content of the project."""
    with Project.open(path, for_writing=False) as opened:
        return dump(opened)


@pytest.mark.slow
def test_preview_writes_nothing_and_update_does_what_it_showed(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Preview and update print the same, as text and as JSON."""
    folder = project.parent
    text = done(capsys, "import-graph", project, folder / "v1.csv", "--preview").out
    assert text.startswith(
        "v1.csv has 3 classes, 2 edges, 2 levels (1, 2). Nothing was written.\n3 new, 0 renamed"
    )
    done(capsys, "import-graph", project, folder / "v1.csv")
    before = content(project)
    adding = done(capsys, "import-graph", project, folder / "v2.csv", "--preview").out
    assert "New (3):\n  Bird/Seabird\n  Bird/Seabird/Gull\n" in adding
    assert "An earlier version of it was imported: --update applies" in adding
    text = done(capsys, "import-graph", project, folder / "v2.csv", "--preview", "--update").out
    assert "2 new, 0 renamed, 1 moved, 0 merged, 0 split, 1 gone, 1 the same" in text
    assert "Moved (1):\n  Bird/Gull -> Bird/Seabird/Gull" in text
    planned = done(
        capsys, "import-graph", project, folder / "v2.csv", "--preview", "--update", "--json"
    ).fields
    assert content(project) == before
    fields = done(capsys, "import-graph", project, folder / "v2.csv", "--update", "--json").fields
    same = (
        "new",
        "renamed",
        "moved",
        "merged",
        "split",
        "gone",
        "removed_here",
        "kept",
        "levels",
        "same",
    )
    assert {name: fields[name] for name in same} == {name: planned[name] for name in same}
    assert fields["gone"] == [{"path": "Bird/Tern"}]
    assert (fields["classes_added"], fields["classes_removed"], fields["classes"]) == (2, 0, 5)


def test_what_is_gone_is_removed_when_asked(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only together with an update."""
    folder = project.parent
    done(capsys, "import-graph", project, folder / "v1.csv")
    refused(capsys, "import-graph", project, folder / "v2.csv", "--remove-gone", status=2)
    text = done(capsys, "import-graph", project, folder / "v2.csv", "--update", "--remove-gone").out
    assert "1 gone, 1 the same; removed 1 class; the graph has 4 classes." in text


@pytest.mark.slow
def test_a_list_with_a_circle_leaves_the_project_alone(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A list, or list and graph together, with a cycle changes nothing, in previews too."""
    folder = project.parent
    done(capsys, "import-graph", project, folder / "v1.csv")
    before = content(project)
    (folder / "circle.csv").write_text("child,parent\nGull,Bird\nBird,Gull\n", encoding="utf-8")
    for options in ((), ("--preview",), ("--update",)):
        assert "its own ancestor" in refused(
            capsys, "import-graph", project, folder / "circle.csv", *options
        )
    assert content(project) == before


@pytest.mark.slow
def test_a_graph_leaves_and_comes_back(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By suffix or name; an unknown format is a usage error."""
    folder = project.parent
    done(capsys, "import-graph", project, folder / "v1.csv")
    turtle, out = folder / "out.ttl", folder / "out.txt"
    assert (
        done(capsys, "export-graph", project, turtle).out
        == f"Wrote 3 classes and 2 edges to {turtle}.\n"
    )
    fields = done(capsys, "export-graph", project, out, "--format", "graphml", "--json").fields
    assert fields == {"classes": 3, "edges": 2, "format": "graphml", "out": str(out)}
    before = content(project)
    for written in (turtle, out):
        assert done(capsys, "import-graph", project, written, "--json").fields["classes_added"] == 0
    after = content(project)
    assert (after["class"], after["edge"]) == (before["class"], before["edge"])
    assert "is not that of a graph format" in refused(
        capsys, "export-graph", project, out, status=2
    )
