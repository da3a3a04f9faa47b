"""What the panel "Performance" shows, without Qt: devices of this computer, and what the collection stage is worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from engine.runtime.devices.facts import AUTO, devices_of

if TYPE_CHECKING:  # the window shows first
    from engine.collection.live import LiveCollection
    from engine.everyday.classifier import CollectionFigures
    from engine.project import Change, Project
    from engine.runtime.providers import DeviceList, ProviderReport

CPU: Final = "cpu"
ON_DEMAND: Final = "on_demand"  # the doctor's cause for a device that is there and is not tried by itself

_ORDER: Final = (AUTO, CPU, "cuda", "directml", "coreml", "tensorrt")


@dataclass(frozen=True)
class DeviceReport:
    """What trying one device showed."""

    device: str  # "cpu", "cuda", ...
    name: str  # for people: "NVIDIA H200"; empty when there is none
    works: bool  # whether it ran and gave the right numbers
    cause: str = ""  # short name of why not
    reason: str = ""
    remedy: str = ""
    images_per_s: float | None = None  # of the bundled backbone alone; None when it was not measured

    @property
    def is_usable(self) -> bool:
        return self.works or self.cause == ON_DEMAND

    @staticmethod
    def of_provider(report: ProviderReport) -> DeviceReport:
        return DeviceReport(
            device=report.device,
            name=report.device_name,
            works=report.works,
            cause=report.cause,
            reason=report.reason,
            remedy=report.remedy,
            images_per_s=report.speed.get("images_per_s"),
        )


@dataclass(frozen=True)
class Survey:
    """What trying the devices of this computer showed."""

    reports: Mapping[str, DeviceReport]  # by device
    auto_name: str  # what "Automatic" takes, for people
    auto_reason: str = ""  # why that is not a GPU; empty when it is one
    was_alone: bool = True  # no other work slowed the measurement down

    @staticmethod
    def of_list(devices: DeviceList, *, was_alone: bool = True) -> Survey:
        reports = [DeviceReport.of_provider(report) for report in devices.reports]
        return Survey({report.device: report for report in reports}, devices.name, devices.reason, was_alone)


def listed_devices(system_devices: Sequence[str] | None = None) -> tuple[str, ...]:
    """Devices to choose among, the same order on every computer: automatic, CPU, then what may be there."""
    there = {AUTO, *(devices_of() if system_devices is None else system_devices)}
    return tuple(device for device in _ORDER if device in there)


def is_choosable(device: str, survey: Survey | None) -> bool:
    """Whether a person can choose a device; of those that may not be there only once they were found to work."""
    if device in (AUTO, CPU):
        return True
    report = None if survey is None else survey.reports.get(device)
    return report is not None and report.is_usable


def first_with_reason(device: str, survey: Survey) -> str:
    """The first listed device that is refused for the same reason: it is told once."""
    reason = survey.reports[device].reason
    same = [name for name, report in survey.reports.items() if report.reason == reason]
    return next(name for name in _ORDER if name in same)


@dataclass(frozen=True)
class CollectionFacts:
    """What the collection stage is worth in the open project."""

    is_on: bool  # the project's setting
    is_fitted: bool = False  # there is a model at all
    figures: CollectionFigures | None = None  # how the stage did on held-out shots; None where it was not asked


def collection_facts(live: LiveCollection) -> CollectionFacts:
    """Ask the collection; on the project thread."""
    from engine.collection.fitting import is_stage_on

    is_on, fitted = is_stage_on(live.project), live.fitted
    if fitted is None or len(fitted.candidate_ids) == 0:
        return CollectionFacts(is_on)
    return CollectionFacts(is_on, True, fitted.figures.collection)


def switch_collection(project: Project, *, is_on: bool) -> Change:
    """Change the project's setting; on the project thread."""
    from engine.collection.fitting import switch_stage

    return switch_stage(project, is_on=is_on)
