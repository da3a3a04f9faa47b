"""Devices of this computer, results of the collection stage, and recommendations; without Qt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.runtime.devices.facts import AUTO, devices_of

if TYPE_CHECKING:  # lazy imports for a fast start
    from engine.collection.live import LiveCollection
    from engine.collection.recommendations import Recommendation
    from engine.everyday.classifier import CollectionFigures
    from engine.project import Change, Project
    from engine.runtime.providers import DeviceList, ProviderReport

CPU = "cpu"
RECOMMENDED_ACTIONS: Mapping[str, tuple[str, ...]] = {
    "label_others": ("show_to_review", "order_teach_first"),
    "accurate_backbone": ("choose_backbone",),
    "train_backbone": ("train_backbone",),
}
"""Actions for kinds of recommendations, the last one named on the button; default: show classes."""
_ORDER = (AUTO, CPU, "cuda", "directml", "coreml", "tensorrt")


@dataclass(frozen=True)
class Survey:
    """Results of testing the devices of this computer."""

    reports: Mapping[str, ProviderReport]  # by device
    auto_name: str  # display name of the device of "Automatic"
    auto_reason: str = ""  # why it is not a GPU; "" if it is
    was_alone: bool = True  # measured without other jobs running

    @staticmethod
    def of_list(devices: DeviceList, *, was_alone: bool = True) -> Survey:
        reports = {report.device: report for report in devices.reports}
        return Survey(reports, devices.name, devices.reason, was_alone)


def listed_devices(system_devices: Sequence[str] | None = None) -> tuple[str, ...]:
    """Devices to choose among, in a fixed order."""
    there = {AUTO, *(devices_of() if system_devices is None else system_devices)}
    return tuple(device for device in _ORDER if device in there)


def is_choosable(device: str, survey: Survey | None) -> bool:
    """Whether a device can be chosen; a GPU only once it is known to work."""
    if device in (AUTO, CPU):
        return True
    report = None if survey is None else survey.reports.get(device)
    return report is not None and report.works


def first_with_reason(device: str, survey: Survey) -> str:
    """First listed device that is unavailable for the same reason."""
    reason = survey.reports[device].reason
    same = [name for name, report in survey.reports.items() if report.reason == reason]
    return next(name for name in _ORDER if name in same)


@dataclass(frozen=True)
class CollectionFacts:
    """Setting and evaluation of the collection stage in the open project."""

    is_on: bool  # project setting
    is_fitted: bool = False  # whether there is a model
    figures: CollectionFigures | None = None  # on held-out shots; None if not evaluated
    recommendations: tuple[Recommendation, ...] = ()  # most helpful first


def collection_facts(live: LiveCollection) -> CollectionFacts:
    """State of the collection stage in a project; called on the project thread."""
    from engine.collection.fitting import is_stage_on
    from engine.collection.recommendations import recommendations_of

    is_on, fitted = is_stage_on(live.project), live.fitted
    if fitted is None or len(fitted.candidate_ids) == 0:
        return CollectionFacts(is_on)
    return CollectionFacts(is_on, True, fitted.figures.collection, recommendations_of(live))


def switch_collection(project: Project, *, is_on: bool) -> Change:
    """Set the project's collection stage; called on the project thread."""
    from engine.collection.fitting import switch_stage

    return switch_stage(project, is_on=is_on)
