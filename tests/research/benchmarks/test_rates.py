from pathlib import Path

import pytest

from engine.errors import ImageError
from engine.runtime.backbone import BackboneSession
from engine.runtime.devices.facts import CPU_PROVIDER
from engine.runtime.providers import ProviderChoice
from research.benchmarks.rates import RateTriple, decode_all, measure_rates
from tests.support.backbones import SIDE, write_tiny_backbone
from tests.support.images import write_jpeg


def test_shares_by_hand() -> None:
    """Decoding of 300 a second and a backbone of 100 a second on the same cores reach 75."""
    rates = RateTriple(decode=300, inference=100, pipeline=60)
    assert rates.reachable == pytest.approx(75)
    assert rates.share_of_limit == pytest.approx(0.6)


def test_rates_are_measured(tmp_path: Path) -> None:
    """Three rates above zero, from real files and a real session."""
    card = write_tiny_backbone(tmp_path / "tiny.onnx")
    session = BackboneSession(tmp_path / "tiny.onnx", card, ProviderChoice(CPU_PROVIDER, "CPU"))
    paths = [write_jpeg(tmp_path / f"{number}.jpg", seed=number) for number in range(12)]
    images = decode_all(paths, card, workers=2)
    assert images.shape == (12, SIDE, SIDE, 3)
    rates = measure_rates(paths, images, session)
    assert min(rates.decode, rates.inference, rates.pipeline) > 0


def test_a_file_that_is_no_image_is_named(tmp_path: Path) -> None:
    """The message names the broken file."""
    card = write_tiny_backbone(tmp_path / "tiny.onnx")
    (tmp_path / "notes.csv").write_text("image,class\n", encoding="utf-8")
    with pytest.raises(ImageError, match=r"notes\.csv: text"):
        decode_all([write_jpeg(tmp_path / "a.jpg"), tmp_path / "notes.csv"], card, workers=1)
