"""An exported model that was opened to classify images: the folder is checked first, whoever made it."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from engine.collection.bundle.classes_file import NAME, ExportedClasses, read_classes
from engine.collection.bundle.classifier_graph import IMAGES
from engine.embedding.views import views_of_side
from engine.errors import FormatError, InputError, ModelError
from engine.everyday.classifier import COARSE, DISTANCE, PROBABILITIES
from engine.files import TooLargeError, open_regular, read_regular
from engine.graph.codes import NO_CLASS
from engine.interchange.predictions_file import PredictedRow
from engine.runtime.sessions import open_session, run_session

CLASSIFIER: Final = "classifier.onnx"
_EXPECTED: Final = f"a folder with {NAME} and {CLASSIFIER}, as `protoleaf export PROJECT model FOLDER` writes it"
_MOST_TEXT_BYTES: Final = 1 << 28
"""Of `classes.json`: a graph of a million classes takes less."""


@dataclass(frozen=True)
class ModelBundle:
    """An exported model; from several threads at once.

    Attributes:
        folder: where it lies.
        told: what `classes.json` says.
        session: `classifier.onnx`.
    """

    folder: Path
    contents: ExportedClasses
    session: Any

    def predict(self, image: str, data: bytes) -> PredictedRow:
        """Classify an image file's bytes; `image` is what the row calls it.

        Raises:
            ImageError: the bytes are no sound image.
            ModelError: the model fails.
        """
        framing = self.contents.framing
        views = views_of_side(data, framing.side, framing.resize_share, framing.views)
        names = [one.name for one in self.session.get_outputs()]
        found = dict(zip(names, run_session(self.session, {IMAGES: views[None]}, names), strict=True))
        return self._row(image, found)

    def _row(self, image: str, found: Mapping[str, NDArray[np.float32]]) -> PredictedRow:
        rules, probabilities = self.contents.back_off, found[PROBABILITIES]
        best = probabilities.argmax(axis=1)
        score = probabilities.max(axis=1)
        coarse = found.get(COARSE, np.zeros((1, 0), dtype=np.float32))
        safe, safe_score = rules.decide(best, score, coarse)
        is_unknown = bool(found[DISTANCE][0] > self.contents.unknown_distance)
        is_safe = int(safe[0]) != NO_CLASS and not is_unknown
        return PredictedRow(
            image,
            int(rules.candidate_ids[best[0]]),
            float(score[0]),
            int(safe[0]) if is_safe else None,
            float(safe_score[0]) if is_safe else 0.0,
            is_unknown,
        )


def open_bundle(folder: Path) -> ModelBundle:
    """Open an exported model.

    Raises:
        InputError: there is no such folder, or a file is missing from it.
        FormatError: `classes.json` is damaged, of a newer program, or of another model than `classifier.onnx`.
        ModelError: `classifier.onnx` cannot be opened, or does not fit `classes.json`.
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
        raise InputError("this is not an exported model", expected=_EXPECTED, found=found, folder=folder)
    missing = [name for name in (NAME, CLASSIFIER) if not (folder / name).is_file()]
    if missing:
        raise InputError(
            "this is not an exported model, or it is not whole",
            expected=_EXPECTED,
            found="no {missing} in {folder}",
            remedy="name the folder itself, or export the model again",
            missing=" and no ".join(missing),
            folder=folder,
        )
    try:
        return read_regular(folder / NAME, at_most=_MOST_TEXT_BYTES).decode()
    except TooLargeError as error:
        large = "{file} is too large to be that of an exported model"
        raise FormatError(large, found=str(folder / NAME), file=NAME) from error
    except OSError as error:
        raise InputError("the exported model cannot be read", found=f"{folder / NAME}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise FormatError(
            "{file} is no text", found=str(folder / NAME), remedy="export the model again", file=NAME
        ) from error


def _hash(path: Path) -> str:
    try:
        with open_regular(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError("the exported model cannot be read", found=f"{path}: {error.strerror}") from error


def _check_ends(session: Any, contents: ExportedClasses, path: Path) -> None:
    """Refuse a network of other inputs and outputs: it would fail at the first image, or answer for other classes."""
    side, views = contents.framing.side, contents.framing.views
    expected = {IMAGES: [views, side, side, 3], PROBABILITIES: [len(contents.back_off.candidate_ids)], DISTANCE: []}
    if len(contents.back_off.coarse_ids):
        expected[COARSE] = [len(contents.back_off.coarse_ids)]
    found = {one.name: list(one.shape)[1:] for one in (*session.get_inputs(), *session.get_outputs())}
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
    return ", ".join(f"{name} {shape}" for name, shape in sorted(ends.items()))
