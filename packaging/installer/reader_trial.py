"""Trial of the reader processes in the installed program and from source.

`reader_trial.py make FOLDER COUNT` writes photos, `read FOLDER RESULT` reads them with two
processes as for a GPU and writes measurements as JSON, `compare INSTALLED SOURCE` compares two
such results. `hold FILE` starts the processes, writes its own process id and waits for a kill.

Imports nothing of this package: the installed program runs it as a script.
"""

import hashlib
import json
import os
import sys
import time
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, final

import numpy as np
import psutil
from numpy.typing import NDArray
from PIL import Image

from engine.backbones.model_files import FAST, bundled_path, model_files
from engine.embedding.cache import EmbeddingCache
from engine.embedding.messages import EmbedRequest
from engine.embedding.pipeline import embed_files
from engine.embedding.readers import ProcessReaders
from engine.images.read_file import content_hash
from engine.model_card import BackboneCard
from engine.runtime.backbone import BackboneSession
from engine.runtime.backbone_input import Preparation, input_output
from engine.runtime.eight_bit import check_photos, cosines
from engine.runtime.half_precision import write_half
from engine.runtime.pixel_input import PIXELS, write_with_pixels
from engine.runtime.providers import CPU_CHOICE
from engine.runtime.sessions import open_session, run_session

READERS = 2
ROUNDS = 3  # the fastest counts: other programs only slow one down
SIZE = 500, 375  # of generated photos, in pixels
GRAIN = 20  # pixels per patch of colour: a JPEG file of some 20 kB
START_S = 60.0
HELD_S = 600.0
# Minimum ratio of the installed program's rate to that from source. Chosen.
LEAST_RATIO = 0.7
LEAST_COSINE = 0.999
TRACKER = "resource_tracker"  # Python's process that removes shared memory after a kill


@final
class HashingDevice(BackboneSession):
    """Session that claims to be on a GPU; embeds the hash of the pixels, byte by byte."""

    def __init__(self, model: Path, card: BackboneCard) -> None:
        super().__init__(model, card, CPU_CHOICE)
        self.batch_size = 64

    @property
    def is_on_gpu(self) -> bool:
        """Always true."""
        return True

    def embed(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        """One row for each image."""
        vectors = np.zeros((len(images), self.card.embedding_width), dtype=np.float32)
        for row, image in zip(vectors, images, strict=True):
            digest = hashlib.sha256(image.tobytes()).digest()
            row[: len(digest)] = np.frombuffer(digest, dtype=np.uint8)
        return vectors


def make_photos(folder: Path, count: int) -> None:
    """Write distinct photos."""
    folder.mkdir(parents=True, exist_ok=True)
    width, height = SIZE
    for seed in range(count):
        grain = np.random.default_rng(seed).integers(
            0, 256, (height // GRAIN, width // GRAIN, 3), dtype=np.uint8
        )
        Image.fromarray(grain).resize(SIZE, Image.Resampling.BICUBIC).save(
            folder / f"{seed:04}.jpg", quality=90
        )


def read_photos(folder: Path) -> dict[str, Any]:
    """Read the photos of a folder with processes, and return measurements."""
    paths = sorted(folder.glob("*.jpg"))
    program, model = psutil.Process(), bundled_path(FAST)
    assert model is not None, "it is shipped"
    files = model_files(model)
    device = HashingDevice(model, files.card)
    others = _children(program)
    started_s = time.perf_counter()
    with closing(ProcessReaders(READERS, files.card.input_side)) as readers:
        assert readers.wait_until_ready(START_S)
        ready_s = time.perf_counter() - started_s
        processes = {each for each in _children(program) - others if each.parent() == program}
        before = _bytes_read(processes)
        rounds = [_read_once(paths, device, files.backbone_hash, readers) for _ in range(ROUNDS)]
        read = _bytes_read(processes) - before
        started = _commands(_children(program) - others)
    rate, answers = max(rate for rate, _ in rounds), {answers for _, answers in rounds}
    return {
        "ready_s": round(ready_s, 3),
        "images_per_s": round(rate, 1),
        "answers": sorted(answers),
        "read_by_processes": read >= ROUNDS * sum(path.stat().st_size for path in paths),
        "processes": started,
        "left": _commands(_children(program) - others),
        **device_forms(model, files.card),
    }


def _children(program: psutil.Process) -> set[psutil.Process]:
    """All subprocesses except Python's resource tracker."""
    found = program.children(recursive=True)
    return {child for child in found if TRACKER not in " ".join(child.cmdline())}


def _commands(processes: set[psutil.Process]) -> list[str]:
    """Their command lines."""
    return [" ".join(each.cmdline()) for each in processes]


def _bytes_read(processes: set[psutil.Process]) -> int:
    """Bytes that processes read from files and pipes."""
    return sum(process.io_counters().read_chars for process in processes)


def _read_once(
    paths: list[Path], device: HashingDevice, identity: str, readers: ProcessReaders
) -> tuple[float, str]:
    """Photos per second, and a hash of the content and pixels of all photos."""
    requests = [EmbedRequest(number, path) for number, path in enumerate(paths)]
    width = device.card.embedding_width
    with TemporaryDirectory() as place, EmbeddingCache(Path(place), identity, width) as cache:
        started_s = time.perf_counter()
        summary = embed_files(requests, device, cache, readers=readers)
        seconds = time.perf_counter() - started_s
        assert (summary.embedded, summary.failure_count) == (len(paths), 0), summary
        keys = [content_hash(path.read_bytes()) for path in paths]
        vectors, _found = cache.get_many(keys)
    return len(paths) / seconds, hashlib.sha256(b"".join(keys) + vectors.tobytes()).hexdigest()


def device_forms(model: Path, card: BackboneCard) -> dict[str, float]:
    """Cosine similarity of the GPU variants of a network with the network itself."""
    ends = input_output(open_session(model), card)
    photos = check_photos(card, 2)
    values = {
        ends.input_name: Preparation(card).prepare(photos).astype(ends.input_type, copy=False)
    }
    (expected,) = run_session(open_session(model), values)
    with TemporaryDirectory() as place:
        pixels, half = Path(place, "pixels.onnx"), Path(place, "half.onnx")
        write_with_pixels(model, pixels, card, ends)
        write_half(model, half)
        (of_pixels,) = run_session(open_session(pixels), {PIXELS: photos})
        (of_half,) = run_session(open_session(half), values)
    return {
        "pixel_cosine": float(cosines(of_pixels, expected).min()),
        "half_cosine": float(cosines(of_half, expected).min()),
    }


def compare(installed: dict[str, Any], source: dict[str, Any]) -> None:
    """Print both results, and exit with status 1 if the installed program is worse."""
    ratio = installed["images_per_s"] / source["images_per_s"]
    sys.stdout.write(
        f"processes ready after {installed['ready_s']:.2f} s, from source {source['ready_s']:.2f} "
        "s; "
        f"{installed['images_per_s']:.0f} and {source['images_per_s']:.0f} photos/s, ratio "
        f"{ratio:.2f} "
        f"(least {LEAST_RATIO})\n"
    )
    wrong = [
        name
        for name, is_right in {
            "other contents or pixels": installed["answers"] == source["answers"],
            "read by threads": installed["read_by_processes"],
            "other processes": len(installed["processes"]) == READERS,
            "processes are left": not installed["left"],
            "the form that takes pixels differs": installed["pixel_cosine"] >= LEAST_COSINE,
            "the form in half precision differs": installed["half_cosine"] >= LEAST_COSINE,
            "too slow": ratio >= LEAST_RATIO,
        }.items()
        if not is_right
    ]
    if wrong:
        raise SystemExit(f"{', '.join(wrong)}: {json.dumps(installed, indent=2)}")


def hold(file: Path) -> None:
    """Start processes, write the own process id, and wait for a kill."""
    with closing(ProcessReaders(READERS, 260)) as readers:
        assert readers.wait_until_ready(START_S)
        file.write_text(str(os.getpid()), encoding="ascii")
        time.sleep(HELD_S)


def main(words: list[str]) -> None:
    """Run a subcommand."""
    match words:
        case ["make", folder, count]:
            make_photos(Path(folder), int(count))
        case ["read", folder, result]:
            Path(result).write_text(
                json.dumps(read_photos(Path(folder)), indent=2), encoding="utf-8"
            )
        case ["compare", installed, source]:
            compare(
                *(
                    json.loads(Path(file).read_text(encoding="utf-8"))
                    for file in (installed, source)
                )
            )
        case ["hold", file]:
            hold(Path(file))
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
