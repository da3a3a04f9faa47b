"""Time to find duplicates and sequences among 100,000 images, ordinary and adversarial."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.collection.folding.duplicates import copies, same_content
from engine.collection.folding.folds import Folds
from engine.collection.folding.partitions import ALONE, joined
from engine.collection.folding.sequences import UNKNOWN_TIME, ShotTimes, sequences
from engine.everyday.blocks import to_fixed
from research.benchmarks.synthetic import synthetic_embeddings

WIDTH = 512
SECONDS = 5
NOON_S = 1_714_564_800
SHARE_IN_BURSTS = 0.3  # of an ordinary collection
SHARE_COPIED = 0.1


@dataclass(frozen=True)
class FoldsFigure:
    """One collection."""

    name: str
    seconds: float
    cpu_s: float  # of one thread; on an idle computer equal to the wall-clock time
    folds: int
    folded_images: int
    limit_s: float = 5.0

    @property
    def is_kept(self) -> bool:
        """Whether the limit is met."""
        return self.cpu_s <= self.limit_s


def measure_folds(images: int = 100_000) -> tuple[FoldsFigure, ...]:
    """Time it; embeddings are random, as pictures are not needed."""
    generator = np.random.default_rng(0)
    embeddings = to_fixed(synthetic_embeddings(images, WIDTH).embeddings)
    bits = generator.integers(1, 2**63, images, dtype=np.uint64)
    copied = generator.choice(images, int(SHARE_COPIED * images), replace=False)
    bits[copied[1::2]] = bits[copied[::2]] ^ np.uint64(0b1001)
    embeddings[copied[1::2]] = embeddings[copied[::2]]
    unknown = np.full(images, UNKNOWN_TIME, dtype=np.int64)
    nearly = (np.arange(images, dtype=np.uint64) << np.uint64(40)) | np.uint64(0xABCDEF)
    same = np.broadcast_to(embeddings[0], embeddings.shape)
    line = np.where(np.arange(images) < images // 2, NOON_S + 3 * np.arange(images), UNKNOWN_TIME)
    none = np.zeros(images, dtype=np.uint64)
    keys = np.array([place.to_bytes(16, "little") for place in range(1, images + 1)])
    rows: dict[str, Callable[[], Folds]] = {
        "a tenth copied, a third in bursts": lambda: _found(
            keys, bits, _bursts(images), embeddings
        ),
        "no times at all": lambda: _found(keys, bits, unknown, embeddings),
        "all at the same time": lambda: _found(keys, bits, np.full(images, NOON_S), embeddings),
        "clocks at 1970": lambda: _found(keys, bits, np.arange(images), embeddings),
        "all of the same bytes": lambda: _found(
            np.full(images, keys[0]), np.full(images, bits[0]), unknown, same
        ),
        "hardly different pictures": lambda: _found(keys, nearly, unknown, same),
        "a sequence of half of them": lambda: _found(keys, none, line, embeddings),
    }
    return tuple(_timed(name, work) for name, work in rows.items())


def _bursts(images: int) -> NDArray[np.int64]:
    """Every third minute a burst of five; single shots between."""
    times = NOON_S + 60 * np.arange(images)
    is_burst = np.arange(images) % 16 < int(SHARE_IN_BURSTS * 16)
    return np.where(is_burst, times - 59 * (np.arange(images) % 16), times).astype(np.int64)


def _found(
    keys: NDArray[np.bytes_],
    bits: NDArray[np.uint64],
    seconds: NDArray[np.int64],
    embeddings: NDArray[np.int16],
) -> Folds:
    images = len(bits)
    # Valid for `sound_seconds`: not near 1970.
    sound = np.where(seconds > 10 * images, seconds, UNKNOWN_TIME)
    found = sequences(ShotTimes(sound, sound, np.zeros(images, dtype=np.int64)), SECONDS)
    twins = joined(same_content(keys), copies(bits, sound, embeddings, np.arange(images)))
    sharpness = np.full(images, np.nan, dtype=np.float32)
    groups = joined(twins, found)
    folds = Folds(np.arange(images), groups, twins, found, sharpness, sound, groups)
    assert len(folds.ranks) == images
    return folds


def _timed(name: str, work: Callable[[], Folds]) -> FoldsFigure:
    started_s, started_cpu_s = time.perf_counter(), time.process_time()
    folds = work()
    seconds, cpu_s = time.perf_counter() - started_s, time.process_time() - started_cpu_s
    return FoldsFigure(
        name, seconds, cpu_s, folds.count, int(np.count_nonzero(folds.groups != ALONE))
    )
