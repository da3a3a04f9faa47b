"""Images a second of decoding alone, of the backbone alone, and of both in the pipeline.

All three use the same cores and the same files, so that they can be compared. On the CPU decoding
and the backbone share the cores: the pipeline cannot be faster than 1 / (1 / decode + 1 /
inference), which `RateTriple.reachable` gives.
"""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.embedding.cache import EmbeddingCache
from engine.embedding.messages import EmbedRequest
from engine.embedding.pipeline import embed_files
from engine.embedding.read_photo import network_input
from engine.embedding.readers import ProcessReaders
from engine.errors import ImageError
from engine.file_parts import WHOLE
from engine.images.read_file import read_file
from engine.model_card import BackboneCard
from engine.new_folder import scratch_folder
from engine.runtime.backbone import BackboneSession
from engine.runtime.sessions import usable_cores
from research.benchmarks.simulated_device import SimulatedDevice

START_S = 60.0  # for readers to start


@dataclass(frozen=True)
class RateTriple:
    """Images a second: decoding alone, backbone alone, and the pipeline with cache writes."""

    decode: float
    inference: float
    pipeline: float

    @property
    def share_of_limit(self) -> float:
        """Pipeline over the smaller of both rates."""
        return self.pipeline / min(self.decode, self.inference)

    @property
    def reachable(self) -> float:
        """Rate at which decoding and the backbone together use all cores."""
        return 1 / (1 / self.decode + 1 / self.inference)


def measure_rates(
    paths: Sequence[Path], images: NDArray[np.uint8], session: BackboneSession
) -> RateTriple:
    """Measure all three rates once, in turn.

    Args:
        paths: valid image files of different content, already in the file cache.
        images: (n, side, side, 3) for the backbone alone.
    """
    decode = measure_decode_alone(paths, session.card, workers=session.parallel_runs)
    inference = measure_inference_alone(images, session)
    if isinstance(session, SimulatedDevice):
        session.take_use()  # resets the counters
    return RateTriple(
        decode, inference, measure_pipeline([(path, WHOLE) for path in paths], session)
    )


def measure_decode_alone(paths: Sequence[Path], card: BackboneCard, *, workers: int) -> float:
    """Images a second of reading, decoding and resizing on `workers` threads."""
    started_s = time.perf_counter()
    decode_all(paths, card, workers=workers)
    return len(paths) / (time.perf_counter() - started_s)


def decode_all(paths: Sequence[Path], card: BackboneCard, *, workers: int) -> NDArray[np.uint8]:
    """Decode files to the backbone's input: (n, side, side, 3) uint8.

    Raises:
        ImageError: a file is no valid image; its name is in the message.
    """
    images = np.empty((len(paths), card.input_side, card.input_side, 3), dtype=np.uint8)

    def decode(position: int) -> None:
        try:
            images[position] = network_input(read_file(paths[position]), card)
        except ImageError as error:
            found = f"{paths[position]}: {error.found}"
            raise ImageError(
                error.what, expected=error.expected, found=found, remedy=error.remedy
            ) from error

    with ThreadPoolExecutor(workers) as pool:
        for _done in pool.map(decode, range(len(paths))):
            pass
    return images


def measure_inference_alone(images: NDArray[np.uint8], session: BackboneSession) -> float:
    """Images a second of the backbone on pixels in memory, at the session's batch size."""
    batches = [
        images[start : start + session.batch_size]
        for start in range(0, len(images), session.batch_size)
    ]
    started_s = time.perf_counter()
    with ThreadPoolExecutor(session.parallel_runs) as pool:
        for _done in pool.map(session.embed, batches):
            pass
    return len(images) / (time.perf_counter() - started_s)


def measure_pipeline(items: Sequence[tuple[Path, str]], session: BackboneSession) -> float:
    """Images a second of `embed_files` with an empty disk cache and started readers.

    Args:
        items: files and their parts, grouped by file.
    """
    requests = [
        EmbedRequest(position, path, None, part) for position, (path, part) in enumerate(items)
    ]
    width = session.card.embedding_width
    with (
        scratch_folder() as folder,
        EmbeddingCache(folder, "0" * 64, width) as cache,
        _readers(session) as readers,
    ):
        started_s = time.perf_counter()
        embed_files(requests, session, cache, readers=readers)
        return len(items) / (time.perf_counter() - started_s)


@contextmanager
def _readers(session: BackboneSession) -> Iterator[ProcessReaders | None]:
    """Reader processes for a GPU, as of the window; none for the CPU."""
    if not session.is_on_gpu:
        yield None
        return
    with closing(ProcessReaders(usable_cores(), session.card.input_side)) as readers:
        readers.wait_until_ready(START_S)
        yield readers
