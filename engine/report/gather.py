"""Input of a report: snapshots of an open project, taken quickly on its thread, for any thread."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path

from engine.collection.audit_figures import AuditFigures, audit_figures
from engine.collection.classify import Classified, classified_of, classify_project
from engine.collection.live import LiveCollection
from engine.collection.state import CollectionState
from engine.config import CacheFolders
from engine.errors import InputError
from engine.everyday.classifier import Setting
from engine.graph.category_graph import CategoryGraph
from engine.project import ModelVersion, Project
from engine.project.clock import present_time
from engine.project.records import ImageDetails


@dataclass(frozen=True)
class Material:
    """Snapshot of a project."""

    path: Path
    made_at: datetime
    graph: CategoryGraph  # a copy
    state: CollectionState
    given: Sequence[tuple[str, date, int]]  # number of labels by person and day
    details: Sequence[ImageDetails]
    classified: Classified | None  # None while nothing can be classified
    why_not: str  # the reason then; else ""
    version: str  # displayed name of the current model version
    audits: tuple[AuditFigures, ...] = ()  # oldest first


@dataclass(frozen=True)
class RivalModel:
    """A model or setting to compare, with its predictions."""

    name: str
    classified: Classified


def gather(live: LiveCollection) -> Material:
    """Take a snapshot of an open project, as of its last fit."""
    project, classified, why_not = live.project, None, ""
    try:
        classified = classified_of(live)
    except InputError as error:
        why_not = error.what
    return Material(
        project.path,
        present_time(),
        project.classes.graph.copy(),
        live.state,
        project.labels.by_person_and_day(),
        list(project.details.each()),
        classified,
        why_not,
        version_name(project.models.current),
        audit_figures(project),
    )


def gather_from(project: Project, caches: CacheFolders, setting: Setting | None = None) -> Material:
    """Classify a project without a window, by default with its own setting, for a snapshot."""
    live = LiveCollection(project, caches, setting=setting)
    try:
        live.load()
        return gather(live)
    finally:
        live.embedded.close()


def version_name(version: ModelVersion) -> str:
    """The displayed name of a model version."""
    return version.name or version.label


def rival_versions(
    project: Project, caches: CacheFolders, ids: Sequence[int]
) -> tuple[RivalModel, ...]:
    """Classify with several model versions, with one view if not all of them use several.

    Raises:
        InputError: there is no such version, or nothing to classify.
        ModelError: the files of a version are missing.
    """
    versions = [project.models.version(each) for each in ids]
    runs = [classify_project(project, caches, version=version) for version in versions]
    if len({run.uses_views for run in runs}) > 1:
        runs = [
            classify_project(project, caches, version=version, with_views=False)
            for version in versions
        ]
    names = [version_name(version) for version in versions]
    return tuple(
        RivalModel(f"{name} ({number})" if names.count(name) > 1 else name, run)
        for name, number, run in zip(names, ids, runs, strict=True)
    )


def rival_settings(
    project: Project, caches: CacheFolders, settings: Sequence[Setting]
) -> tuple[RivalModel, ...]:
    """Classify with several settings and the current model version."""
    return tuple(
        RivalModel(setting.value, classify_project(project, caches, setting))
        for setting in settings
    )
