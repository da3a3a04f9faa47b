"""Damaged pictures give pixels or one of our errors, in bounded time and memory."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

from engine.errors import ImageError
from engine.images.decode import decode_rgb, decode_square
from engine.images.thumbnail_cache import thumbnail
from tests.trust.children import Place, run_apart
from tests.trust.outcome import Fault, Outcome, Trial
from tests.trust.picture_damage import damaged_picture, giant_picture
from tests.trust.stages import Stage
from tests.trust.trials import PROCESSES, OnTrial, ending_faults, run_trials, trial_folder

INSTRUMENT = "broken images"
IMAGE_LIMIT_S = 10.0
MEMORY_BYTES = 1_500_000_000
WHOLE_MEMORY_BYTES = 6_000_000_000  # twelve bytes for each of at most 500 million pixels
_DECODED_WHOLE = (
    b"GIF8",
    b"RIFF",
    b"ftypavi",
    b"ftyphei",
    b"ftypmif",
    b"jP  ",
    b"\xff\x4f\xff\x51",
)  # formats not read in strips
BATCH = 100
GIANT_EVERY = 1000
GIANT_LIMIT_S = 60.0
_START_S = 30.0
_SIDE = 224
_VIEW_SIDE = 6000
_KILOBYTE = 1024

WAYS: Mapping[str, Callable[[Path, bytes], object]] = {
    "for the view": lambda _path, data: decode_rgb(data, longest_side=_VIEW_SIDE),
    "to a square": lambda _path, data: decode_square(data, _SIDE),
    "to a thumbnail": lambda path, _data: thumbnail(path, _SIDE),
}


@dataclass(frozen=True)
class Batch:
    """Pictures of one child, by seed."""

    first: int
    count: int
    has_giants: bool


def break_many(stage: Stage, count: int, *, seed: int, on_trial: OnTrial = lambda: None) -> Outcome:
    """Decode damaged pictures in every way; every thousandth is valid, with 484 megapixels.

    Args:
        stage: for its scratch folder.
        count: pictures.
        seed: of the random generator.
        on_trial: called after each picture.
    """
    first = seed * 10_000_000
    size = min(BATCH, max(1, count // PROCESSES))
    plans = [
        Batch(
            first + start,
            min(size, count - start),
            count >= GIANT_EVERY and start % GIANT_EVERY == 0,
        )
        for start in range(0, count, size)
    ]
    row = run_trials(INSTRUMENT, plans, lambda plan: break_some(stage, plan, on_trial))
    return Outcome(row.instrument, count, 0, row.faults, row.peak_bytes)


def break_some(stage: Stage, batch: Batch, on_trial: OnTrial = lambda: None) -> Trial:
    """Decode the pictures of a batch; a child that dies or hangs is replaced for the rest."""
    faults: list[Fault] = []
    peak, done = 0, 0
    with trial_folder(stage.folder) as folder:
        place = Place(folder)
        folder.mkdir()
        while done < batch.count:
            limit_s = (
                _START_S
                + IMAGE_LIMIT_S * (batch.count - done)
                + GIANT_LIMIT_S * 2 * batch.has_giants
            )
            ending = run_apart(place, decode_some, place, batch, done, limit_s=limit_s)
            found, ended_at, peak_bytes = ending.answer or ((), _reached(place), 0)
            faults += found
            peak = max(peak, peak_bytes)
            for _ in range(ended_at - done):
                on_trial()
            if ending.answer is None:
                faults += ending_faults(
                    ending, f"picture with seed {batch.first + ended_at}", place.output()
                )
                ended_at += 1
            done = ended_at
    return Trial(0, tuple(faults), peak)


def decode_some(place: Place, batch: Batch, start: int) -> tuple[list[Fault], int, int]:
    """Decode pictures in a child; return faults, the number decoded, and peak memory."""
    faults: list[Fault] = []
    peak = 0
    file = place.folder / "picture"
    for number in range(start, batch.count):
        _mark(place, number)
        seed = batch.first + number
        is_giant = batch.has_giants and number == 0
        how, data = (
            ("484 megapixels", giant_picture(Random(seed))) if is_giant else damaged_picture(seed)
        )
        file.write_bytes(data)
        for way in WAYS:
            found, memory = _decode(
                way, file, data, limit_s=GIANT_LIMIT_S if is_giant else IMAGE_LIMIT_S
            )
            faults += [
                Fault(fault.kind, f"{way}, {how}, seed {seed}: {fault.text}") for fault in found
            ]
            peak = max(peak, memory)
    return faults, batch.count, peak


def _decode(way: str, file: Path, data: bytes, *, limit_s: float) -> tuple[list[Fault], int]:
    """Decode a picture in one way; return faults and memory."""
    faults: list[Fault] = []
    _forget_peak()
    begun = time.monotonic()
    try:
        WAYS[way](file, data)
    except ImageError:
        pass
    except Exception as error:  # noqa: BLE001 (recorded)
        faults.append(Fault("traceback", f"{type(error).__name__}: {str(error)[:200]}"))
    if (seconds := time.monotonic() - begun) > limit_s:
        faults.append(Fault("hang", f"{seconds:.0f} s"))
    is_whole = any(signature in data[:12] for signature in _DECODED_WHOLE)
    if (memory := _peak()) > (WHOLE_MEMORY_BYTES if is_whole else MEMORY_BYTES):
        faults.append(Fault("other", f"{memory / 1e6:,.0f} MB of memory"))
    return faults, memory


def _mark(place: Place, number: int) -> None:
    (place.folder / "reached").write_text(str(number), encoding="utf-8")


def _reached(place: Place) -> int:
    path = place.folder / "reached"
    return int(path.read_text(encoding="utf-8")) if path.exists() else 0


def _forget_peak() -> None:
    """Reset the system's peak memory of this process."""
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")


def _peak() -> int:
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return (
        next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:"))
        * _KILOBYTE
    )
