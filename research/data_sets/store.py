"""Decode the drawn images and write the folder of a data set, atomically."""

import json
import shutil
import uuid
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from engine.errors import FormatError, ImageError, InputError, StorageError
from engine.events import CancelToken, OnProgress, ProgressMeter
from engine.full_disk import disk_full, storage_error
from engine.images.decode import decode_rgb
from engine.images.pixels import square
from engine.new_file import ORDINARY_FILE, create_file, write_file
from research.data_sets.sampling import DrawnImages
from research.data_sets.source import DataSetImages
from research.data_sets.stored import DATA_FILE, FORMAT, PIXELS_FILE, VERSION, read_facts

DECODE_THREADS = 2
_BATCH = 256


@dataclass(frozen=True)
class Written:
    """Outcome of writing the drawn images.

    Attributes:
        is_readable: (n,) bool, for each drawn image; only the readable ones have pixels.
        unreadable: one line for each other image: name and reason.
    """

    is_readable: NDArray[np.bool_]
    unreadable: tuple[str, ...]


def write_data_set(
    folder: Path,
    facts: Mapping[str, Any],
    source: DataSetImages,
    drawn: DrawnImages,
    *,
    side: int,
    fewest: NDArray[np.int64],
    on_progress: OnProgress,
    cancel: CancelToken,
) -> None:
    """Write the folder of a data set, atomically; an older data set there is replaced.

    Args:
        folder: its parents are created.
        facts: further fields of `data_set.json`.
        source: of the images.
        drawn: the images.
        side: of the stored pixels.
        fewest: (C,) int64, images that each class must have at least, unreadable ones not counted.
        on_progress: receives the number of images decoded.
        cancel: stops the work and removes what was written.

    Raises:
        InputError: `folder` is something else, or too many images of a class cannot be read.
        StorageError: the folder cannot be written.
        Cancelled: it was stopped.
    """
    folder = folder.resolve()
    refuse_foreign(folder)
    unfinished = folder.with_name(f".{uuid.uuid4().hex}.unfinished")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        _check_space(folder.parent, len(drawn.source_positions) * side * side * 3)
        unfinished.mkdir()
        meter = ProgressMeter(len(drawn.source_positions), on_progress)
        with create_file(unfinished / PIXELS_FILE, mode=ORDINARY_FILE) as file:
            written = _write_pixels(file, source, drawn, side=side, meter=meter, cancel=cancel)
        _check_enough(drawn.class_positions, written, fewest)
        text = _as_json({**_opening(), **facts, **_image_facts(source, drawn, written)})
        write_file(unfinished / DATA_FILE, text, mode=ORDINARY_FILE)
        _put_in_place(unfinished, folder)
    except OSError as error:
        raise storage_error(folder, error, "the data set cannot be written") from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def refuse_foreign(folder: Path) -> None:
    """Check that a folder may be replaced by a data set: it is missing, empty, or a data set.

    Raises:
        InputError: it is something else.
        StorageError: it cannot be read.
    """
    try:
        if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
            return
        if folder.is_dir() and (folder / DATA_FILE).is_file():
            read_facts(folder)
            return
    except OSError as error:
        raise StorageError(
            f'"{folder}" cannot be looked at', found=error.strerror or str(error)
        ) from error
    except FormatError:
        pass
    raise InputError(
        f'"{folder}" is in the way and is no data set of this version',
        expected="a new or empty folder, or an older data set to replace",
        found="a folder with other files" if folder.is_dir() else "a file",
        remedy="choose another folder",
    )


def _check_space(folder: Path, needed_bytes: int) -> None:
    free_bytes = shutil.disk_usage(folder).free
    if free_bytes < needed_bytes:
        raise disk_full(folder, needed_bytes=needed_bytes, free_bytes=free_bytes)


def _write_pixels(
    file: BinaryIO,
    source: DataSetImages,
    drawn: DrawnImages,
    *,
    side: int,
    meter: ProgressMeter,
    cancel: CancelToken,
) -> Written:
    """Write an array file row by row.

    A memory-mapped file would be killed by a full disk, and unreadable images would leave gaps. So
    rows are appended, and the header is rewritten when their number is known.
    """
    is_readable = np.ones(len(drawn.source_positions), dtype=np.bool_)
    unreadable = []
    _write_header(file, len(is_readable), side)
    header_bytes = file.tell()
    for row, result in enumerate(_decoded(source, drawn.source_positions, side, cancel)):
        if isinstance(result, ImageError):
            is_readable[row] = False
            unreadable.append(f"{source.names[drawn.source_positions[row]]}: {result}")
        else:
            file.write(result.data)
        meter.advance()
    file.seek(0)
    _write_header(file, int(is_readable.sum()), side)
    assert file.tell() == header_bytes, "the header has another length than before"
    return Written(is_readable, tuple(unreadable))


def _write_header(file: BinaryIO, count: int, side: int) -> None:
    """Write an array header of fixed length (numpy pads the growing axis)."""
    layout = {"descr": "|u1", "fortran_order": False, "shape": (count, side, side, 3)}
    np.lib.format.write_array_header_1_0(file, layout)


def _decoded(
    source: DataSetImages, positions: NDArray[np.int64], side: int, cancel: CancelToken
) -> Iterator[NDArray[np.uint8] | ImageError]:
    """Decode in order, by batches: (side, side, 3) uint8 or the error of each image."""

    def decode(position: int) -> NDArray[np.uint8] | ImageError:
        try:
            pixels = decode_rgb(source.read(position), smallest_side=side)
        except ImageError as error:
            return error
        return np.ascontiguousarray(square(pixels, side))

    with ThreadPoolExecutor(DECODE_THREADS) as pool:
        for start in range(0, len(positions), _BATCH):
            cancel.raise_if_cancelled()
            yield from pool.map(decode, positions[start : start + _BATCH].tolist())


def _opening() -> dict[str, Any]:
    return {"format": FORMAT, "version": VERSION}


def _image_facts(source: DataSetImages, drawn: DrawnImages, written: Written) -> dict[str, Any]:
    kept = written.is_readable
    return {
        "class_positions": drawn.class_positions[kept].tolist(),
        "is_test": drawn.is_test[kept].astype(int).tolist(),
        "image_names": [source.names[position] for position in drawn.source_positions[kept]],
        "unreadable": list(written.unreadable),
    }


def _check_enough(
    class_positions: NDArray[np.int64], written: Written, fewest: NDArray[np.int64]
) -> None:
    counts = np.bincount(class_positions[written.is_readable], minlength=len(fewest))
    short = np.flatnonzero(counts < fewest)
    if short.size:
        raise InputError(
            "too many images of a class cannot be read",
            expected=f"{fewest[short[0]]} or more readable ones",
            found=(
                f"{counts[short[0]]} of {(class_positions == short[0]).sum()}, and "
                f"{written.unreadable[0]}"
            ),
            remedy="repair or remove these files, so that others are drawn",
        )


def _as_json(facts: Mapping[str, Any]) -> str:
    """JSON with one fact a line, for readability."""
    lines = (
        f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"
        for key, value in facts.items()
    )
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _put_in_place(unfinished: Path, folder: Path) -> None:
    """Rename the finished folder, after moving an older data set away."""
    older = folder.with_name(f".{uuid.uuid4().hex}.older")
    if folder.exists():
        folder.rename(older)
    try:
        unfinished.rename(folder)
    except OSError:
        if older.exists():
            older.rename(folder)
        raise
    shutil.rmtree(older, ignore_errors=True)
