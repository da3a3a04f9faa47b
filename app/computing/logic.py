"""Devices of this computer, figures of the collection stage, and what would help, without Qt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from engine.runtime.devices.facts import AUTO, devices_of

if TYPE_CHECKING:  # the window shows first
    from engine.collection.live import LiveCollection
    from engine.collection.recommendations import Recommendation
    from engine.everyday.classifier import CollectionFigures
    from engine.project import Change, Project
    from engine.runtime.providers import DeviceList, ProviderReport

CPU: Final = "cpu"
RECOMMENDED_ACTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "label_others": ("show_to_review", "order_teach_first"),
    "accurate_backbone": ("choose_backbone",),
    "train_backbone": ("train_backbone",),
}
"""What leads to what is recommended, by its kind; the last one is named. Without any its classes are shown."""
_ORDER: Final = (AUTO, CPU, "cuda", "directml", "coreml", "tensorrt")


@dataclass(frozen=True)
class Survey:
    """Results of testing the devices of this computer."""

    reports: Mapping[str, ProviderReport]  # by device
    auto_name: str  # device of "Automatic", for people
    auto_reason: str = ""  # why that is not a GPU; empty when it is one
    was_alone: bool = True  # no other work slowed the measurement down

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
    """The first listed device that is refused for the same reason."""
    reason = survey.reports[device].reason
    same = [name for name, report in survey.reports.items() if report.reason == reason]
    return next(name for name in _ORDER if name in same)


@dataclass(frozen=True)
class CollectionFacts:
    """Benefit of the collection stage in the open project."""

    is_on: bool  # the project's setting
    is_fitted: bool = False  # whether there is a model
    figures: CollectionFigures | None = None  # on held-out shots; None where not evaluated
    recommendations: tuple[Recommendation, ...] = ()  # what would help most


def collection_facts(live: LiveCollection) -> CollectionFacts:
    """On the project thread."""
    from engine.collection.fitting import is_stage_on
    from engine.collection.recommendations import recommendations_of

    is_on, fitted = is_stage_on(live.project), live.fitted
    if fitted is None or len(fitted.candidate_ids) == 0:
        return CollectionFacts(is_on)
    return CollectionFacts(is_on, True, fitted.figures.collection, recommendations_of(live))


def switch_collection(project: Project, *, is_on: bool) -> Change:
    """On the project thread."""
    from engine.collection.fitting import switch_stage

    return switch_stage(project, is_on=is_on)
