"""Damaged images: pixels or one of our errors, in bounded time and memory."""

from pathlib import Path

import pytest

from tests.trust import image_mutator
from tests.trust.children import Place
from tests.trust.image_mutator import Batch, break_many, decode_some
from tests.trust.picture_damage import PICTURE_DAMAGE, damaged_picture
from tests.trust.stages import Stage


@pytest.mark.slow
def test_broken_images_are_pixels_or_errors(stage: Stage) -> None:
    """Pictures of every format, damaged in every way."""
    row = break_many(stage, 160, seed=5)
    assert row.broken == ()
    assert row.trials == 160
    assert row.peak_bytes > 0


@pytest.mark.slow
def test_every_damage_is_dealt(stage: Stage) -> None:
    """The seeds of a short run cover every kind of damage."""
    assert {damaged_picture(seed)[0] for seed in range(160)} == set(PICTURE_DAMAGE)


def test_another_exception_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A decoder that raises another exception is reported with the picture's seed."""

    def spoiled(path: Path, data: bytes) -> object:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(image_mutator, "WAYS", {"spoiled": spoiled})
    faults, reached, _ = decode_some(Place(tmp_path), Batch(40, 2, has_giants=False), 0)
    tracebacks = [
        fault.text for fault in faults if fault.kind == "traceback"
    ]  # this process may use much memory
    assert len(tracebacks) == 2
    assert "seed 41: ZeroDivisionError: planted" in tracebacks[1]
    assert reached == 2
