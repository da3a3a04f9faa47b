"""Speed of a device, measured in rounds."""

from collections.abc import Callable
from pathlib import Path

import pytest

from engine.embedding import rates
from engine.embedding.rates import _Rate, _timed, measure_speed
from engine.runtime.devices.arithmetic import Product
from engine.runtime.providers import CPU_CHOICE
from tests.support.backbones import SIDE, WIDTH, write_tiny_backbone


def test_figures_of_the_cpu(tmp_path: Path) -> None:
    """Images per second by hand, and as a share of a matrix product's speed."""
    card = write_tiny_backbone(tmp_path / "tiny.onnx")
    speed = measure_speed(tmp_path / "tiny.onnx", card, CPU_CHOICE, 0.0)
    assert speed.operations_per_image == 2 * (SIDE // 2) ** 2 * WIDTH * 27
    assert min(speed.images_per_s, speed.product_per_s, speed.share_of_product) > 0
    assert speed.batch == 8


def test_rounds_and_their_medians(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three rounds if there is time.

    Figures are medians, the share that of the rounds' shares.
    """
    images, products = iter([100.0, 300.0, 200.0]), iter([1e9, 1e9, 4e9])
    monkeypatch.setattr(rates, "measure_inference_for", lambda _session, _seconds: next(images))
    monkeypatch.setattr(Product, "measure", lambda _self, _seconds: next(products))
    monkeypatch.setattr(rates, "operations_of", lambda _model, _shape: 1e6)

    def at_the_same_pace(measure: Callable[[], float], _clock: Callable[[], float]) -> _Rate:
        rate = measure()
        return _Rate(rate, rate)

    monkeypatch.setattr(rates, "_timed", at_the_same_pace)
    card = write_tiny_backbone(tmp_path / "tiny.onnx")
    speed = measure_speed(tmp_path / "tiny.onnx", card, CPU_CHOICE, 60.0)
    assert (speed.images_per_s, speed.product_per_s) == (200.0, 1e9)
    assert speed.share_of_product == pytest.approx(0.1)


def test_a_clock_that_stands_still() -> None:
    """A clock with coarse ticks causes no division by 0."""
    begun = iter([0.0, 1e9])  # longer than any measurement
    slow = _timed(lambda: 10.0, lambda: next(begun))
    assert slow.per_s == 10.0
    assert slow.per_tick < 1e-6
    assert _timed(lambda: 10.0, lambda: 5.0).per_tick > 0
