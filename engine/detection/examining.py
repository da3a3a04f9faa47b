"""Examine a file that may be a detector by running it; `examine` only under resource limits."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from engine.backbones.foreign_network import open_foreign
from engine.backbones.messages import TensorFacts, declared_facts
from engine.detection.category_names import names_in
from engine.detection.form_recognition import recognised
from engine.detection.letterbox import GREY
from engine.detection.messages import DetectorFacts, DetectorInput, ExamineDetector
from engine.detection.output_forms import CHOSEN_OF_BATCH, OutputForm, Size
from engine.detection.picture_input import fed, picture_input, trial_size, with_values
from engine.errors import ModelError
from engine.events import CancelToken
from engine.runtime.sessions import run_session
from engine.texts import Message
from engine.worker.limits import Limits, call_child, usual_limits

_TASK = "detect"


def examine_detector(
    path: Path,
    *,
    names: tuple[str, ...] = (),
    side: int = 0,
    value_scale: float = 0.0,
    limits: Limits | None = None,
    cancel: CancelToken | None = None,
) -> DetectorFacts:
    """Examine a file in a child process held to limits.

    Args:
        names: of its categories, instead of those in the file; see `read_names`.
        side: longest side of pictures where any size will do; 0 for the one that the file names, or
            the usual.
        value_scale: largest number of a pixel, such as 255; 0 for the usual, 1.

    Raises:
        ModelError: it is not a detector of a known form, and why.
        Cancelled: stopped by the person.
    """
    limits = limits or usual_limits().for_trial
    return call_child(
        ExamineDetector(path.absolute(), limits, names, side, value_scale), limits, cancel=cancel
    )


def examine(request: ExamineDetector) -> DetectorFacts:
    """Check whether a file is a detector, and describe it.

    Raises:
        ModelError: it is not a detector, and why.
    """
    network = open_foreign(request.path, most_bytes=request.limits.file_bytes)
    notes = network.structure.notes
    _check_task(notes)
    takes = picture_input(declared_facts(network.session.get_inputs()), notes, request.side)
    size = trial_size(takes)
    declared = declared_facts(network.session.get_outputs())
    names_of = [each.name for each in declared]
    values = _values(network.session, takes, size, names_of)
    outputs = [
        TensorFacts(each.name, each.kind, each.shape, np.shape(values[each.name]))
        for each in declared
        if isinstance(values[each.name], np.ndarray)
    ]
    names = request.names or names_in(notes)
    form = recognised(outputs, values, size, len(names))
    takes = replace(
        with_values(takes, form, request.value_scale),
        takes_batches=takes.takes_batches and _does_two(network.session, takes, size, form),
    )
    return DetectorFacts(request.path.name, network.size_bytes, takes, form, names)


def _check_task(notes: Mapping[str, str]) -> None:
    """Refuse networks of Ultralytics that give masks, poses or turned boxes."""
    task = notes.get("task", _TASK)
    if task != _TASK:
        raise ModelError(
            "this is not a detector",
            expected="a model for the task “detect”",
            found=Message("a model for the task “{task}”", {"task": task[:50]}),
            remedy="export a model that detects",
        )


def _values(
    session: Any, takes: DetectorInput, size: Size, names: Sequence[str], *, count: int = 1
) -> dict[str, Any]:
    """The outputs of these names for grey pictures."""
    grey = np.full((count, *size[::-1], 3), GREY, dtype=np.uint8)
    return dict(zip(names, run_session(session, fed(takes, grey), [*names]), strict=True))


def _does_two(session: Any, takes: DetectorInput, size: Size, form: OutputForm) -> bool:
    """Whether two pictures at once give what each gives; exports may fix one of them inside."""
    try:
        two = _values(session, takes, size, form.outputs, count=2)
    except ModelError:
        return False
    if form.kind == CHOSEN_OF_BATCH:
        return True
    one = _values(session, takes, size, form.outputs)
    return all(two[name].shape == (2, *one[name].shape[1:]) and len(one[name]) == 1 for name in one)
