"""`protoleaf experiment transfer` on drawn pictures."""

import importlib.util
import json
from pathlib import Path

import pytest

from research.transfer import candidates
from tests.support.backbones import write_tiny_backbone
from tests.support.command_line import done, refused
from tests.support.transfer import write_shapes

QUICK = (
    "--method",
    "prototypes",
    "--method",
    "everyday",
    "--shots",
    "1",
    "--draws",
    "2",
    "--device",
    "cpu",
)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """64 drawn pictures of 8 classes; tests only read them."""
    return write_shapes(tmp_path_factory.mktemp("shapes"))


@pytest.mark.slow
def test_tables_and_figures(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Text and JSON; a second run reads everything from the folder of runs."""
    words = ("experiment", "transfer", source, *QUICK, "--runs", tmp_path / "runs")
    output = done(capsys, *words, "--out", tmp_path / "figures.json").out
    assert "leafnet, shots alone: leaf top-1 in %, 8 classes, 64 images, 2 draws" in output
    assert "everyday model: calibration error" in output
    assert "1 shot + coarse" in output
    assert "images/s" not in output
    cells = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))["cells"]
    assert [(cell["method"], cell["coarse_labels"]) for cell in cells] == [
        ("prototypes", False),
        ("prototypes", True),
        ("everyday", False),
        ("everyday", True),
    ]
    assert all(len(cell["figures"]["top1"]["draws"]) == 2 for cell in cells)
    (kept,) = (tmp_path / "runs").rglob("1-shots/prototypes.json")
    kept.write_text(
        kept.read_text(encoding="utf-8").replace('"top1": 0.', '"top1": 0.9'), encoding="utf-8"
    )
    again = done(capsys, *words, "--json").fields["cells"]
    assert again[0]["figures"]["top1"]["mean"] > 0.9  # stored results are reused
    anew = done(capsys, *words, "--again", "--json").fields["cells"]
    assert anew == cells


@pytest.mark.slow
def test_elsewhere(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In place of the default situation; both kinds share a folder of runs."""
    words = ("experiment", "transfer", source, *QUICK, "--runs", tmp_path / "runs")
    output = done(capsys, *words, "--elsewhere", "--out", tmp_path / "figures.json").out
    assert (
        "leafnet, shots from train, the collection is val: leaf top-1 in %, 8 classes, 16 "
        "images in val" in output
    )
    assert "leafnet, shots and coarse labels from train, the collection is val" in output
    assert "shots alone" not in output
    fields = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))
    assert (fields["images"], fields["val_images"]) == (64, 16)
    assert {cell["elsewhere"] for cell in fields["cells"]} == {True}
    shares = [value for cell in fields["cells"] for value in cell["figures"]["top1"]["draws"]]
    assert all(16 * share == pytest.approx(round(16 * share)) for share in shares)  # of 16 images
    usual = done(capsys, *words, "--json").fields["cells"]
    assert {cell["elsewhere"] for cell in usual} == {False}
    assert len(list((tmp_path / "runs").rglob("*.json"))) == 8


@pytest.mark.slow
def test_uneven_classes(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Sizes and shots are in titles, figures and folder names; balanced accuracy is in tables."""
    words = (
        "experiment",
        "transfer",
        source,
        *QUICK,
        "--no-coarse-labels",
        "--runs",
        tmp_path / "runs",
    )
    forms = ("--sizes", "one-large", "--shot-sizes", "common-first")
    output = done(capsys, *words, *forms, "--elsewhere", "--out", tmp_path / "figures.json").out
    title = (
        "leafnet, shots from train, the collection is val, one large class, shots in order "
        "of appearance"
    )
    assert (
        f"{title}: balanced accuracy in %, 8 classes, drawn from 16 images in val, 2 draws"
        in output
    )
    assert f"{title}: macro-F1, the everyday model minus each" in output
    cells = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))["cells"]
    assert {(cell["sizes"], cell["shot_sizes"]) for cell in cells} == {
        ("one-large", "common-first")
    }
    assert all(len(cell["figures"]["macro_f1"]["draws"]) == 2 for cell in cells)
    folder = "1-shots-elsewhere-one-large-common-first-shots"
    assert {path.parent.name for path in (tmp_path / "runs").rglob("*.json")} == {folder}
    assert "macro-F1" not in done(capsys, *words).out
    assert "shots alone: macro-F1 in %" in done(capsys, *words, "--balanced").out
    assert "--sizes does not accept this" in refused(capsys, *words, "--sizes", "huge", status=2)


def test_elsewhere_needs_known_classes_in_val(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The error comes before any image is embedded."""
    folder = write_shapes(tmp_path / "shapes")
    (folder / "val" / "Shapes").rename(folder / "val" / "Forms")
    words = ("experiment", "transfer", folder, *QUICK, "--elsewhere")
    assert "nothing in val can be scored" in refused(capsys, *words)


@pytest.mark.slow
def test_some_classes_and_images(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A subset of leaves and of images of each, in both parts; unknown folders are an error."""
    words = (
        "experiment",
        "transfer",
        source,
        *QUICK,
        "--no-coarse-labels",
        "--classes",
        "4",
        "--images",
        "2",
    )
    assert "leaf top-1 in %, 4 classes, 16 images, 2 draws" in done(capsys, *words).out
    graph = source.parent / "graph.csv"
    graph.write_text("child,parent\nOther,\n", encoding="utf-8")
    assert "Shapes" in refused(capsys, *words, "--hierarchy", graph)


@pytest.mark.slow
def test_backbones_side_by_side(
    source: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two backbones in a table of size, side, speed and accuracy; duplicates count once."""
    monkeypatch.setattr(candidates, "IMAGES", 8)
    monkeypatch.setattr(candidates, "ROUNDS", 1)
    tiny = tmp_path / "tiny.onnx"
    write_tiny_backbone(tiny)
    words: list[str | Path] = [
        "experiment",
        "transfer",
        source,
        "--method",
        "prototypes",
        "--shots",
        "1",
    ]
    words += [
        "--draws",
        "1",
        "--no-coarse-labels",
        "--device",
        "cpu",
        "--backbone",
        "leafnet",
        "--backbone",
        tiny,
        "--backbone",
        tiny,
    ]
    output = done(capsys, *words, "--markdown").out
    assert "| backbone | MB | side | images/s | 1 shot |" in output
    # Of all photos, of those in train and of those in val.
    assert output.count("| tiny | 0.0 | 32 |") == 3
    assert "coarse" not in output
    assert not (tmp_path / "backbones").exists()  # a file is measured, not added to the library


def test_refusals(
    source: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An unknown method, a missing library, an unwritable folder: one line each."""
    words = ("experiment", "transfer", source)
    assert "there is no such method" in refused(capsys, *words, "--method", "magic", status=2)
    missing = refused(
        capsys, *words, *QUICK, "--no-coarse-labels", "--out", tmp_path / "none" / "out.json"
    )
    assert "cannot be written" in missing
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    assert "logistic-regression needs sklearn" in refused(
        capsys, *words, "--method", "logistic-regression", status=2
    )
