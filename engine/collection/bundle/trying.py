"""Tries an exported model before it is used: nobody vouches for a folder that somebody sent."""

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.collection.bundle.opened import open_bundle
from engine.events import CancelToken
from engine.worker.limits import Limits, ask_child, usual_limits
from engine.worker.protocol import Request


@dataclass(frozen=True)
class BundleTrial:
    """An exported model that answered."""

    seconds: float  # that the answer took


@dataclass(frozen=True)
class TryBundle(Request[BundleTrial]):
    """Open an exported model and classify a picture in the worker itself, which is held to limits."""

    folder: Path
    limits: Limits


def try_bundle(folder: Path, *, limits: Limits | None = None, cancel: CancelToken | None = None) -> BundleTrial:
    """Let a child process open an exported model and classify a picture, held to limits of time and memory.

    Raises:
        InputError, FormatError, ModelError: it is no exported model, fails, crashes, never ends, or takes too much.
        Cancelled: asked to stop.
    """
    limits = limits or usual_limits()
    return ask_child(TryBundle(folder.absolute(), limits), limits, cancel=cancel)


def classify_a_picture(folder: Path) -> BundleTrial:
    """Classify a picture of noise; only ever called in a process held to limits."""
    bundle = open_bundle(folder)
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    started_s = time.monotonic()
    bundle.predict("noise.ppm", b"P6 64 64 255\n" + noise.tobytes())
    return BundleTrial(time.monotonic() - started_s)
