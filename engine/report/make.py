"""Computes the figures of a report, on any thread, with progress; can be cancelled."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from engine.collection.classify import Classified
from engine.collection.state import NO_CLASS, UNKNOWN, counts_of
from engine.evaluation.evaluate import match_truth
from engine.evaluation.judged import NOTHING_JUDGED, Judged, judge_held_out, judge_truth
from engine.events import CancelToken, OnProgress, ignore_progress, step_teller
from engine.report.accuracy import accuracy_of, calibration_of, compare, coverage_of
from engine.report.branch_tree import branch_tree
from engine.report.classes import class_figures
from engine.report.confusion import confusion_of
from engine.report.counting import counts_by, progress_of
from engine.report.figures import Report, ReportFacts, TruthSource
from engine.report.gather import Material, RivalModel
from engine.report.mistakes import mistakes_of
from engine.texts import marked

STEPS = (  # in this order
    marked("Counting images"),
    marked("Comparing with the truth"),
    marked("Figures by class"),
    marked("Comparing models"),
)
NO_LABELS_HELD_OUT = marked(
    "no label could be held out; classes need at least two labelled images each"
)


@dataclass(frozen=True)
class TruthFile:
    """Content of a truth file."""

    name: str
    answers: Mapping[str, int]  # class by image, `NO_CLASS` for none of the classes


def make_report(
    material: Material,
    truth: TruthFile | None = None,
    rivals: tuple[RivalModel, ...] = (),
    *,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> Report:
    """Compute the figures.

    Args:
        material: the project.
        truth: ground truth; by default the labels of people, held out.
        rivals: two models or settings to compare, or none.
        on_progress: reports the steps.
        cancel: stops between two steps.

    Raises:
        InputError: no image of the truth file is in the project, or an end of a path fits several.
        Cancelled: `cancel` was set.
    """
    report_step = step_teller(STEPS, on_progress, cancel)
    report_step(0)
    progress = progress_of(material.state, material.given)
    counts = counts_by(material.state, material.graph, material.details)
    report_step(1)
    about, judged = _compare_with_truth(material, truth)
    report_step(2)
    graph, state, classified = material.graph, material.state, material.classified
    is_free = state.label_class == NO_CLASS
    found = counts_of(np.where(is_free & ~state.is_unknown, state.best_class, NO_CLASS))
    labels = counts_of(state.label_class)
    ids = {*found, *labels, *judged.answers.tolist(), *judged.best.tolist()}
    ids.update(class_id for audit in material.audits for class_id, _estimate in audit.classes)
    tree = branch_tree(graph, ids)
    report = Report(about, tree, progress, counts, audits=material.audits)
    confusion = None
    if about.source is not TruthSource.NONE and classified is not None:
        confusion = confusion_of(tree, judged.image_ids, judged.answers, judged.predicted)
        report = replace(
            report,
            accuracy=accuracy_of(judged),
            calibration=calibration_of(judged),
            coverage=coverage_of(judged, classified.fitted.back_off),
            confusion=confusion,
            mistakes=mistakes_of(graph, confusion),
        )
    report = replace(report, classes=class_figures(graph, confusion, labels, found))
    report_step(3)
    if rivals:
        first, second = (_judge(material, each.classified, truth)[0] for each in rivals)
        names = rivals[0].name, rivals[1].name
        report = replace(report, comparison=compare(first, second, names))
    report_step(4)
    return report


def _compare_with_truth(material: Material, truth: TruthFile | None) -> tuple[ReportFacts, Judged]:
    """The description of the report, and the judged images."""
    classified, state = material.classified, material.state
    about = ReportFacts(
        project=material.path.stem,
        made_at=material.made_at,
        images=len(state.image_ids),
        classes=len(material.graph),
        model=state.model_name,
        version=material.version,
        setting="" if classified is None else classified.fitted.setting.value,
        uses_collection=classified is not None and classified.fitted.figures.uses_collection,
        truth_name="" if truth is None else truth.name,
        truth_rows=0 if truth is None else len(truth.answers),
        labels=0 if classified is None else len(classified.fitted.shots),
        why_nothing=material.why_not,
    )
    if classified is None:
        return about, NOTHING_JUDGED
    judged, not_found = _judge(material, classified, truth)
    is_in_graph = [  # classes may have been removed since the fit
        best in material.graph and (answer == UNKNOWN or answer in material.graph)
        for best, answer in zip(judged.best.tolist(), judged.answers.tolist(), strict=True)
    ]
    judged = judged.at(np.flatnonzero(is_in_graph))
    if truth is not None:
        return replace(about, source=TruthSource.FILE, not_found=not_found), judged
    if not len(judged.image_ids):
        return replace(about, why_nothing=NO_LABELS_HELD_OUT), judged
    return replace(about, source=TruthSource.HELD_OUT), judged


def _judge(
    material: Material, classified: Classified, truth: TruthFile | None
) -> tuple[Judged, int]:
    """Compare predictions with the truth file or the held-out labels; rows that match no image."""
    if truth is None:
        held_out = classified.fitted.held_out
        if held_out is None or not held_out.probabilities.size:
            return NOTHING_JUDGED, 0
        return judge_held_out(material.graph, classified.fitted, held_out), 0
    rows, answers, not_found = match_truth(material.path.parent, classified, truth.answers)
    return judge_truth(material.graph, classified, rows, answers), not_found
