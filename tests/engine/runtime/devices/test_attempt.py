"""The tiny model on the CPU, and how its numbers are judged."""

from pathlib import Path

import numpy as np

from engine.config import assets_folder
from engine.runtime.devices.child import PROBE_MODEL, compared, probe_result, try_device
from engine.runtime.devices.facts import CPU_PROVIDER
from tests.support.backbones import write_tiny_backbone


def test_the_cpu_works() -> None:
    """The shipped tiny model runs on the CPU."""
    attempt = try_device("cpu")
    assert attempt.works
    assert attempt.seconds > 0


def test_a_device_that_is_not_there() -> None:
    """What ONNX Runtime says is the message."""
    attempt = try_device("directml")
    assert not attempt.works
    assert "DmlExecutionProvider" in attempt.message


def test_a_model_that_is_not_there(tmp_path: Path) -> None:
    """A missing probe is a failed attempt."""
    assert "not there" in try_device("cpu", tmp_path / "none.onnx").message


def test_wrong_numbers() -> None:
    """Rounding is forgiven, nonsense is not, nor is another shape."""
    expected = np.array([[1.0, 2.0]], dtype=np.float32)
    assert compared(expected + 0.005, expected, 0.1).works
    wrong = compared(expected + 0.5, expected, 0.1)
    assert (wrong.works, wrong.is_wrong, wrong.message) == (False, True, "by up to 0.5")
    assert not compared(np.full_like(expected, np.nan), expected, 0.1).works
    assert "shape" in compared(expected[:, :1], expected, 0.1).message


def test_probe_is_the_tiny_backbone(tmp_path: Path) -> None:
    """The shipped probe is what `write_tiny_backbone` writes with width 4."""
    write_tiny_backbone(tmp_path / "probe.onnx", width=4)
    assert np.array_equal(
        probe_result(tmp_path / "probe.onnx", CPU_PROVIDER),
        probe_result(assets_folder() / PROBE_MODEL, CPU_PROVIDER),
    )
