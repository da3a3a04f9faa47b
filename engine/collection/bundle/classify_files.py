"""Classify image files by an exported model, without any project."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, final

from engine.collection.bundle.opened import ModelBundle
from engine.collection.outputs.own_outputs import PREDICTIONS
from engine.collection.outputs.targets import check_file, is_any_of
from engine.errors import ImageError, InputError
from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress
from engine.files import FileFailure
from engine.images.find_images import find_images
from engine.images.kinds import LeftOut
from engine.images.read_file import FILES, file_size, read_file
from engine.interchange.predictions_file import PredictedRow, write_predictions_file
from engine.runtime.sessions import usable_cores

_AHEAD: Final = 64
"""Images for each core that are handed out at once: a million need not be kept in memory."""

_OTHER: Final = "choose another file"


@dataclass
class ClassifiedFiles:
    """What became of the files."""

    predictions: int = 0  # rows written
    # files that cannot be read, and named files that are no images
    failures: list[FileFailure] = field(default_factory=list)
    left_out: LeftOut = field(default_factory=LeftOut)  # files of other kinds in folders
    seconds: float = 0.0  # from the first image to the last

    @property
    def images_per_s(self) -> float:
        """Rate of all files that were tried."""
        return (self.predictions + len(self.failures)) / self.seconds if self.seconds else 0.0


def classify_files(
    bundle: ModelBundle,
    paths: Sequence[Path],
    out: Path,
    *,
    is_plain: bool = False,
    is_overwriting: bool = False,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> ClassifiedFiles:
    """Write the predictions of files, and of the images in folders, as CSV: whole or not at all.

    Args:
        paths: files and folders; the column `image` calls them as they were given.
        is_plain: write names as they are, also those that a spreadsheet would run as formulas.
        is_overwriting: replace a file that is no earlier output of predictions, too.
        cancel: is asked before each image.

    Raises:
        TakenError: another file is there, and nobody asked to replace it.
        InputError: there is no image, or the file is one of them, or belongs to the model.
        StorageError: a path is not there, or the file cannot be written.
        ModelError: the model fails.
        Cancelled: asked to stop; nothing is written.
    """
    token = cancel or CancelToken()
    found = find_images(paths, cancel=token)
    files = [file.path for file in found.files]
    if not files and not found.failures:
        raise InputError(
            "there is no image", found=", ".join(map(str, paths)), remedy="name images, or folders of them"
        )
    _check_target(out, bundle, files)
    check_file(out, PREDICTIONS, is_overwriting=is_overwriting)
    done = ClassifiedFiles(failures=list(found.failures), left_out=found.left_out)
    named, meter = _Names(paths), ProgressMeter(len(files), on_progress)

    def predict(path: Path) -> PredictedRow | FileFailure:
        token.raise_if_cancelled()
        try:
            with FILES.holding(file_size(path)):
                data = read_file(path)
            return bundle.predict(named.of(path), data)
        except ImageError as error:
            return FileFailure(path, str(error))

    def rows() -> Iterator[PredictedRow]:
        for row in _in_order(predict, files):
            meter.advance()
            if isinstance(row, FileFailure):
                done.failures.append(row)
                continue
            done.predictions += 1
            yield row

    started_s = time.monotonic()
    contents = bundle.contents
    write_predictions_file(
        out, contents.graph, rows(), setting=contents.setting, model=contents.name, is_plain=is_plain
    )
    done.seconds = time.monotonic() - started_s
    return done


def _in_order(
    predict: Callable[[Path], PredictedRow | FileFailure], files: Sequence[Path]
) -> Iterator[PredictedRow | FileFailure]:
    """What each file gives, in the order of the files; all cores work on them."""
    cores = usable_cores()
    with ThreadPoolExecutor(cores, thread_name_prefix="classify-files") as pool:
        for start in range(0, len(files), _AHEAD * cores):
            yield from pool.map(predict, files[start : start + _AHEAD * cores])


def _check_target(out: Path, bundle: ModelBundle, files: Sequence[Path]) -> None:
    """Refuse to put the table in the place of what it is made from."""
    if not out.is_file():
        return
    if is_any_of(out, bundle.folder.iterdir()):
        raise InputError("the predictions would overwrite a file of the model", found=str(out), remedy=_OTHER)
    if is_any_of(out, files):
        raise InputError("the predictions would overwrite an image", found=str(out), remedy=_OTHER)


@final
class _Names:
    """Files as the person called them: what was given relative stays relative."""

    def __init__(self, given: Sequence[Path]) -> None:
        self._given = {Path(os.path.abspath(path)): path for path in given}  # noqa: PTH100 (links keep their names)

    def of(self, path: Path) -> str:
        root = next((each for each in (path, *path.parents) if each in self._given), None)
        return str(path) if root is None else str(self._given[root] / path.relative_to(root))
