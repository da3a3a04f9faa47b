"""Makes the figures of a report from what was gathered, on any thread, with progress and a way to stop."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from engine.collection.classify import Classified
from engine.collection.state import NO_CLASS, UNKNOWN, counts_of
from engine.errors import InputError
from engine.evaluation.evaluate import match_truth
from engine.events import CancelToken, OnProgress, ignore_progress, step_teller
from engine.report.accuracy import accuracy_of, calibration_of, coverage_of
from engine.report.branch_tree import branch_tree
from engine.report.classes import class_figures
from engine.report.comparing import compared
from engine.report.confusion import confusion_of
from engine.report.counting import counts_by, progress_of
from engine.report.figures import (
    CollectionCounts,
    ModelComparison,
    Report,
    ReportFacts,
    TruthSource,
    WorkProgress,
)
from engine.report.gather import Material, RivalModel
from engine.report.judged import NOTHING_JUDGED, Judged, judge_held_out, judge_truth
from engine.report.mistakes import mistakes_of
from engine.texts import marked

STEPS: Final = (  # in this order
    marked("Counting images"), marked("Comparing with the truth"),
    marked("Figures by class"), marked("Comparing models"),
)  # fmt: skip
NO_LABELS_HELD_OUT: Final = marked(
    "no label could be held out; classes need at least two labelled images each"
)


@dataclass(frozen=True)
class TruthFile:
    """A truth file that was read."""

    name: str
    answers: Mapping[str, int]  # class by image, `NO_CLASS` for none of the classes


@dataclass(frozen=True)
class ReportRequest:
    """What to report on."""

    truth: TruthFile | None = None  # by default the labels of people, held out
    groups: Mapping[int, int] | None = (
        None  # group of near-duplicates by image id; twins are not held out
    )
    rivals: tuple[RivalModel, RivalModel] | None = None  # to compare


@dataclass(frozen=True)
class _Truth:
    """Judged images, and what came of looking for them."""

    source: TruthSource
    judged: Judged | None = None
    twins: int = 0
    not_found: int = 0
    why_nothing: str = ""


def make_report(
    material: Material,
    wanted: ReportRequest = ReportRequest(),
    *,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> Report:
    """Make the figures.

    Raises:
        InputError: no image of the truth file is in the project, or an end of a path fits several.
        Cancelled: `cancel` was set.
    """
    tell = step_teller(STEPS, on_progress, cancel)
    tell(0)
    progress = progress_of(material.state, material.given)
    counts = counts_by(material.state, material.graph, material.details)
    tell(1)
    truth = _truth_of(material, wanted)
    tell(2)
    report = _report(
        material, truth, _about(material, wanted, truth), progress=progress, counts=counts
    )
    tell(3)
    if wanted.rivals is not None:
        report = replace(report, comparison=_comparison(material, wanted, wanted.rivals))
    tell(4)
    return report


def _truth_of(material: Material, wanted: ReportRequest) -> _Truth:
    classified = material.classified
    if classified is None:
        return _Truth(TruthSource.NONE, why_nothing=material.why_not)
    if wanted.truth is not None:
        judged, not_found = _by_file(material, classified, wanted.truth)
        judged = _in_graph(material, judged)
        return _Truth(TruthSource.FILE, judged, not_found=not_found)
    judged, twins = _held_out(material, classified, wanted)
    judged = _in_graph(material, judged)
    if not len(judged.image_ids):
        return _Truth(TruthSource.NONE, twins=twins, why_nothing=NO_LABELS_HELD_OUT)
    return _Truth(TruthSource.HELD_OUT, judged, twins)


def _in_graph(material: Material, judged: Judged) -> Judged:
    """Without images whose classes were removed since the fit."""
    graph = material.graph
    is_there = [
        best in graph and (answer == UNKNOWN or answer in graph)
        for best, answer in zip(judged.best.tolist(), judged.answers.tolist(), strict=True)
    ]
    return judged if all(is_there) else judged.at(np.flatnonzero(is_there))


def _by_file(material: Material, classified: Classified, truth: TruthFile) -> tuple[Judged, int]:
    rows, answers, not_found = match_truth(material.path.parent, classified, truth.answers)
    if not len(rows):
        raise InputError(
            "no image of the truth file has a prediction",
            expected="paths as in the project, or ends of them",
            found="{labels} rows, none matching an embedded image without a person's label",
            labels=len(truth.answers),
        )
    return judge_truth(material.graph, classified, rows, answers), not_found


def _held_out(
    material: Material, classified: Classified, wanted: ReportRequest
) -> tuple[Judged, int]:
    held_out = classified.fitted.held_out
    if held_out is None or not held_out.probabilities.size:
        return NOTHING_JUDGED, 0
    return judge_held_out(material.graph, classified.fitted, held_out, wanted.groups)


def _about(material: Material, wanted: ReportRequest, truth: _Truth) -> ReportFacts:
    classified, state = material.classified, material.state
    return ReportFacts(
        project=material.path.stem,
        made_at=material.made_at,
        images=len(state.image_ids),
        classes=len(material.graph),
        model=state.model_name,
        version=material.version,
        setting="" if classified is None else classified.fitted.setting.value,
        uses_collection=classified is not None and classified.fitted.figures.uses_collection,
        source=truth.source,
        truth_name="" if wanted.truth is None else wanted.truth.name,
        truth_rows=0 if wanted.truth is None else len(wanted.truth.answers),
        not_found=truth.not_found,
        labels=0 if classified is None else len(classified.fitted.shots),
        twins=truth.twins,
        why_nothing=truth.why_nothing,
    )


def _report(
    material: Material,
    truth: _Truth,
    about: ReportFacts,
    *,
    progress: WorkProgress,
    counts: CollectionCounts,
) -> Report:
    graph, state, judged = material.graph, material.state, truth.judged
    free = state.label_class == NO_CLASS
    found = counts_of(np.where(free & ~state.is_unknown, state.best_class, NO_CLASS))
    labels = counts_of(state.label_class)
    ids = (
        {*found, *labels}
        if judged is None
        else {*found, *labels, *judged.answers.tolist(), *judged.best.tolist()}
    )
    ids.update(class_id for audit in material.audits for class_id, _estimate in audit.classes)
    tree = branch_tree(graph, ids)
    if judged is None or material.classified is None:
        classes = class_figures(graph, None, labels, found)
        return Report(about, tree, progress, counts, classes=classes, audits=material.audits)
    confusion = confusion_of(tree, judged.image_ids, judged.answers, judged.predicted)
    return Report(
        about, tree, progress, counts,
        accuracy=accuracy_of(judged),
        calibration=calibration_of(judged),
        coverage=coverage_of(judged, material.classified.fitted.back_off),
        confusion=confusion,
        classes=class_figures(graph, confusion, labels, found),
        mistakes=mistakes_of(graph, confusion),
        audits=material.audits,
    )  # fmt: skip


def _comparison(
    material: Material, wanted: ReportRequest, rivals: tuple[RivalModel, RivalModel]
) -> ModelComparison:
    sides = []
    for rival in rivals:
        if wanted.truth is not None:
            sides.append(_by_file(material, rival.classified, wanted.truth)[0])
        else:
            sides.append(_held_out(material, rival.classified, wanted)[0])
    return compared(sides[0], sides[1], (rivals[0].name, rivals[1].name))
