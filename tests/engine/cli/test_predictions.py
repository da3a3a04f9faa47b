"""`classify` and its output: labelled images, any locale."""

import csv
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from engine.interchange.predictions_file import COLUMNS
from engine.project import Project
from tests.support.collections import LEAVES, SHOTS, Collection, class_ids, write_shape
from tests.support.command_line import done


def rows_of(path: Path) -> list[dict[str, str]]:
    """Rows of the table."""
    with path.open(encoding="utf-8", errors="surrogateescape", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
def test_all_images(
    collection: Collection, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Labelled images are in their rows with label and author.

    Other rows are unchanged.
    """
    with Project.open(collection.project) as project:
        nothing, coarse = list(project.images.table().ids)[-2:]
        project.labels.set([nothing], None, who="=ada")
        project.labels.set([coarse], project.classes.graph.find("Red"), who="Grace Hopper")
    some, every = tmp_path / "some.csv", tmp_path / "every.csv"
    done(capsys, "classify", collection.project, "-o", some)
    answer = done(capsys, "classify", collection.project, "--all", "-o", every)
    assert answer.out.startswith("Wrote 38 predictions and 26 labels to ")
    rows = rows_of(every)
    assert tuple(rows[0]) == (*COLUMNS, "labelled_by")
    assert [
        {name: row[name] for name in COLUMNS} for row in rows if not row["labelled_by"]
    ] == rows_of(some)
    labelled = {row["image"]: list(row.values())[1:] for row in rows if row["labelled_by"]}
    assert len(labelled) == 26
    assert labelled["shots/Red/Red disc/0.png"] == [
        "Red disc",
        "Red/Red disc",
        "",
        "Red disc",
        "",
        "",
        "",
        "false",
        "ada",
    ]
    assert list(labelled.values())[-2:] == [
        ["unknown", "", "", "unknown", "", "", "", "true", "'=ada"],
        ["Red", "Red", "", "Red", "", "", "", "false", "Grace Hopper"],
    ]
    with Project.open(collection.project, for_writing=False) as project:
        assert [row["image"] for row in rows] == list(project.images.table().paths)
        assert len(project.models.predictions("ppn+")) == 38


def test_labels_that_have_no_embedding(
    collection: Collection, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Labels need no embedding.

    Images without both are counted.
    """
    for number, name in enumerate(("labelled.png", "loose.png")):
        write_shape(collection.folder / "new" / name, "Blue disc", seed=90 + number)
    done(
        capsys,
        "import-images",
        collection.project,
        collection.folder / "new/labelled.png",
        "--class",
        "Blue disc",
    )
    done(capsys, "import-images", collection.project, collection.folder / "new/loose.png")
    out = tmp_path / "out.csv"
    fields = done(capsys, "classify", collection.project, "--all", "-o", out, "--json").fields
    assert (fields["predictions"], fields["labels"], fields["waiting"]) == (40, 25, 2)
    images = {row["image"] for row in rows_of(out)}
    assert "new/labelled.png" in images
    assert "new/loose.png" not in images


@pytest.mark.slow
def test_what_would_help(
    collection: Collection,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Random labels confuse the fast backbone, so the accurate one is recommended; else nothing."""
    monkeypatch.delenv("PROTOLEAF_BACKBONE", raising=False)
    out = tmp_path / "out.csv"
    assert (
        done(capsys, "classify", collection.project, "-o", out, "--json").fields["recommendations"]
        == []
    )
    with Project.open(collection.project) as project:
        ids = class_ids(project)
        for place, image_id in enumerate(project.images.table().ids[: SHOTS * len(LEAVES)]):
            project.labels.set([image_id], ids[LEAVES[place % len(LEAVES)]])
    text = done(capsys, "classify", collection.project, "-o", out).out
    assert "\nThe fast backbone often confuses these: " in text
    first, *_others = done(capsys, "classify", collection.project, "-o", out, "--json").fields[
        "recommendations"
    ]
    assert first["kind"] == "accurate_backbone"
    assert set(first["classes"]) <= set(ids.values())
    assert first["text"] in text


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="names of any bytes")
def test_any_name_in_any_locale(
    collection: Collection, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With an ASCII locale the table is UTF-8, and `evaluate` finds each image in it."""
    picture = collection.unsorted / "024.png"
    names = ["größe 海.png", "caf\udce9.png", "=1+1.png", "new\nline.png"]
    for name in names:
        shutil.copy(picture, collection.unsorted / name)
    done(capsys, "import-images", collection.project, collection.unsorted)
    done(capsys, "embed", collection.project, "--device", "cpu")
    out = tmp_path / "out.csv"
    process = subprocess.run(
        [sys.executable, "-m", "app", "classify", str(collection.project), "-o", str(out)],
        env=os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (process.returncode, process.stderr) == (0, "")
    content = out.read_bytes()
    assert b"unsorted/caf\xe9.png," in content
    content.replace(b"\xe9", b"").decode()
    assert {f"unsorted/{name}" for name in names} <= {row["image"] for row in rows_of(out)}
    figures = done(capsys, "evaluate", collection.project, "--truth", out, "--json").fields
    assert (figures["images"], figures["top1"], figures["not_found"]) == (44, 1, 0)
