"""The forms in which detectors give their boxes, and how each is read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Floats
from engine.detection.detections import COLUMNS, SCORE, Candidates, best_first, without_overlaps
from engine.errors import ModelError
from engine.file_parts import MOST_BOXES
from engine.texts import Message, enumerated, marked

Size = tuple[int, int]  # width and height of the network's input
Outputs = Sequence[NDArray[Any]]
Decode = Callable[[Outputs, int, Size, float], list[Candidates]]
"""From outputs, number of pictures, input size and least score to candidates of each picture."""
BOX = 4  # numbers of a box
OBJECTNESS_ROWS = "objectness rows"
OBJECTNESS_COLUMNS = "objectness columns"
CLASS_ROWS = "class rows"
CLASS_COLUMNS = "class columns"
CHOSEN = "chosen"
CHOSEN_IN_SHARES = "chosen in shares"
CHOSEN_OF_BATCH = "chosen of batch"
APART = "apart"
APART_IN_SHARES = "apart in shares"
QUERIES = "queries"
QUERIES_WITH_NOTHING = "queries with nothing"
_TOLERANCE = 1e-3  # of scores beyond 0 and 1, as half precision rounds


@dataclass(frozen=True)
class KnownForm:
    """One of the forms.

    Attributes:
        title: whose form it is, and its shape, for people.
        needs_suppression: whether boxes of one thing are still to be reduced to the best of them.
    """

    title: str
    decode: Decode
    needs_suppression: bool = False


@dataclass(frozen=True)
class OutputForm:
    """How a detector's outputs hold its boxes."""

    kind: str  # a key of `FORMS`
    outputs: tuple[str, ...]  # names of those that are read, in the order of `FORMS`
    categories: int = 0  # 0 where the outputs do not tell how many there are


def decoded(
    form: OutputForm, outputs: Outputs, *, count: int, size: Size, least: float
) -> list[Candidates]:
    """At most `MOST_BOXES` candidates of each picture, the best first.

    Args:
        count: of pictures.
        size: of the input.
        least: score of a candidate.

    Raises:
        ModelError: the outputs hold values that are NaN, scores outside [0, 1], or have
            another shape.
    """
    if any(np.isnan(output).any() for output in outputs if output.dtype.kind == "f"):
        raise _no_numbers()
    known = FORMS[form.kind]
    try:
        found = known.decode(outputs, count, size, least)
    except (ValueError, IndexError) as error:
        raise ModelError(
            "the detector's outputs have another form than in its trial",
            expected=Message(known.title),
            found=enumerated(str(output.shape) for output in outputs),
        ) from error
    choose = without_overlaps if known.needs_suppression else best_first
    return [choose(_checked(candidates), MOST_BOXES) for candidates in found]


def _no_numbers() -> ModelError:
    return ModelError("the detector gives values that are not numbers", remedy="export it again")


def _checked(candidates: Candidates) -> Candidates:
    if not np.isfinite(candidates[:, SCORE:]).all():
        raise _no_numbers()
    highest = float(candidates[:, SCORE].max(initial=0))
    if highest > 1 + _TOLERANCE:
        raise ModelError(
            "the detector's scores cannot be used",
            expected="numbers from 0 to 1",
            found=f"{highest:g}",
            remedy="export it with its last step, which makes scores of them",
        )
    return candidates


def values_first(prediction: NDArray[Any], *, rows_first: bool) -> NDArray[Any]:
    """A grid's prediction for one picture as (values, n)."""
    return prediction.T if rows_first else prediction


def _grid(
    outputs: Outputs,
    _count: int,
    _size: Size,
    least: float,
    *,
    rows_first: bool,
    has_objectness: bool,
) -> list[Candidates]:
    """Centre, width and height of a box for each place of a grid, then scores of the classes."""
    found = []
    for prediction in outputs[0]:
        values = values_first(prediction, rows_first=rows_first)
        if has_objectness:
            values = values[:, values[BOX] >= least]
            scores = values[BOX + 1 :] * values[BOX]
        else:
            scores = values[BOX:]
        best = scores.max(axis=0, initial=0)
        is_found = best >= least
        boxes = _edges(values[:BOX, is_found].T)
        found.append(_candidates(boxes, best[is_found], scores[:, is_found].argmax(axis=0)))
    return found


def _edges(boxes: NDArray[Any]) -> NDArray[Any]:
    """Left, top, right and lower edge of boxes (n, 4) given by centre, width and height."""
    half = boxes[:, 2:] / 2
    return np.concatenate([boxes[:, :2] - half, boxes[:, :2] + half], axis=1)


def _candidates(boxes: NDArray[Any], scores: NDArray[Any], categories: NDArray[Any]) -> Candidates:
    columns = np.column_stack([boxes.reshape(-1, BOX), scores, categories])
    return np.ascontiguousarray(columns, dtype=np.float32).reshape(-1, COLUMNS)


def _chosen(outputs: Outputs, count: int, _size: Size, least: float) -> list[Candidates]:
    """Edges, score and class of each box, (n, 6), or (pictures, n, 6)."""
    rows = outputs[0].reshape(count, -1, COLUMNS)
    return [
        _candidates(each[:, :BOX], each[:, 4], each[:, 5])[each[:, 4] >= least] for each in rows
    ]


def _chosen_in_shares(outputs: Outputs, _count: int, size: Size, least: float) -> list[Candidates]:
    """Centre, width, height, score and class of each box, (pictures, n, 6), in shares."""
    found = []
    for every in outputs[0]:
        rows = every[every[:, 4] >= least]
        edges = _edges(rows[:, :BOX] * np.array([*size, *size]))
        found.append(_candidates(edges, rows[:, 4], rows[:, 5]))
    return found


def _chosen_of_batch(outputs: Outputs, count: int, _size: Size, least: float) -> list[Candidates]:
    """Picture, edges, class and score of each box, (n, 7)."""
    rows = outputs[0][outputs[0][:, 6] >= least]
    of_picture = (rows[rows[:, 0] == number] for number in range(count))
    return [_candidates(each[:, 1:5], each[:, 6], each[:, 5]) for each in of_picture]


def _apart(
    outputs: Outputs, count: int, size: Size, least: float, *, in_shares: bool
) -> list[Candidates]:
    """Boxes, scores and classes in outputs of their own, for one picture or each of several.

    In shares as TensorFlow has them: upper, left, lower and right edge.
    """
    boxes, scores, categories = (output.reshape(count, -1) for output in outputs)
    found = []
    for edges, score, category in zip(
        boxes.reshape(count, -1, BOX), scores, categories, strict=True
    ):
        is_found = score >= least
        chosen = edges[is_found]
        if in_shares:
            chosen = chosen[:, [1, 0, 3, 2]] * np.array([*size, *size])
        found.append(_candidates(chosen, score[is_found], category[is_found]))
    return found


def _queries(
    outputs: Outputs, _count: int, size: Size, least: float, *, with_nothing: bool
) -> list[Candidates]:
    """Scores of classes before the last step, and boxes by centre, width and height in shares.

    With the class "nothing" as the last, scores of a query sum to 1.
    """
    found = []
    for logits, boxes in zip(outputs[0].astype(np.float32), outputs[1], strict=True):
        scores = _softmax(logits)[:, :-1] if with_nothing else _sigmoid(logits)
        best = scores.max(axis=1, initial=0)
        is_found = best >= least
        edges = _edges(boxes[is_found] * np.array([*size, *size]))
        found.append(_candidates(edges, best[is_found], scores[is_found].argmax(axis=1)))
    return found


def _softmax(logits: Floats) -> Floats:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    scores: Floats = powers / powers.sum(axis=1, keepdims=True)
    return scores


def _sigmoid(logits: Floats) -> Floats:
    scores = (np.tanh(logits / 2) + 1) / 2  # where exp would overflow
    return scores.astype(np.float32, copy=False)


def _grid_form(title: str, *, rows_first: bool, has_objectness: bool) -> KnownForm:
    decode = partial(_grid, rows_first=rows_first, has_objectness=has_objectness)
    return KnownForm(title, decode, needs_suppression=True)


FORMS: Mapping[str, KnownForm] = {
    OBJECTNESS_ROWS: _grid_form(
        marked("YOLOv5 and MegaDetector: (images, n, 5 + classes)"),
        rows_first=True,
        has_objectness=True,
    ),
    OBJECTNESS_COLUMNS: _grid_form(
        marked("YOLOv5, turned: (images, 5 + classes, n)"), rows_first=False, has_objectness=True
    ),
    CLASS_COLUMNS: _grid_form(
        marked("YOLOv8 and later: (images, 4 + classes, n)"), rows_first=False, has_objectness=False
    ),
    CLASS_ROWS: _grid_form(
        marked("YOLOv8, turned: (images, n, 4 + classes)"), rows_first=True, has_objectness=False
    ),
    CHOSEN: KnownForm(
        marked("with non-maximum suppression built in: (n, 6) or (images, n, 6)"), _chosen
    ),
    CHOSEN_IN_SHARES: KnownForm(
        marked("RT-DETR of Ultralytics: (images, n, 6), in shares"), _chosen_in_shares
    ),
    CHOSEN_OF_BATCH: KnownForm(
        marked("with non-maximum suppression built in, YOLOv7: (n, 7)"), _chosen_of_batch
    ),
    APART: KnownForm(
        marked("torchvision and RT-DETR: boxes, scores and labels"),
        partial(_apart, in_shares=False),
    ),
    APART_IN_SHARES: KnownForm(
        marked("TensorFlow: detection_boxes, detection_scores and detection_classes"),
        partial(_apart, in_shares=True),
    ),
    QUERIES_WITH_NOTHING: KnownForm(
        marked("DETR: logits with a last class for nothing, and pred_boxes"),
        partial(_queries, with_nothing=True),
    ),
    QUERIES: KnownForm(
        marked("RT-DETR and RF-DETR: logits or labels, and pred_boxes or dets"),
        partial(_queries, with_nothing=False),
    ),
}
"""All known forms."""
