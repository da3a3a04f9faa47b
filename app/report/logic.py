"""Logic of the report page, without Qt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from engine.everyday.classifier import Setting
from engine.report.document import Document
from engine.report.figures import Report
from engine.report.gather import Material, RivalModel, gather, rival_settings, rival_versions
from engine.report.make import TruthFile, make_report
from engine.report.wording import document_of
from engine.report.write import check_target, write_report

if TYPE_CHECKING:
    from engine.collection.live import LiveCollection
    from engine.config import CacheFolders
    from engine.events import CancelToken, OnProgress
    from engine.project import Change


@dataclass(frozen=True)
class ReportChoice:
    """Options of a report."""

    truth: Path | None = None  # None for held-out labels
    rival_setting: Setting | None = None  # classifier to compare with the current one
    rival_version: int | None = None


@dataclass(frozen=True)
class Gathered:
    """Input of a report: data of the project and its model versions."""

    material: Material
    setting: Setting
    version_id: int
    versions: Mapping[int, str]  # names by id, without the current version


@dataclass(frozen=True)
class Made:
    """A finished report with its document, options and input."""

    report: Report
    document: Document
    choice: ReportChoice
    gathered: Gathered


@dataclass(frozen=True)
class Stale:
    """Changes since a report was made."""

    labels: int = 0
    has_other: bool = False

    @property
    def is_stale(self) -> bool:
        return bool(self.labels) or self.has_other

    def after(self, change: Change) -> Stale:
        """Add a change; notes and display settings do not count."""
        has_other = bool(
            change.graph_edits
            or change.images_added
            or change.images_removed
            or change.settings
            or change.policies
        )
        return replace(
            self, labels=self.labels + len(change.labelled), has_other=self.has_other or has_other
        )


def gather_all(live: LiveCollection, *, waits: bool) -> Gathered | None:
    """Gather the input on the project thread; None if `waits` and predictions are outdated."""
    if waits and (live.state.is_list_only or live.is_behind):
        return None
    from engine.collection.fitting import setting_of
    from engine.report.gather import version_name

    models = live.project.models
    current = models.current.version_id
    others = {
        each.version_id: version_name(each)
        for each in models.versions()
        if each.version_id != current
    }
    return Gathered(gather(live), setting_of(live.project), current, others)


def make(
    gathered: Gathered,
    choice: ReportChoice,
    caches: CacheFolders,
    on_progress: OnProgress,
    cancel: CancelToken,
) -> Made:
    """Make a report; runs on a background thread."""
    material = gathered.material
    truth = None if choice.truth is None else _read(choice.truth, material)
    rivals = _rivals(gathered, choice, caches) if material.classified is not None else ()
    cancel.raise_if_cancelled()
    report = make_report(material, truth, rivals, on_progress=on_progress, cancel=cancel)
    if report.confusion is not None:
        # Computed and cached here, so that the GUI thread does not have to.
        report.confusion.folded(report.confusion.first_cut())
    return Made(report, document_of(report), choice, gathered)


def _read(path: Path, material: Material) -> TruthFile:
    from engine.evaluation.truth_file import read_truth

    return TruthFile(path.name, read_truth(path, material.graph))


def _rivals(
    gathered: Gathered, choice: ReportChoice, caches: CacheFolders
) -> tuple[RivalModel, ...]:
    """The current model and the one it is compared with, from the project on disk."""
    from engine.project import Project

    if choice.rival_setting is None and choice.rival_version is None:
        return ()
    with Project.open(gathered.material.path, for_writing=False) as project:
        if choice.rival_version is not None:
            return rival_versions(project, caches, (gathered.version_id, choice.rival_version))
        assert choice.rival_setting is not None, "one of them is chosen"
        return rival_settings(project, caches, (gathered.setting, choice.rival_setting))


def save(made: Made, out: Path, cancel: CancelToken) -> Path:
    """Write a report to a path; an existing file is overwritten, as the save dialog confirmed."""
    from engine.project import Project

    with Project.open(made.gathered.material.path, for_writing=False) as project:
        check_target(out, project, is_overwriting=True)
    write_report(made.document, out, cancel)
    return out


def with_suffix(out: Path, kind: str, filters: Mapping[str, str]) -> Path:
    """The path with the suffix of the chosen kind, unless it already has a known suffix."""
    if out.suffix.lower() in filters:
        return out
    suffix = next((suffix for suffix, text in filters.items() if text == kind), ".html")
    return out.with_name(out.name + suffix)
