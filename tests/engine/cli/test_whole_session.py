"""A complete session on the command line, from an empty folder to accuracy."""

import csv
from pathlib import Path

import pytest

from engine.config import CacheFolders
from engine.interchange.predictions_file import COLUMNS
from engine.project import Project
from tests.support.collections import (
    FAMILIES,
    FAMILY_OF,
    LEAVES,
    PER_CLASS,
    SHOTS,
    Collection,
    cache_of_test,
    read_truth_table,
    tree_hash,
    write_collection,
)
from tests.support.command_line import done

CHANCE = 1 / len(LEAVES)
UNSORTED = len(LEAVES) * (PER_CLASS - SHOTS)
FIGURES = {
    "setting",
    "images",
    "top1",
    "top5",
    "levels",
    "calibration_error",
    "coverage",
    "safe_accuracy",
    "safe_at_leaf",
    "unknown",
    "shrinkage",
    "not_found",
    "has_collection",
    "twins",
    "top1_without_twins",
}


@pytest.mark.slow
def test_from_an_empty_folder_to_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every documented step works, a second embedding does nothing, no image is changed."""
    given = write_collection(tmp_path / "collection", cache_of_test())
    pictures = {folder: tree_hash(folder) for folder in (given.shots, given.unsorted)}
    project, out = given.project, tmp_path / "predictions.csv"

    done(capsys, "new", project)
    grown = done(capsys, "import-graph", project, given.graph, "--json").fields
    assert grown == {
        "classes_added": 11,
        "edges_added": 8,
        "aliases_added": 0,
        "classes": 11,
        "left_out": [],
    }
    shots = done(
        capsys, "import-images", project, given.shots, "--folders-as-classes", "--json"
    ).fields
    assert (shots["added"], shots["labelled"], shots["classes_added"], shots["failures"]) == (
        24,
        24,
        0,
        [],
    )
    loose = done(capsys, "import-images", project, given.unsorted, "--json").fields
    assert (loose["added"], loose["labelled"]) == (UNSORTED, 0)

    first = done(capsys, "embed", project, "--device", "cpu", "--json").fields
    second = done(capsys, "embed", project, "--device", "cpu", "--json").fields
    assert (first["embedded"], first["from_cache"], first["failures"]) == (24 + UNSORTED, 0, [])
    assert (second["embedded"], second["from_cache"], second["failures"]) == (0, 24 + UNSORTED, [])

    written = done(capsys, "classify", project, "-o", out, "--json").fields
    assert (written["predictions"], written["waiting"]) == (UNSORTED, 0)
    figures = done(capsys, "evaluate", project, "--truth", given.truth, "--json").fields
    assert set(figures) == FIGURES
    assert figures["images"] == UNSORTED
    assert figures["top1"] > 4 * CHANCE
    assert figures["levels"][0] > 0.6
    sound = done(capsys, "check", project, "--json").fields
    assert sound == {
        "sound": True,
        "problems": [],
        "classes": 11,
        "images": 24 + UNSORTED,
        "labels": 24,
        "replaced": [],
    }
    assert {folder: tree_hash(folder) for folder in pictures} == pictures


def test_predictions_file(
    collection: Collection, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The documented columns, and one row for each unlabelled image."""
    out = tmp_path / "predictions.csv"
    done(capsys, "classify", collection.project, "-o", out, "--setting", "ppn")
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    header = out.read_text(encoding="utf-8").splitlines()[0]
    assert header == "image,class,path,score,safe_class,safe_score,setting,model,is_unknown"
    assert tuple(rows[0]) == COLUMNS
    truth = read_truth_table(collection)
    assert {row["image"] for row in rows} == set(truth)
    assert len(rows) == len(truth)
    for row in rows:
        assert row["path"] == f"{FAMILY_OF[row['class']]}/{row['class']}"
        assert row["safe_class"] in {*LEAVES, *FAMILIES, "unknown", ""}
        assert 0 < float(row["score"]) <= 1
        assert 0 <= float(row["safe_score"]) <= 1.000001
        assert (row["setting"], row["model"]) == ("ppn", "leafnet")
    assert sum(row["class"] == truth[row["image"]] for row in rows) > 4 * CHANCE * len(rows)


@pytest.mark.slow
def test_classify_never_changes_a_persons_label(
    collection: Collection, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Labels, also "none of the classes" and seemingly wrong ones, are unchanged."""
    with Project.open(collection.project) as project:
        first, second = list(project.images.table().ids)[-2:]
        project.labels.set([first], None)
        project.labels.set([second], project.classes.graph.find("Red"))
        before = project.labels.by_image()
    done(capsys, "classify", collection.project, "-o", tmp_path / "out.csv")
    with Project.open(collection.project, for_writing=False) as project:
        assert project.labels.by_image() == before
        predicted = {prediction.image_id for prediction in project.models.predictions("ppn+")}
        assert not predicted & set(before)
        assert len(predicted) + len(before) == project.images.count
        assert str(project.history.undo_action) == "Labelled 1 image as Red"


@pytest.mark.parametrize("setting", ["ppn+", "ppn", "prototypes", "regression"])
def test_each_setting_beats_chance(
    collection: Collection, setting: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """On simple shapes every setting is far better than chance, at the leaf and above."""
    figures = done(
        capsys,
        "evaluate",
        collection.project,
        "--truth",
        collection.truth,
        "--setting",
        setting,
        "--json",
    ).fields
    assert figures["setting"] == setting
    assert figures["top5"] >= figures["top1"] > 4 * CHANCE
    assert len(figures["levels"]) == 2
    assert figures["levels"][0] >= figures["levels"][1] == figures["top1"]
    assert figures["not_found"] == 0


@pytest.mark.slow
def test_all_settings_side_by_side(
    collection: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--setting all` prints a column for each setting, and an object with all four in JSON."""
    arguments = ("evaluate", collection.project, "--truth", collection.truth, "--setting", "all")
    table = done(capsys, *arguments).out.splitlines()
    assert table[0].split() == ["ppn+", "ppn", "prototypes", "regression"]
    assert table[1].split() == ["images", "40", "40", "40", "40"]
    fields = done(capsys, *arguments, "--json").fields
    assert [result["setting"] for result in fields["settings"]] == [
        "ppn+",
        "ppn",
        "prototypes",
        "regression",
    ]


@pytest.mark.slow
def test_settings_of_different_depth_share_a_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With coarse shots only PPN+ reaches the leaves, plain prototypes do not.

    The table has a dash there.
    """
    given = write_collection(tmp_path / "collection", cache_of_test())
    done(capsys, "new", given.project)
    done(capsys, "import-graph", given.project, given.graph)
    for family in FAMILIES:
        done(capsys, "import-images", given.project, given.shots / family, "--class", family)
    done(capsys, "import-images", given.project, given.unsorted)
    done(capsys, "embed", given.project, "--device", "cpu")
    answer = done(capsys, "evaluate", given.project, "--truth", given.truth, "--setting", "all")
    (level_1,) = [line for line in answer.out.splitlines() if line.startswith("level 1")]
    assert level_1.split()[-1] == "-"
    assert "%" in level_1


def test_everything_can_be_undone_after_a_session(
    collection: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each changing command is one step of the history, newest first."""
    done(
        capsys,
        "import-images",
        collection.project,
        collection.unsorted / "024.png",
        "--class",
        "Red disc",
    )
    with Project.open(collection.project) as project:
        assert len(project.history.steps()) == 4
        while project.history.undo() is not None:
            pass
        assert (
            len(project.classes.graph),
            project.images.count,
            len(project.labels.by_image()),
        ) == (0, 0, 0)


@pytest.mark.slow
def test_a_deleted_cache_is_filled_again(
    collection: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without the cache `classify` says what to do.

    Embedding again fixes it.
    """
    for file in CacheFolders(collection.caches.root).embeddings.iterdir():
        file.unlink()
    answer = done(capsys, "embed", collection.project, "--device", "cpu", "--json").fields
    assert answer["embedded"] == 24 + UNSORTED
