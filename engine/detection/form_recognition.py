"""Recognise the form of a detector's outputs by names, types, shapes and values for one picture."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.backbones.messages import TensorFacts
from engine.detection.detections import COLUMNS
from engine.detection.output_forms import (
    APART,
    APART_IN_SHARES,
    BOX,
    CHOSEN,
    CHOSEN_IN_SHARES,
    CHOSEN_OF_BATCH,
    CLASS_COLUMNS,
    CLASS_ROWS,
    FORMS,
    OBJECTNESS_COLUMNS,
    OBJECTNESS_ROWS,
    QUERIES,
    QUERIES_WITH_NOTHING,
    OutputForm,
    Size,
    values_first,
)
from engine.errors import ModelError
from engine.texts import Message, enumerated, marked

Values = Mapping[str, NDArray[Any]]  # outputs for one picture, by name
_STRIDES = (4, 8, 16, 32, 64)  # pixels between the places of the grids that detectors have
_ANCHORS = (1, 3)  # boxes at each place: of YOLOv8, and of YOLOv5
_TENSORFLOW = ("detection_boxes", "detection_scores", "detection_classes")
_QUERY_NAMES = (("logits", "pred_boxes"), ("labels", "dets"))
_VECTORS = (1, 2)  # axes of scores, of one picture or of several
_MATRIX = 2  # axes of boxes of one picture
_CUBE = 3  # axes of boxes of several
_COLUMNS_OF_BATCH = 7  # of boxes with the number of their picture
_GRID_RANK = 5  # axes of a grid's own outputs, which some exports have besides the boxes
_EDGE_SHARE = 0.25
"""Of a side: boxes of a grid begin nearer to the edge. Chosen: by far, for coarse grids."""
_LARGEST_SHARE = 1.5  # of a box that exceeds the picture
_NAMES_REMEDY = marked("give the names of its categories in a text file, one a line")


def recognised(
    outputs: Sequence[TensorFacts], values: Values, size: Size, names: int
) -> OutputForm:
    """The form of a detector's outputs.

    Args:
        outputs: with the shapes that they have for one picture.
        values: for a picture without any thing.
        size: of that picture.
        names: of categories, how many are known; 0 where none is.

    Raises:
        ModelError: it has none of the known forms, or may have two.
    """
    by_name = {output.name: output for output in outputs}
    if [*_fitting(*map(by_name.get, _TENSORFLOW))]:
        return OutputForm(APART_IN_SHARES, _TENSORFLOW)
    for logits, boxes in _QUERY_NAMES:
        shapes = [by_name[name].observed for name in (logits, boxes) if name in by_name]
        if (
            len(shapes) == len((logits, boxes))
            and len(shapes[0]) == _CUBE
            and shapes[1] == (*shapes[0][:2], BOX)
        ):
            return _queries(values[logits], (logits, boxes), names)
    if apart := _apart(outputs):
        return OutputForm(APART, apart)
    rest = [output for output in outputs if len(output.observed) != _GRID_RANK]
    if len(rest) == 1 and (form := _single(rest[0], values, size, names)):
        return form
    raise ModelError(
        "the model's outputs have none of the known forms of detectors",
        expected=enumerated(Message(form.title) for form in FORMS.values()),
        found=_shapes(outputs),
        remedy="export it in one of these forms",
    )


def _shapes(outputs: Sequence[TensorFacts]) -> str:
    return enumerated(f"{each.name} {tuple(each.observed)}" for each in outputs)


def _queries(logits: NDArray[Any], names: tuple[str, str], known: int) -> OutputForm:
    """With the class "nothing" or without, by the number of names or an empty picture."""
    classes = logits.shape[-1]
    best, is_last = np.median(logits.max(axis=-1)), np.mean(logits.argmax(axis=-1) == classes - 1)
    with_nothing = OutputForm(QUERIES_WITH_NOTHING, names, classes - 1)
    without = OutputForm(QUERIES, names, classes)
    if known:
        chosen = {classes - 1: with_nothing, classes: without}.get(known)
        if chosen is None:
            raise wrong_names(known, f"{classes - 1} or {classes}")
        return chosen
    if best < 0:
        return without
    if is_last > 1 / 2:
        return with_nothing
    raise _ambiguous(with_nothing, without, logits.shape)


def wrong_names(known: int, expected: str) -> ModelError:
    """The error of names that are more or fewer than a detector's categories."""
    return ModelError(
        "the names do not fit the detector's categories",
        expected=expected,
        found="{count} names",
        remedy=_NAMES_REMEDY,
        count=known,
    )


def _ambiguous(first: OutputForm, second: OutputForm, shape: Sequence[int]) -> ModelError:
    return ModelError(
        "the model's outputs may have two forms",
        expected="{first}, or {second}",
        found=f"{tuple(shape)}",
        remedy=_NAMES_REMEDY,
        first=Message(FORMS[first.kind].title),
        second=Message(FORMS[second.kind].title),
    )


def _apart(outputs: Sequence[TensorFacts]) -> tuple[str, str, str] | None:
    """Names of boxes, scores and labels: by type and shape, else by words in their names."""
    whole = [each for each in outputs if "int" in each.kind and len(each.observed) in _VECTORS]
    real = [each for each in outputs if "float" in each.kind]
    of_labels = [
        (boxes, scores, labels)
        for labels in whole
        for scores in real
        for boxes in real
        if scores.observed == labels.observed and boxes.observed == (*labels.observed, BOX)
    ]
    if len(of_labels) != 1:
        named = [
            _only(outputs, words) for words in (("box",), ("score", "conf"), ("label", "class"))
        ]
        of_labels = list(_fitting(*named))
    return next(
        ((boxes.name, scores.name, labels.name) for boxes, scores, labels in of_labels), None
    )


def _fitting(
    boxes: TensorFacts | None, scores: TensorFacts | None, labels: TensorFacts | None
) -> Iterator[tuple[TensorFacts, TensorFacts, TensorFacts]]:
    if boxes and scores and labels:
        fits = boxes.observed == (*scores.observed, BOX) and scores.observed == labels.observed
        if fits and len(scores.observed) in _VECTORS:
            yield boxes, scores, labels


def _only(outputs: Sequence[TensorFacts], words: Sequence[str]) -> TensorFacts | None:
    named = [output for output in outputs if any(word in output.name.lower() for word in words)]
    return named[0] if len(named) == 1 else None


def _single(output: TensorFacts, values: Values, size: Size, names: int) -> OutputForm | None:
    """The form of boxes in one output; None where it has none of them."""
    shape = output.observed
    if len(shape) == _MATRIX and shape[1] in {COLUMNS, _COLUMNS_OF_BATCH}:
        return OutputForm(CHOSEN if shape[1] == COLUMNS else CHOSEN_OF_BATCH, (output.name,))
    if len(shape) != _CUBE or shape[0] != 1:
        return None
    prediction = values[output.name][0]
    is_chosen = shape[2] == COLUMNS
    pairs = [*_grids(shape, size)]
    fitting = [each for pair in pairs for each in pair if not names or each.categories == names]
    likely = [each for each in fitting if _is_grid(prediction, each, size)]
    if is_chosen and not likely:
        return OutputForm(CHOSEN_IN_SHARES if _is_in_shares(prediction) else CHOSEN, (output.name,))
    if not pairs:
        return None
    if not fitting:
        raise wrong_names(names, " or ".join(str(each.categories) for each in pairs[0]))
    if not likely:
        raise _no_pixels(prediction, fitting[0], size)
    if not names and len(usual := [each for each in likely if _is_usual(each, shape, size)]) == 1:
        likely = usual
    if len(likely) > 1:
        raise _ambiguous(likely[0], likely[1], shape)
    return replace(likely[0], outputs=(output.name,))


def _grids(shape: Sequence[int], size: Size) -> Iterator[tuple[OutputForm, OutputForm]]:
    """Forms of boxes on a grid, with and without objectness; none where no axis has its length."""
    lengths = _grid_lengths(size)
    _, rows, columns = shape
    if rows in lengths and columns > BOX + 1:
        categories = columns - BOX
        yield (
            OutputForm(OBJECTNESS_ROWS, (), categories - 1),
            OutputForm(CLASS_ROWS, (), categories),
        )
    if columns in lengths and rows > BOX + 1:
        categories = rows - BOX
        yield (
            OutputForm(CLASS_COLUMNS, (), categories),
            OutputForm(OBJECTNESS_COLUMNS, (), categories - 1),
        )


def _is_usual(form: OutputForm, shape: Sequence[int], size: Size) -> bool:
    """Whether it is that of YOLOv5, or of YOLOv8, by the boxes at each place."""
    lengths = _grid_lengths(size)
    if form.kind == OBJECTNESS_ROWS:
        return lengths[shape[1]] > 1
    return form.kind == CLASS_COLUMNS and lengths[shape[2]] == 1


def _grid_lengths(size: Size) -> dict[int, int]:
    """Lengths of grids of two or more strides, and the boxes at each cell."""
    counts = [math.prod(-(-side // stride) for side in size) for stride in _STRIDES]
    runs = [
        sum(counts[first:last])
        for first in range(len(counts))
        for last in range(first + 2, len(counts) + 1)
    ]
    return {anchors * length: anchors for anchors in reversed(_ANCHORS) for length in runs}


def _is_grid(prediction: NDArray[Any], form: OutputForm, size: Size) -> bool:
    """Whether the centres of boxes are spread over the input."""
    return all(
        low <= _EDGE_SHARE * side and (1 - _EDGE_SHARE) * side < high < (1 + _EDGE_SHARE) * side
        for (low, high), side in zip(_ranges(prediction, form), size, strict=True)
    )


def _ranges(prediction: NDArray[Any], form: OutputForm) -> list[tuple[float, float]]:
    """Least and largest column and row of a centre."""
    values = values_first(prediction, rows_first=form.kind in {OBJECTNESS_ROWS, CLASS_ROWS})
    return [(float(each.min()), float(each.max())) for each in values[:2]]


def _no_pixels(prediction: NDArray[Any], form: OutputForm, size: Size) -> ModelError:
    low, high = _ranges(prediction, form)[0]
    return ModelError(
        "the detector's boxes are not in pixels of its input",
        expected="centres from 0 to {side}",
        found="{low:.3g} to {high:.3g}",
        remedy="export it with its last step, which makes boxes of the grid",
        side=size[0],
        low=low,
        high=high,
    )


def _is_in_shares(rows: NDArray[Any]) -> bool:
    """Whether boxes are in shares of the picture; those in pixels are larger, or there are none."""
    return bool(0 < rows[:, :BOX].max(initial=0) <= _LARGEST_SHARE)
