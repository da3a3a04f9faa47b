"""Try a device on a tiny model in a child process: a crash or hang there is only reported."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from engine.arrays import Floats
from engine.config import assets_folder
from engine.errors import ModelError
from engine.runtime.devices.facts import CPU_PROVIDER, PROVIDERS
from engine.runtime.devices.reasons import Attempt
from engine.runtime.devices.settings import DeviceSettings, provider_options
from engine.runtime.sessions import open_session, run_session
from engine.worker.client import Died, Done, TookTooLong, run_in_child
from engine.worker.protocol import Failed, Request

TRIAL_LIMIT_S = 60.0
"""Cold CUDA libraries are gigabytes that come from the disk: a slow one needs its time."""
_GRACE_S = 5.0
"""The child exits by itself this much later, in case this process has ended by then."""
_LONGEST_WORDS = 300  # characters of the last words of a child that ended, at most
PROBE_MODEL = "models/probe.onnx"
_PROBE_SHAPE = (1, 3, 32, 32)
"""Input of the network that tries a device: the smallest that it takes."""
_TOLERANCE = 1e-2  # GPUs multiply in reduced precision; nonsense is off by far more


@dataclass(frozen=True)
class Speed:
    """Figures of a device's speed by name; none when it was not measured."""

    figures: dict[str, float | bool] = field(default_factory=dict)


@dataclass(frozen=True)
class TryDevice(Request[Speed]):
    """Try a device on the tiny model: the outcome is an event as soon as it is known."""

    event_types = (Attempt,)

    device: str  # "cpu", "cuda", ...
    measure_s: float = 0.0  # how long to measure the bundled backbone's speed; 0: not at all
    end_s: float = 0.0  # the process ends after this time at the latest; 0 for no limit


@dataclass(frozen=True)
class DeviceTrial:
    """Report of a child process: outcome of the attempt, and figures of the speed, if measured."""

    attempt: Attempt
    speed: dict[str, float | bool]


TryInChild = Callable[[str, float, float], DeviceTrial]
"""Called with the device, the timeout, and the duration of the measurement, both in seconds."""


def try_in_child(
    device: str,
    limit_s: float = TRIAL_LIMIT_S,
    measure_s: float = 0.0,
    *,
    command: Sequence[str] = (),
) -> DeviceTrial:
    """Try a device on the tiny model, in a child process; see `TryDevice`."""
    attempts: list[object] = []
    request = TryDevice(device, measure_s, limit_s + _GRACE_S)
    try:
        ending = run_in_child(request, limit_s=limit_s, on_event=attempts.append, command=command)
    except OSError as error:
        return DeviceTrial(
            Attempt(works=False, message=f"the trial process cannot be started: {error}"), {}
        )
    speed = ending.result.figures if isinstance(ending, Done) else {}
    known = [event for event in attempts if isinstance(event, Attempt)]
    return DeviceTrial(known[-1] if known else _failure(ending, limit_s), speed)


def _failure(ending: object, limit_s: float) -> Attempt:
    """How an attempt ended that the child did not report."""
    match ending:
        case TookTooLong():
            return Attempt(works=False, timed_out_s=limit_s)
        case Failed(message, traceback):
            return Attempt(works=False, message=message or traceback.strip().splitlines()[-1])
        case Died(status):
            return Attempt(works=False, signal=status, message=ending.last_line[:_LONGEST_WORDS])
    return Attempt(works=False, message="the trial process said nothing about the device")


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


def compared(result: Floats, expected: Floats, seconds: float) -> Attempt:
    """Judge a device's result by the CPU's."""
    if result.shape == expected.shape and np.allclose(
        result, expected, rtol=_TOLERANCE, atol=_TOLERANCE
    ):
        return Attempt(works=True, seconds=seconds)
    if result.shape != expected.shape:
        message = f"shape {result.shape} instead of {expected.shape}"
    else:
        message = f"by up to {np.max(np.abs(result - expected)):.3g}"
    return Attempt(works=False, message=message, is_wrong=True, seconds=seconds)


def probe_result(model: Path, provider: str) -> Floats:
    """A provider's output for a fixed input; raises `ModelError` if it does not work."""
    options = provider_options(provider, DeviceSettings())
    session = open_session(model, provider, provider_options=options)
    images = np.linspace(-1, 1, int(np.prod(_PROBE_SHAPE)), dtype=np.float32).reshape(_PROBE_SHAPE)
    return run_session(session, {session.get_inputs()[0].name: images})[0]
