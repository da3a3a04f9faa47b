"""What a report is made of: snapshots of an open project, taken quickly on its thread, safe to read on any other."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path

from engine.collection.audit_figures import AuditFigures, audit_figures
from engine.collection.classify import Classified, classified_of, classify
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
    """A project as of one moment."""

    path: Path
    made_at: datetime
    graph: CategoryGraph  # a copy
    state: CollectionState
    given: Sequence[tuple[str, date, int]]  # labels of each person on each day
    details: Sequence[ImageDetails]
    classified: Classified | None  # None before anything can be classified
    why_not: str  # then the reason; else ""
    version: str  # of the model in use, for people
    audits: tuple[AuditFigures, ...] = ()  # oldest first


@dataclass(frozen=True)
class RivalModel:
    """A model or setting with its predictions, to be compared with another."""

    name: str
    classified: Classified


def gather(live: LiveCollection) -> Material:
    """Take what a report needs from an open project, as of its last fit."""
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
    """Classify a project as it is set, without a window, and take what a report needs."""
    live = LiveCollection(project, caches, setting=setting)
    try:
        live.load()
        return gather(live)
    finally:
        live.embedded.close()


def version_name(version: ModelVersion) -> str:
    """What people call a model version."""
    return version.name or version.label


def rival_versions(
    project: Project, caches: CacheFolders, ids: Sequence[int]
) -> tuple[RivalModel, ...]:
    """Classify with some model versions, with one view each where they know different numbers of views.

    Raises:
        InputError: there is no such version, or nothing to classify.
        ModelError: the files of a version are gone.
    """
    versions = [project.models.version(each) for each in ids]
    runs = [classify(project, caches, version=version) for version in versions]
    if len({run.uses_views for run in runs}) > 1:
        runs = [
            classify(project, caches, version=version, with_views=False) for version in versions
        ]
    names = _distinct([version_name(version) for version in versions], ids)
    return tuple(RivalModel(name, run) for name, run in zip(names, runs, strict=True))


def rival_settings(
    project: Project, caches: CacheFolders, settings: Sequence[Setting]
) -> tuple[RivalModel, ...]:
    """Classify with some settings and the model version in use."""
    return tuple(
        RivalModel(setting.value, classify(project, caches, setting)) for setting in settings
    )


def _distinct(names: Sequence[str], ids: Sequence[int]) -> list[str]:
    twice = {name for name in names if names.count(name) > 1}
    return [
        f"{name} ({number})" if name in twice else name
        for name, number in zip(names, ids, strict=True)
    ]
