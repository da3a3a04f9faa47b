"""Graphs with source ids on the command line, and images of classes named by them."""

from pathlib import Path

import pytest

from engine.project import Project
from tests.support.command_line import done, refused
from tests.support.images import write_jpeg
from tests.support.projects import new_project

EDGES = "n00000001 n00000002\nn00000002 n01440764\nn00000002 n01443537\n"
WORDS = (
    "n00000001\tentity\nn00000002\tfish\nn01440764\ttench, Tinca tinca, "
    "carp\nn01443537\tgoldfish, carp\n"
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """An empty project, with a graph and images next to it."""
    new_project(tmp_path).close()
    (tmp_path / "wordnet.is_a.txt").write_text(EDGES, encoding="utf-8")
    (tmp_path / "words.txt").write_text(WORDS, encoding="utf-8")
    for number, name in enumerate(("n01440764/1.jpg", "goldfish/2.jpg", "Tinca tinca/3.jpg")):
        (tmp_path / "in" / name).parent.mkdir(parents=True)
        write_jpeg(tmp_path / "in" / name, seed=number)
    write_jpeg(tmp_path / "loose.jpg", seed=9)
    return tmp_path / "birds.protoleaf"


def test_folders_and_options_by_source_id_and_synonym(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No class is created; an ambiguous synonym is refused with both paths."""
    folder = project.parent
    done(capsys, "import-graph", project, folder / "wordnet.is_a.txt")
    answer = done(capsys, "import-images", project, folder / "in", "--folders-as-classes").out
    assert answer.startswith("Added 3 images (0 already there), 3 labels and 0 classes.")
    line = refused(capsys, "import-images", project, folder / "loose.jpg", "--class", "carp")
    assert '"entity/fish/tench", "entity/fish/goldfish"' in line
    done(capsys, "import-images", project, folder / "loose.jpg", "--class", "n01443537")
    with Project.open(project, for_writing=False) as opened:
        names = {
            opened.classes.graph.name(class_id): count
            for class_id, count in opened.labels.counts().items()
        }
    assert names == {"tench": 2, "goldfish": 2}


def test_a_second_import_completes_what_was_there(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Existing classes get ids and synonyms, which is reported.

    A third import reports nothing.
    """
    folder = project.parent
    done(capsys, "import-graph", project, folder / "wordnet.is_a.txt")
    with Project.open(project) as opened:
        opened.history.undo()
        _, entity = opened.classes.add("entity")
        opened.classes.add("fish", [entity])
    first = done(capsys, "import-graph", project, folder / "wordnet.is_a.txt").out
    assert (
        "Added 2 classes and 2 edges; completed the ids and synonyms of 2 known classes; the "
        "graph has 4" in first
    )
    assert "completed" not in done(capsys, "import-graph", project, folder / "wordnet.is_a.txt").out
