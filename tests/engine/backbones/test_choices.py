"""What a new project can choose between on this computer."""

from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from engine.backbones import bundled
from engine.backbones.bundled import (
    BackboneChoice,
    chosen_among,
    is_chosen_elsewhere,
    offered_backbones,
)
from engine.backbones.messages import ConvertBackbone
from engine.backbones.model_files import ACCURATE, DEFAULT, FAST

WEIGHTS = "0.1.0"


@pytest.fixture(autouse=True)
def nothing_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A computer without prepared backbones, with the package of the accurate one's weights."""
    monkeypatch.setenv("PROTOLEAF_BACKBONES", str(tmp_path))
    monkeypatch.delenv("PROTOLEAF_BACKBONE", raising=False)
    weights_are(monkeypatch, WEIGHTS)


def weights_are(monkeypatch: pytest.MonkeyPatch, found: str | None) -> None:
    """Let the package be of a version, or not be there."""

    def version(name: str) -> str:
        if found is None:
            raise PackageNotFoundError(name)
        return found

    monkeypatch.setattr(bundled, "version", version)


def test_the_accurate_one_comes_first_and_is_prepared_when_it_is_chosen() -> None:
    """Its card is known before; asking costs no conversion."""
    accurate, fast = offered_backbones()
    assert (accurate.choice, accurate.name, accurate.preparation) == (
        "accurate",
        ACCURATE,
        ConvertBackbone(ACCURATE),
    )
    assert accurate.card.name == ACCURATE
    assert accurate.times_the_work > 1
    assert (fast.choice, fast.name, fast.preparation, fast.times_the_work) == (
        "fast",
        FAST,
        None,
        1.0,
    )
    assert (accurate.is_ready, fast.is_ready) == (False, True)


@pytest.mark.parametrize("found", [None, "0.2.0"], ids=["missing", "another version"])
def test_without_its_weights_it_is_not_offered(
    monkeypatch: pytest.MonkeyPatch, found: str | None
) -> None:
    """A choice that could only fail is none."""
    weights_are(monkeypatch, found)
    assert [one.choice for one in offered_backbones()] == [BackboneChoice.FAST]


def test_the_last_choice_is_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before there was one, and where it cannot be had, it is the program's own."""
    offered = offered_backbones()
    assert [chosen_among(offered, choice).name for choice in ("accurate", "fast", "")] == [
        ACCURATE,
        FAST,
        DEFAULT,
    ]
    assert chosen_among(offered[1:], "accurate").name == FAST
    monkeypatch.setenv("PROTOLEAF_BACKBONE", "accurate")
    assert chosen_among(offered, "").name == ACCURATE


@pytest.mark.parametrize(("value", "expected"), [("", False), ("fast", True)])
def test_the_environment_may_say_it(
    monkeypatch: pytest.MonkeyPatch, value: str, expected: bool
) -> None:
    """Then nobody is asked."""
    monkeypatch.setenv("PROTOLEAF_BACKBONE", value)
    assert is_chosen_elsewhere() is expected
