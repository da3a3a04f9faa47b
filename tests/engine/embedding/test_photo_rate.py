"""Speed of backbones on this computer."""

from pathlib import Path

import pytest

from engine.collection.models import find_model
from engine.embedding import rates
from engine.embedding.messages import MeasureRates, PhotoRate
from engine.events import CancelToken
from engine.jobs import measure_rates
from tests.support.collections import write_shape


@pytest.fixture(autouse=True)
def in_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """One batch per measurement, any photo rate."""
    monkeypatch.setattr(rates, "NETWORK_S", 0.01)
    monkeypatch.setattr(rates, "PHOTOS_S", 60.0)


@pytest.mark.slow
def test_backbones_are_measured_on_photos_and_one_that_does_not_run_is_left_out(
    tmp_path: Path,
) -> None:
    """An unreadable photo is skipped."""
    model = find_model()
    broken = tmp_path / "broken.png"
    broken.write_text("no picture", encoding="utf-8")
    photos = (broken, tmp_path / "gone.png", write_shape(tmp_path / "a.png", "Red disc", seed=1))
    request = MeasureRates(((model.backbone, model.card), (broken, model.card)), photos, "cpu")
    (rate,) = measure_rates(request, lambda _event: None, CancelToken()).rates.values()
    assert rate.decoding > rate.images_per_s > 0
    assert rate.network > rate.images_per_s


@pytest.mark.parametrize(
    ("rate", "images_per_s"),
    [
        (PhotoRate(400.0), 400.0),
        (PhotoRate(400.0, 400.0), 200.0),
        (PhotoRate(4000.0, 400.0, is_on_gpu=True), 400.0),
    ],
    ids=["no photos", "shared cores", "a GPU beside the cores"],
)
def test_reading_photos_counts(rate: PhotoRate, images_per_s: float) -> None:
    """On the CPU both take their time.

    With a GPU the slower of the two counts.
    """
    assert rate.images_per_s == pytest.approx(images_per_s)
