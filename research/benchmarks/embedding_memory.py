"""Memory of embedding few and many files: the largest project must not need more than a small one.

Each number of files is embedded in a process of its own, as by the window: a project of so many
images, each with different content, is embedded into an empty cache by a process that only reads
the project. Then the smallest number again, with one picture of the largest accepted size.
"""

import io
import json
import math
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from PIL import Image

from engine.collection.embed import embed_project
from engine.collection.models import BUNDLED_NAME, find_model
from engine.collection.new_project import new_project
from engine.config import CacheFolders
from engine.embedding.messages import EmbedBatch
from engine.errors import ProtoleafError
from engine.images.find_images import find_images
from engine.new_file import create_file, write_file
from engine.new_folder import scratch_folder
from engine.project import Project
from engine.worker.limits import peak_memory_bytes
from research.benchmarks.photos import draw_pictures, png_of_few_colours

ALLOWED_GROWTH = 1.1
"""Memory of the largest number of files, relative to the smallest."""

LARGE_LIMIT_MIB = 1_500
"""Peak memory with one picture of nearly 500 megapixels among the files."""

FILES_IN_FOLDER = 1000
PICTURES = 4
QUALITY = 80
_MEBIBYTE = 1024**2


@dataclass(frozen=True)
class MemoryOfRun:
    """Memory of embedding one number of files.

    Attributes:
        files: that were embedded.
        peak_mib: largest resident memory of the process.
        images_per_s: of the run.
        longest_silence_s: longest time between two reports of progress.
        large_megapixels: of the one large PNG among them; 0 where there is none.
    """

    files: int
    peak_mib: float
    images_per_s: float
    longest_silence_s: float
    large_megapixels: int = 0


@dataclass(frozen=True)
class MemoryFigures:
    """All numbers of files, fewest first; `growth` is the last peak over the first.

    Attributes:
        runs: of small files alone.
        growth, limit: memory for the most files relative to the fewest, and its limit.
        with_large: the fewest files and one large picture; None where not requested.
        large_limit_mib: limit of that run.
    """

    runs: tuple[MemoryOfRun, ...]
    growth: float
    limit: float = ALLOWED_GROWTH
    with_large: MemoryOfRun | None = None
    large_limit_mib: int = LARGE_LIMIT_MIB


def measure_memory(
    counts: Sequence[int] = (1_000, 100_000),
    *,
    backbone: str = BUNDLED_NAME,
    large_megapixels: int = 0,
) -> MemoryFigures:
    """Embed small files; each number of them in a process of its own.

    Args:
        counts: numbers of files; 100,000 of them take some 2 GB of disk while this runs.
        backbone: name or file of the backbone.
        large_megapixels: of a PNG that is added to the fewest files in one more run; 0 for none.

    Raises:
        ProtoleafError: a process failed; the message has the reason.
    """
    runs = tuple(_run(count, backbone) for count in sorted(counts))
    with_large = _run(min(counts), backbone, large_megapixels) if large_megapixels else None
    return MemoryFigures(runs, runs[-1].peak_mib / runs[0].peak_mib, with_large=with_large)


def _run(count: int, backbone: str, large_megapixels: int = 0) -> MemoryOfRun:
    with scratch_folder() as folder:
        _make_project(folder, count, large_megapixels)
        done = subprocess.run(  # noqa: S603 (our own program)
            [sys.executable, "-m", "research.benchmarks.embedding_memory", str(folder), backbone],
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise ProtoleafError(
            "the files could not be embedded", found=done.stderr.strip()[-300:] or "no message"
        )
    return replace(MemoryOfRun(**json.loads(done.stdout)), large_megapixels=large_megapixels)


def _make_project(folder: Path, count: int, large_megapixels: int) -> None:
    """Write image files and a project of them: equal pictures, with distinct trailing bytes."""
    if large_megapixels:
        side = round(math.sqrt(large_megapixels * 1_000_000))
        (folder / "images").mkdir()
        write_file(folder / "images" / "large.png", png_of_few_colours(side, side))
    pictures = [_jpeg_bytes(picture) for picture in draw_pictures(PICTURES)]
    for number in range(count):
        place = folder / "images" / f"{number // FILES_IN_FOLDER:04d}" / f"{number:07d}.jpg"
        if number % FILES_IN_FOLDER == 0:
            place.parent.mkdir(parents=True)
        with create_file(place) as file:
            file.write(pictures[number % len(pictures)] + number.to_bytes(8, "little"))
    with new_project(folder / "many.protoleaf") as project:
        project.images.add(find_images([folder / "images"]).files)


def _jpeg_bytes(picture: Image.Image) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=QUALITY)
    return buffer.getvalue()


class _Listener:
    """Count results; measure the longest time between two progress reports."""

    def __init__(self) -> None:
        self.results = 0
        self.longest_s = 0.0
        self._last_s: float | None = None

    def batch(self, batch: EmbedBatch) -> None:
        self.results += len(batch.results)

    def progress(self, _progress: object) -> None:
        now_s = time.monotonic()
        self.longest_s = max(self.longest_s, now_s - (self._last_s or now_s))
        self._last_s = now_s


def _embed_and_report(folder: Path, backbone: str) -> MemoryOfRun:
    listener = _Listener()
    with Project.open(folder / "many.protoleaf", for_writing=False) as project:
        done = embed_project(
            project,
            CacheFolders(folder / "cache"),
            model=find_model(backbone),
            device="cpu",
            on_progress=listener.progress,
            on_batch=listener.batch,
        )
    if done.embedded != listener.results:
        raise ProtoleafError(
            "not every file was embedded", found=f"{done.embedded} of {listener.results}"
        )
    return MemoryOfRun(
        done.embedded, peak_memory_bytes() / _MEBIBYTE, done.images_per_s, listener.longest_s
    )


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asdict(_embed_and_report(Path(sys.argv[1]), sys.argv[2]))))
