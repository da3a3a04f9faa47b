"""Tries a device on a tiny model, and compares its numbers with the CPU's. Runs in a child process: drivers crash."""

import time
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.config import assets_folder
from engine.errors import ModelError
from engine.runtime.devices.names import CPU_PROVIDER, PROVIDERS
from engine.runtime.devices.reasons import Attempt
from engine.runtime.devices.settings import DeviceSettings, provider_chain
from engine.runtime.sessions import open_session, run_session

PROBE_MODEL: Final = "models/probe.onnx"
_PROBE_SHAPE: Final = (1, 3, 32, 32)
"""Input of the network that tries a device: the smallest that it takes."""
_TOLERANCE: Final = 1e-2  # GPUs multiply in reduced precision; nonsense is off by far more


def try_device(device: str, model: Path | None = None) -> Attempt:
    """Run the tiny model on a device and on the CPU."""
    path = model or assets_folder() / PROBE_MODEL
    started_s = time.perf_counter()
    try:
        result = probe_result(path, PROVIDERS[device])
        seconds = time.perf_counter() - started_s
        expected = probe_result(path, CPU_PROVIDER)
    except ModelError as error:
        return Attempt(works=False, message=str(error), seconds=time.perf_counter() - started_s)
    return compared(result, expected, seconds)


def compared(result: NDArray[np.float32], expected: NDArray[np.float32], seconds: float) -> Attempt:
    """Judge a device's result by the CPU's."""
    if result.shape == expected.shape and np.allclose(result, expected, rtol=_TOLERANCE, atol=_TOLERANCE):
        return Attempt(works=True, seconds=seconds)
    if result.shape != expected.shape:
        message = f"shape {result.shape} instead of {expected.shape}"
    else:
        message = f"by up to {np.max(np.abs(result - expected)):.3g}"
    return Attempt(works=False, message=message, is_wrong=True, seconds=seconds)


def probe_result(model: Path, provider: str) -> NDArray[np.float32]:
    """What a provider makes of a fixed pattern.

    Raises:
        ModelError: the provider does not work.
    """
    session = open_session(model, provider, chain=provider_chain(provider, DeviceSettings()))
    images = np.linspace(-1, 1, int(np.prod(_PROBE_SHAPE)), dtype=np.float32).reshape(_PROBE_SHAPE)
    return run_session(session, {session.get_inputs()[0].name: images})[0]
