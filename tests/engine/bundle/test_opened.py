"""Opening exported models: invalid folders are refused, unreadable images are listed."""

import csv
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.bundle.export import ExportedModel
from engine.bundle.opened import classify_files, open_bundle
from engine.errors import Cancelled, InputError, ProtoleafError
from engine.events import CancelToken
from tests.engine.bundle.conftest import RENAMED
from tests.support.collections import LEAVES, Collection, write_shape
from tests.support.command_line import done, refused
from tests.support.onnx_models import write_vectors


def _changed(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    """Rewrite `classes.json` with a change."""

    def damage(folder: Path) -> None:
        path = folder / "classes.json"
        fields = json.loads(path.read_text(encoding="utf-8"))
        change(fields)
        path.write_text(json.dumps(fields), encoding="utf-8")

    return damage


def _another_network(folder: Path) -> None:
    network = write_vectors(folder / "classifier.onnx").read_bytes()
    _changed(lambda fields: fields.update(sha256=hashlib.sha256(network).hexdigest()))(folder)


def _cut(folder: Path) -> None:
    path = folder / "classifier.onnx"
    path.write_bytes(path.read_bytes()[:100_000])


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "no classes": (lambda folder: (folder / "classes.json").unlink(), r"no classes\.json in "),
    "no network": (
        lambda folder: (folder / "classifier.onnx").unlink(),
        r"no classifier\.onnx in ",
    ),
    "no JSON": (
        lambda folder: (folder / "classes.json").write_text("{"),
        ("not the classes.json of an exported model"),
    ),
    "no text": (lambda folder: (folder / "classes.json").write_bytes(b"\xff\xfe\xff"), "not text"),
    "a list": (
        lambda folder: (folder / "classes.json").write_text("[]"),
        ("not the classes.json of an exported model"),
    ),
    "another format": (_changed(lambda fields: fields.update(format="coco")), "the format “coco”"),
    "a newer program's": (
        _changed(lambda fields: fields.update(version=2)),
        "newer version.*Update Protoleaf",
    ),
    "a field is gone": (_changed(lambda fields: fields.pop("image")), "no “image”"),
    "classes in a circle": (
        _changed(lambda fields: fields["classes"][0].update(parents=[fields["classes"][-1]["id"]])),
        "found .*classes",
    ),
    "three views": (
        _changed(lambda fields: fields["image"].update(views=3)),
        "96 pixels in 3 views",
    ),
    "no class to choose": (
        _changed(lambda fields: fields.update(probabilities=[])),
        "no class to choose among",
    ),
    "a class of nobody": (
        _changed(lambda fields: fields["probabilities"].append(999)),
        "found .*999",
    ),
    "a bar that is none": (
        _changed(lambda fields: fields["classes"][6].update(bar="high")),
        "damaged",
    ),
    "half a network": (_cut, "not the one that classes.json belongs to, or it is damaged"),
    "another network": (_another_network, r"classifier\.onnx does not fit classes\.json"),
    "classes of another": (_changed(lambda fields: fields["probabilities"].pop()), "does not fit"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damaged_models_are_refused(kind: str, bundle: Path) -> None:
    """Each error says what is wrong, where, and what to do.

    No model with inconsistent classes is used.
    """
    damage, message = DAMAGE[kind]
    damage(bundle)
    with pytest.raises(ProtoleafError, match=message) as caught:
        open_bundle(bundle)
    assert not isinstance(caught.value, Cancelled)
    assert caught.value.found


@pytest.mark.parametrize("name", ["nowhere", "classes.json"])
def test_what_is_no_folder(name: str, bundle: Path) -> None:
    with pytest.raises(
        InputError, match=r"not an exported model: expected a folder with classes\.json"
    ):
        open_bundle(bundle / name)


@pytest.mark.slow
def test_bars_may_be_changed(bundle: Path, tmp_path: Path) -> None:
    """Thresholds in `classes.json` can be raised."""
    image = write_shape(tmp_path / "new.png", "Green disc", seed=100)
    before = open_bundle(bundle).predict("new", image.read_bytes())
    _changed(lambda fields: [one.update(bar=1.0) for one in fields["classes"]])(bundle)
    after = open_bundle(bundle).predict("new", image.read_bytes())
    assert before.safe_class_id is not None
    assert (after.class_id, after.score, after.safe_class_id) == (
        before.class_id,
        before.score,
        None,
    )


@pytest.mark.slow
def test_by_the_command_line(
    ruled: Collection,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """After moving the folder, without a project: files and folders keep the names given."""
    monkeypatch.setenv("PROTOLEAF_CACHE", str(ruled.caches.root))
    monkeypatch.chdir(tmp_path)
    done(capsys, "export", ruled.project, "model", tmp_path / "first")
    (tmp_path / "first").rename(tmp_path / "moved")
    for number, leaf in enumerate(LEAVES):
        write_shape(tmp_path / "new" / "more" / f"{number}.png", leaf, seed=100)
    (tmp_path / "new" / "broken.jpg").write_bytes(b"\xff\xd8\xff nothing")
    (tmp_path / "new" / "notes.txt").write_text("no picture")

    answer = done(capsys, "classify", "--model", "moved", "new", "-o", "out.csv", "--json").fields

    assert (answer["predictions"], answer["other_files"]) == (len(LEAVES), 1)
    assert [failure["path"] for failure in answer["failures"]] == [
        str(tmp_path / "new" / "broken.jpg")
    ]
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["image"] for row in rows] == [
        f"new/more/{number}.png" for number in range(len(LEAVES))
    ]
    assert [row["path"].rpartition("/")[2] for row in rows] == [
        RENAMED.get(leaf, leaf) for leaf in LEAVES
    ]
    assert (
        "broken.jpg: " in done(capsys, "classify", "--model", "moved", "new", "-o", "out.csv").out
    )


REFUSED: dict[tuple[str, ...], tuple[str, int]] = {
    ("--model", "MODEL", "new", "--all"): ("--setting, --collection and --all are for projects", 2),
    ("--model", "MODEL", "new", "--setting", "ppn"): (
        "--setting, --collection and --all are for projects",
        2,
    ),
    ("a.protoleaf", "b.protoleaf"): ("two projects are named", 2),
    ("--model", "new", "new"): ("not an exported model, or it is not whole", 1),
    ("--model", "MODEL", "nowhere"): ("nowhere", 1),
    ("--model", "MODEL", "empty"): ("there is no image", 1),
}


@pytest.mark.slow
@pytest.mark.parametrize("arguments", REFUSED)
def test_commands_that_cannot_be_meant(
    arguments: tuple[str, ...],
    exported: ExportedModel,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    write_shape(tmp_path / "new" / "a.png", "Red disc", seed=1)
    (tmp_path / "empty").mkdir()
    message, status = REFUSED[arguments]
    words = [str(exported.folder) if word == "MODEL" else word for word in arguments]
    assert message in refused(capsys, "classify", *words, "-o", "out.csv", status=status)
    assert not (tmp_path / "out.csv").exists()


def test_nothing_that_it_reads_is_written_over(
    exported: ExportedModel, bundle: Path, tmp_path: Path
) -> None:
    """Neither an image nor the model; a cancelled run leaves no table."""
    image = write_shape(tmp_path / "new.png", "Red disc", seed=1)
    before = image.read_bytes()
    opened = open_bundle(bundle)
    with pytest.raises(InputError, match="would overwrite an image"):
        classify_files(opened, [image], image)
    with pytest.raises(InputError, match="would overwrite a file of the model"):
        classify_files(opened, [image], bundle / "card.json")
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        classify_files(opened, [image], tmp_path / "out.csv", cancel=cancel)
    assert image.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bundle", "new.png"]
