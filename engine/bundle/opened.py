"""Classification by an exported model, which is validated and tried in a sandboxed process."""

import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

import numpy as np

from engine.bundle.batch_answers import answers_of
from engine.bundle.classes_file import NAME, ExportedClasses, read_classes
from engine.bundle.classifier_graph import IMAGES
from engine.collection.outputs import PREDICTIONS, check_file, is_any_of
from engine.embedding.views import views_of_side
from engine.errors import FormatError, ImageError, InputError, ModelError, found_at
from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress
from engine.everyday.classifier import COARSE, DISTANCE, PROBABILITIES
from engine.files import FileFailure, TooLargeError, open_regular, read_regular
from engine.graph.codes import NO_CLASS
from engine.images.find_images import find_images
from engine.images.kinds import LeftOut
from engine.images.read_file import FILES, file_size, read_file
from engine.interchange.predictions_file import PredictedRow, write_predictions_file
from engine.ordered_pool import in_order
from engine.runtime.sessions import open_session, run_session, usable_cores
from engine.texts import enumerated
from engine.worker.limits import Limits, call_child, usual_limits
from engine.worker.protocol import Request

CLASSIFIER = "classifier.onnx"
_EXPECTED = (
    f"a folder with {NAME} and {CLASSIFIER}, as `protoleaf export PROJECT model FOLDER` writes it"
)
_MOST_TEXT_BYTES = 1 << 28  # of `classes.json`: a graph of a million classes takes less


@dataclass(frozen=True)
class ModelBundle:
    """An opened exported model; thread-safe."""

    folder: Path
    contents: ExportedClasses  # of `classes.json`
    session: Any  # of `classifier.onnx`

    def predict(self, image: str, data: bytes) -> PredictedRow:
        """Classify the bytes of an image file; `image` is its name in the row.

        Raises:
            ImageError: the image is damaged.
            ModelError: the model fails.
        """
        framing = self.contents.framing
        views = views_of_side(data, framing.side, framing.resize_share, framing.views)
        names = [one.name for one in self.session.get_outputs()]
        found = dict(
            zip(names, run_session(self.session, {IMAGES: views[None]}, names), strict=True)
        )
        answers = answers_of(self.contents, found)
        is_safe = int(answers.safe_ids[0]) != NO_CLASS
        return PredictedRow(
            image,
            int(answers.class_ids[0]),
            float(answers.scores[0]),
            int(answers.safe_ids[0]) if is_safe else None,
            float(answers.safe_scores[0]),
            bool(answers.is_unknown[0]),
        )


def open_bundle(folder: Path) -> ModelBundle:
    """Open an exported model.

    Raises:
        InputError: the folder or one of its files is missing.
        FormatError: `classes.json` is damaged or of a newer program, or the checksum of
            `classifier.onnx` does not match.
        ModelError: `classifier.onnx` cannot be opened, or does not match `classes.json`.
    """
    contents = read_classes(_text(folder), source=str(folder / NAME))
    path = folder / CLASSIFIER
    if _hash(path) != contents.sha256:
        raise FormatError(
            "{classifier} is not the one that {file} belongs to, or it is damaged",
            expected=contents.sha256[:12],
            found="{hash} in {path}",
            remedy="copy the folder again, or export the model again",
            classifier=CLASSIFIER,
            file=NAME,
            hash=_hash(path)[:12],
            path=path,
        )
    session = open_session(path)
    _check_ends(session, contents, path)
    return ModelBundle(folder, contents, session)


def _text(folder: Path) -> str:
    if not folder.is_dir():
        found = "a file, {folder}" if folder.is_file() else "nothing at {folder}"
        raise InputError(
            "this is not an exported model", expected=_EXPECTED, found=found, folder=folder
        )
    missing = [name for name in (NAME, CLASSIFIER) if not (folder / name).is_file()]
    if missing:
        raise InputError(
            "this is not an exported model, or it is not whole",
            expected=_EXPECTED,
            found="no {missing} in {folder}",
            remedy="name the folder itself, or export the model again",
            missing=enumerated(missing),
            folder=folder,
        )
    path = folder / NAME
    try:
        return read_regular(path, at_most=_MOST_TEXT_BYTES).decode()
    except TooLargeError as error:
        large = "{file} is too large to be that of an exported model"
        raise FormatError(large, found=str(path), file=NAME) from error
    except OSError as error:
        raise InputError(
            "the exported model cannot be read", found=found_at(path, error)
        ) from error
    except UnicodeDecodeError as error:
        raise FormatError(
            "{file} is not text", found=str(path), remedy="export the model again", file=NAME
        ) from error


def _hash(path: Path) -> str:
    try:
        with open_regular(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(
            "the exported model cannot be read", found=found_at(path, error)
        ) from error


def _check_ends(session: Any, contents: ExportedClasses, path: Path) -> None:
    side, views = contents.framing.side, contents.framing.views
    expected = {
        IMAGES: [views, side, side, 3],
        PROBABILITIES: [len(contents.back_off.candidate_ids)],
        DISTANCE: [],
    }
    if len(contents.back_off.coarse_ids):
        expected[COARSE] = [len(contents.back_off.coarse_ids)]
    found = {
        one.name: list(one.shape)[1:] for one in (*session.get_inputs(), *session.get_outputs())
    }
    if found != expected:
        raise ModelError(
            "{classifier} does not fit {file}",
            expected=_shapes(expected),
            found="{shapes} in {path}",
            remedy="export the model again",
            classifier=CLASSIFIER,
            file=NAME,
            shapes=_shapes(found),
            path=path,
        )


def _shapes(ends: Mapping[str, list[int]]) -> str:
    return enumerated(f"{name} {shape}" for name, shape in sorted(ends.items()))


@dataclass(frozen=True)
class BundleTrial:
    """Result of a trial run."""

    seconds: float  # of one prediction


@dataclass(frozen=True)
class TryBundle(Request[BundleTrial]):
    """Open an exported model and classify a picture, in a worker with resource limits."""

    folder: Path
    limits: Limits


def try_bundle(
    folder: Path, *, limits: Limits | None = None, cancel: CancelToken | None = None
) -> BundleTrial:
    """Open an exported model and classify a picture in a child process with resource limits.

    Raises:
        InputError, FormatError, ModelError: it is not an exported model, fails, crashes, or exceeds
            a limit.
        Cancelled: `cancel` was set.
    """
    limits = limits or usual_limits()
    return call_child(TryBundle(folder.absolute(), limits), limits, cancel=cancel)


def classify_a_picture(folder: Path) -> BundleTrial:
    """Classify a noise image; only called in a process with resource limits."""
    bundle = open_bundle(folder)
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    started_s = time.monotonic()
    bundle.predict("noise.ppm", b"P6 64 64 255\n" + noise.tobytes())
    return BundleTrial(time.monotonic() - started_s)


_AHEAD = 64  # images per core that are queued

_REMEDY = "choose another file"


@dataclass
class ClassifiedFiles:
    """Number of predictions, and files without one."""

    predictions: int = 0  # rows written
    # unreadable files, and named files that are not images
    failures: list[FileFailure] = field(default_factory=list)
    left_out: LeftOut = field(default_factory=LeftOut)  # files of other kinds in folders
    seconds: float = 0.0  # from the first image to the last

    @property
    def images_per_s(self) -> float:
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
    """Write predictions of image files and folders as CSV, atomically.

    Args:
        paths: files and folders; the column `image` has relative paths if these are relative.
        is_plain: do not guard names that a spreadsheet would run as formulas.
        is_overwriting: also replace a file that is not an earlier output.

    Raises:
        TakenError: another file exists.
        InputError: there is no image, or the output is one of them or a file of the model.
        StorageError: a path does not exist, or the output cannot be written.
        ModelError: the model fails.
        Cancelled: `cancel` was set; nothing is written.
    """
    token = cancel or CancelToken()
    found = find_images(paths, cancel=token)
    files = [file.path for file in found.files]
    if not files and not found.failures:
        raise InputError(
            "there is no image",
            found=enumerated(map(str, paths)),
            remedy="name images, or folders of them",
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
            return FileFailure(path, error.message)

    def rows() -> Iterator[PredictedRow]:
        for row in _in_order(predict, files):
            meter.advance()
            if isinstance(row, FileFailure):
                done.failures.append(row)
                continue
            done.predictions += 1
            yield row

    started_s, made_by = time.monotonic(), bundle.contents
    write_predictions_file(
        out, made_by.graph, rows(), setting=made_by.setting, model=made_by.name, is_plain=is_plain
    )
    done.seconds = time.monotonic() - started_s
    return done


def _in_order(
    predict: Callable[[Path], PredictedRow | FileFailure], files: Sequence[Path]
) -> Iterator[PredictedRow | FileFailure]:
    """Predict on all cores; the results are in the order of the files."""
    cores = usable_cores()
    with ThreadPoolExecutor(cores, thread_name_prefix="classify-files") as pool:
        yield from in_order(pool, predict, files, ahead=_AHEAD * cores)


def _check_target(out: Path, bundle: ModelBundle, files: Sequence[Path]) -> None:
    if not out.is_file():
        return
    if is_any_of(out, bundle.folder.iterdir()):
        raise InputError(
            "the predictions would overwrite a file of the model", found=str(out), remedy=_REMEDY
        )
    if is_any_of(out, files):
        raise InputError("the predictions would overwrite an image", found=str(out), remedy=_REMEDY)


@final
class _Names:
    """Names of files: relative if the given path is relative."""

    def __init__(self, given: Sequence[Path]) -> None:
        self._given = {
            Path(os.path.abspath(path)): path  # noqa: PTH100 (links keep their names)
            for path in given
        }

    def of(self, path: Path) -> str:
        root = next((each for each in (path, *path.parents) if each in self._given), None)
        return str(path) if root is None else str(self._given[root] / path.relative_to(root))
