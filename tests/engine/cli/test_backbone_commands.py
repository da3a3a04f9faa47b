"""Backbones on the command line: list, show, add a file, remove, and projects on a file."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from engine.backbones.library import BackboneLibrary
from engine.backbones.preprocessing import PRESETS
from engine.cli.options import chosen_fields
from engine.collection.models import all_models, find_model
from engine.errors import InputError, UsageError
from engine.files import size_text
from engine.project import Project
from tests.support import onnx_models as models
from tests.support.backbones import tiny_card, write_tiny_backbone
from tests.support.command_line import done, refused


@pytest.fixture
def tiny(tmp_path: Path) -> str:
    """Name of a backbone in the library."""
    write_tiny_backbone(tmp_path / "source.onnx")
    card = replace(tiny_card(), figures={"images_per_s_one_core": 123.4}, licence="ours")
    return BackboneLibrary().add(tmp_path / "source.onnx", card).name


def test_listing(capsys: pytest.CaptureFixture[str], tiny: str) -> None:
    """Bundled and added backbones, with width, input size, file size, origin and speed if known."""
    rows = done(capsys, "backbone", "list", "--json").fields["backbones"]
    assert [row["name"] for row in rows] == [model.name for model in all_models()]
    added = rows[-1]
    assert (added["name"], added["width"], added["input_side"], added["origin"]) == (
        tiny,
        16,
        32,
        "added",
    )
    assert added["images_per_s_one_core"] == 123.4
    assert added["size_bytes"] == BackboneLibrary().path(tiny).stat().st_size
    text = done(capsys, "backbone", "list").out
    assert "leafnet" in text
    assert "bundled" in text
    assert f"{tiny}  " in text
    assert f"{size_text(added['size_bytes'])} " in next(
        line for line in text.splitlines() if line.startswith(tiny)
    )
    assert 0 < added["size_bytes"] < 50_000  # rounded to megabytes it would be 0


def test_showing(capsys: pytest.CaptureFixture[str], tiny: str) -> None:
    """Everything on the card, the path of the file, and the propagation in use."""
    text = done(capsys, "backbone", "show", tiny).out
    assert f"({size_text(BackboneLibrary().path(tiny).stat().st_size)})" in text
    for part in (
        "32 x 32 pixels, rgb, nchw",
        "0.485, 0.456, 0.406",
        "width 16",
        "for any width",
        "ours",
        "123.4",
    ):
        assert part in text
    fields = done(capsys, "backbone", "show", "leafnet", "--json").fields
    assert fields["card"]["input_side"] == find_model().card.input_side
    assert fields["has_own_propagation"]
    assert "no such backbone" in refused(capsys, "backbone", "show", "nothing")


def test_figures_of_any_length_stand_apart(capsys: pytest.CaptureFixture[str]) -> None:
    """Values are aligned, also for the longest names."""
    lines = done(capsys, "backbone", "show", "leafnet").out.splitlines()
    assert (
        len(
            {
                len(re.split(r" {2,}", line)[0]) + len(re.findall(r" {2,}", line)[0])
                for line in lines
            }
        )
        == 1
    )


def test_removing(capsys: pytest.CaptureFixture[str], tiny: str) -> None:
    """An added one is removed; bundled and unknown ones are refused."""
    assert done(capsys, "backbone", "remove", tiny, "--json").fields == {"removed": tiny}
    assert BackboneLibrary().names() == ()
    assert "in the library: found “nosuch”. No backbone was added yet" in refused(
        capsys, "backbone", "remove", "nosuch"
    )
    assert "bundled" in refused(capsys, "backbone", "remove", "leafnet")


@pytest.mark.slow
def test_adding_a_file_and_a_project_on_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The file is verified and copied, options apply, a project is made; the file may go."""
    path = models.write_vectors(tmp_path / "net.onnx", side=models.SIDE)
    options = ("--name", "mine", "--preset", "caffe", "--resize-share", "0.875", "--own-length")
    fields = done(capsys, "backbone", "add", path, *options, "--json").fields
    assert (fields["name"], fields["width"], fields["input_side"], fields["is_declared"]) == (
        "mine",
        12,
        32,
        True,
    )
    assert fields["why"] == f"{PRESETS['caffe'].title}, as chosen"
    assert not any("guess" in notice for notice in fields["notices"])
    assert fields["preprocessing"]["channel_order"] == "bgr"
    assert fields["preprocessing"]["mean"] == list(PRESETS["caffe"].mean)
    assert (fields["preprocessing"]["resize_share"], fields["preprocessing"]["unit_length"]) == (
        0.875,
        False,
    )
    assert fields["trial"]["images_per_s"] > 0
    path.unlink()
    made = done(capsys, "new", tmp_path / "a.protoleaf", "--backbone", "mine", "--json").fields
    assert (made["backbone"], made["backbone_hash"]) == ("mine", fields["backbone_hash"])
    with Project.open(tmp_path / "a.protoleaf", for_writing=False) as project:
        assert project.models.current.backbone_path == ""


@pytest.mark.slow
def test_a_project_on_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """`new` adds the file to the library with the options of `add`, and prints its origin."""
    path = models.write_vectors(tmp_path / "net.onnx", side=models.SIDE)
    options = ("--range", "symmetric", "--resize-share", "0.875")
    text = done(capsys, "new", tmp_path / "a.protoleaf", "--backbone", path, *options).out
    assert "Preprocessing: -1 to 1, as chosen." in text
    assert "guess" not in text
    card = find_model("net").card
    assert (card.mean, card.resize_share) == ((0.5, 0.5, 0.5), 0.875)
    done(capsys, "new", tmp_path / "b.protoleaf", "--backbone", path, *options)
    assert BackboneLibrary().names() == ("net",)


@pytest.mark.slow
def test_refusals(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """One line each, without a copy or project."""
    wrong = tmp_path / "picture.onnx"
    wrong.write_bytes(b"\x89PNG\r\n")
    assert "a PNG picture" in refused(capsys, "backbone", "add", wrong)
    assert "a PNG picture" in refused(capsys, "new", tmp_path / "a.protoleaf", "--backbone", wrong)
    assert "cannot be a backbone's name" in refused(
        capsys, "backbone", "add", wrong, "--name", "../x"
    )
    assert "no such backbone" in refused(
        capsys, "new", tmp_path / "a.protoleaf", "--backbone", "nothing"
    )
    only_files = refused(capsys, "new", tmp_path / "a.protoleaf", "--input-side", "64", status=2)
    assert "ONNX file only" in only_files
    assert "published" in refused(capsys, "backbone", "add", wrong, "--weights", "V1", status=2)
    assert "own name" in refused(
        capsys, "backbone", "add", "torchvision:resnet18", "--name", "x", status=2
    )
    assert not (tmp_path / "a.protoleaf").exists()
    assert BackboneLibrary().names() == ()


def test_reading_options() -> None:
    """Single options override a range, which overrides a preset."""
    assert chosen_fields() == {}
    chosen = chosen_fields(
        preset_name="caffe", value_range="symmetric", std="0.25", input_side=64, layout=None
    )
    assert (chosen["mean"], chosen["std"], chosen["value_scale"]) == (
        (0.5, 0.5, 0.5),
        (0.25, 0.25, 0.25),
        1.0,
    )
    assert (chosen["channel_order"], chosen["input_side"]) == ("bgr", 64)
    for wrong in ({"mean": "a,b,c"}, {"std": "1,2"}, {"value_range": "0-7"}):
        with pytest.raises(UsageError):
            chosen_fields(**wrong)
    with pytest.raises(InputError, match="preset"):
        chosen_fields(preset_name="usual")
