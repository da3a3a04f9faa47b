from pathlib import Path

import pytest

from engine.inference.backbone import BackboneSession
from engine.inference.providers import ProviderChoice
from engine.inference.rates import RateTriple, decode_all, measure_rates
from engine.inference.runtime import CPU_PROVIDER
from tests.support.backbones import SIDE, write_tiny_backbone
from tests.support.images import write_jpeg


def test_shares_by_hand() -> None:
    """Decoding 300 a second and a backbone of 100 a second on the same cores can reach 75 a second."""
    rates = RateTriple(decode=300, inference=100, pipeline=60)
    assert rates.reachable == pytest.approx(75)
    assert rates.share_of_limit == pytest.approx(0.6)


def test_rates_are_measured(tmp_path: Path) -> None:
    """Each round gives three rates above zero, from real files and a real session."""
    card = write_tiny_backbone(tmp_path / "tiny.onnx")
    session = BackboneSession(tmp_path / "tiny.onnx", card, ProviderChoice(CPU_PROVIDER, "CPU"))
    paths = [write_jpeg(tmp_path / f"{number}.jpg", seed=number) for number in range(12)]
    assert decode_all(paths, card, workers=2).shape == (12, SIDE, SIDE, 3)
    rounds = measure_rates(paths, session, rounds=2)
    assert len(rounds) == 2
    assert all(min(rates.decode, rates.inference, rates.pipeline) > 0 for rates in rounds)
