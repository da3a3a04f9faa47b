"""The eight-bit companion of a backbone: the same network with small integers, three times as fast on many CPUs.

`leafnet.onnx` may have `leafnet.int8.onnx` beside it (`engine.runtime.quantization` makes it). The companion is used on
the CPU only, and only where it proves itself while the backbone is opened: it was made from this very file, it agrees
with it on trial pictures (old CPUs overflow in eight-bit products), and it is faster (which needs a CPU made for them).
"""

import sys
import time
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from engine.errors import ModelError
from engine.model_card import BackboneCard, file_hash
from engine.runtime.backbone_input import Preparation, input_output
from engine.runtime.sessions import Run, open_session, plain_run

SOURCE_KEY: Final = "made_from_sha256"
"""Name of the note in the companion that holds the hash of the file it was made from."""

AGREEMENT: Final = 0.99
"""Smallest cosine between an embedding of the companion and the backbone's for which the companion is used."""

GAIN: Final = 1.2  # how many times as fast the companion must be

_TRIAL_IMAGES: Final = 2
"""Images that backbone and companion are compared on when opened. Chosen: enough to see a wrong file."""
_TRIALS: Final = 2  # timed runs of each, of which the faster counts. Chosen: opening stays quick.
_CLOCKS: Final = {"win32": time.perf_counter}  # there a thread's time goes in steps of 16 ms, longer than a run


def eight_bit_path(model: Path) -> Path:
    """Path of the companion that belongs to a backbone file: `x.onnx` has `x.int8.onnx`."""
    return model.with_suffix(".int8.onnx")


def open_on_cpu(model: Path, card: BackboneCard) -> Any:
    """Open a backbone on the CPU, or its eight-bit companion where there is one that proves itself.

    Raises:
        ModelError: the backbone, not only its companion, cannot be opened or does not fit its card.
    """
    session = open_session(model)
    path = eight_bit_path(model)
    if not path.is_file():
        return session
    ends = input_output(session, card)
    try:
        companion = open_session(path)
        notes = companion.get_modelmeta().custom_metadata_map
        if notes.get(SOURCE_KEY) != file_hash(model) or input_output(companion, card) != ends:
            return session
        images = Preparation(card).prepare(trial_images(card.input_side, ends.most_images or _TRIAL_IMAGES))
        images = images.astype(ends.input_type, copy=False)
        runs = [plain_run(opened, ends.input_name, ends.output_name) for opened in (session, companion)]
        (expected, full_s), (found, companion_s) = (_timed(run, images) for run in runs)
    except ModelError:
        return session
    proves_itself = bool(cosines(found, expected).min() >= AGREEMENT) and full_s >= GAIN * companion_s
    return companion if proves_itself else session


def is_companion(session: Any) -> bool:
    """Whether an opened network computes in eight bits: it names the file it was made from."""
    return SOURCE_KEY in session.get_modelmeta().custom_metadata_map


def trial_images(side: int, count: int) -> NDArray[np.uint8]:
    """Pictures with structure at every scale, (count, side, side, 3) uint8, the same each time."""
    steps = np.random.default_rng(0).standard_normal((count, side, side, 3), dtype=np.float32)
    walk = steps.cumsum(axis=1) + steps.cumsum(axis=2)
    low, high = walk.min(axis=(1, 2, 3), keepdims=True), walk.max(axis=(1, 2, 3), keepdims=True)
    return ((walk - low) * (255 / (high - low))).astype(np.uint8)


def cosines(found: NDArray[Any], expected: NDArray[Any]) -> NDArray[np.float64]:
    """Cosine between the rows of two outputs (B, ...), as (B,) float64; 0 where values are no numbers."""
    first, second = (array.reshape(len(array), -1).astype(np.float64) for array in (found, expected))
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    cosines = np.sum(first * second, axis=1) / np.maximum(lengths, np.finfo(np.float64).tiny)
    return np.nan_to_num(cosines, nan=0.0)


def _timed(run: Run, images: NDArray[Any]) -> tuple[NDArray[Any], float]:
    """Output, and the least seconds that a run took, where possible of this thread: other work does not count."""
    clock = _CLOCKS.get(sys.platform, time.thread_time)
    output, least_s = run(images), float("inf")
    for _ in range(_TRIALS):
        started_s = clock()
        run(images)
        least_s = min(least_s, clock() - started_s)
    return output, least_s
