"""Import a taxonomy into a project: its new classes, or all changes since the last import."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from engine.errors import GraphError, ProjectDamagedError
from engine.graph.category_graph import ClassId
from engine.graph.edits import AttributesChanged, EdgeAdded
from engine.graph.group_edits import check_growth
from engine.interchange.detect import read_graph
from engine.interchange.imported import ImportedGraph, LeftOutGroup, left_out_groups
from engine.interchange.versions.plan import ImportPlan, ImportReport, import_report, plan_addition
from engine.interchange.versions.source_version import (
    SAME_SOURCE,
    SourceVersion,
    likely_base,
    unpacked,
    version_in,
)
from engine.interchange.versions.update import plan_update
from engine.project import Action, BackupReason, Change, Project
from engine.project.actions import Argument, action
from engine.texts import Message

SETTING = "imported taxonomies"  # number of stored parts of each imported taxonomy

# characters; a setting takes a million. WordNet's 82,115 classes make two parts
PART_LENGTH = 900_000
# classes that lock the class list. Chosen: shorter lists grow while labelling
LONG_LIST = 100


def known_sources(project: Project) -> list[SourceVersion]:
    """Last imported versions of taxonomies, as bases to compare next versions with.

    They are stored as settings, so that undo reverts them with the import.

    Raises:
        ProjectDamagedError: one of them cannot be read.
    """
    return [
        unpacked("".join(_part(project, number, part) for part in range(parts)))
        for number, parts in enumerate(_parts(project))
    ]


def remember(
    project: Project, version: SourceVersion, *, in_place_of: SourceVersion | None
) -> None:
    """Store a version of a source, replacing an earlier one; within an open step."""
    counts = _parts(project)
    number = len(counts) if in_place_of is None else known_sources(project).index(in_place_of)
    text = version.packed()
    parts = [text[start : start + PART_LENGTH] for start in range(0, len(text), PART_LENGTH)]
    before = counts[number] if number < len(counts) else 0
    for part in range(max(len(parts), before)):
        project.policies.set_setting(
            _name(number, part), parts[part] if part < len(parts) else None
        )
    project.policies.set_setting(SETTING, [*counts[:number], len(parts), *counts[number + 1 :]])


def _parts(project: Project) -> list[int]:
    found: list[int] = project.policies.setting(SETTING, [])
    return found


def _part(project: Project, number: int, part: int) -> str:
    found = project.policies.setting(_name(number, part))
    if not isinstance(found, str):
        raise ProjectDamagedError(
            "a part of the last version of an imported taxonomy is missing",
            found="{name} in {project_path}",
            remedy="open an earlier copy of the file, or restore a backup",
            name=_name(number, part),
            project_path=project.path,
        )
    return found


def _name(number: int, part: int) -> str:
    return f"imported taxonomy {number}.{part}"


@dataclass(frozen=True)
class GraphImport:
    """The result of an import."""

    change: Change  # one step
    classes_added: int
    edges_added: int
    aliases_added: int = 0  # classes that got a source id or synonyms
    notes_added: int = 0  # classes that got a note or a colour
    classes_removed: int = 0  # that are no longer in the source
    report: ImportReport | None = None  # of an update
    left_out: tuple[LeftOutGroup, ...] = ()  # what could not be imported
    stayed: tuple[str, ...] = ()  # classes that could not be merged or removed, with reasons


@dataclass(frozen=True)
class GraphPreview:
    """Preview of an import."""

    report: ImportReport  # complete, or with shortened lists
    known_name: str  # file or folder of an earlier imported version, or ""
    is_alike: bool  # whether the project's classes resemble an earlier version
    changes: bool  # whether the graph would change
    noted: int  # number of classes that would get a note or a colour
    gone_unlabelled: int  # number of classes without labels that are no longer in the source

    @property
    def is_known(self) -> bool:
        return bool(self.known_name)


def preview_import(
    project: Project, imported: ImportedGraph, name: str, *, updates: bool, most: int | None = None
) -> GraphPreview:
    """Plan an import and report it, with limited lists; nothing is written.

    Raises:
        GraphError: the source does not fit into this project.
    """
    known = likely_base(known_sources(project), imported)
    plan = _plan(project, imported, name, known, updates=updates)
    labels = project.labels.counts()
    return GraphPreview(
        report=import_report(project.classes.graph, imported, plan, labels, most=most),
        known_name="" if known is None else known.name,
        is_alike=known is not None or _looks_alike(project, imported),
        changes=plan.changes_graph,
        noted=len(plan.noted),
        gone_unlabelled=sum(each not in labels for each in plan.gone),
    )


def import_graph(
    project: Project,
    source: Path,
    *,
    graph_format: str = "auto",
    under: str | None = None,
    updates: bool = False,
    removes_gone: bool = False,
    read: ImportedGraph | None = None,
    columns: Mapping[str, str] | None = None,
) -> GraphImport:
    """Import a taxonomy into the project's graph: one action.

    Without `updates` only new classes are added, as by `merge_into`. With it the source is a new
    version of an earlier import: see `engine.interchange.versions.update`.

    Args:
        graph_format: one of `engine.interchange.detect.FORMATS`, or "auto".
        under: import only this class of the source and its descendants.
        updates: also rename, move and merge classes as in the source.
        removes_gone: with `updates`, remove classes without labels that are no longer in the
            source.
        read: the source, if it was read before.
        columns: names of columns by role, as chosen by a person.

    Raises:
        FormatError, GraphError, StorageError: the source cannot be used; nothing is changed.
    """
    imported = (
        read_graph(source, graph_format, under=under, columns=columns) if read is None else read
    )
    is_own = _is_own(project, imported)
    known = likely_base(known_sources(project), imported)
    plan = _plan(project, imported, source.name, known, updates=updates)
    report = (
        import_report(project.classes.graph, imported, plan, project.labels.counts())
        if updates
        else None
    )
    backup = BackupReason.MERGE if len(project.classes.graph) and plan.changes_graph else None
    removed, stayed = 0, list[str]()
    with project.history.one_step(backup=backup) as step:
        if plan.edits:
            project.classes.edit(lambda graph: graph.apply(plan.edits))
        for class_id, heir_id in plan.merged:
            stayed += _merge(project, class_id, heir_id)
        if removes_gone:
            removed, kept = _remove(project, plan.gone)
            stayed += kept
        if not is_own and (known is None or plan.version.classes != known.classes):
            remember(project, plan.version, in_place_of=known)
        step.action = _action(plan, source.name, removed)
        if step.action.code == "classes_imported" and _locks(project, plan):
            project.policies.lock(is_on=True)
            step.action = replace(
                step.action, arguments={**step.action.arguments, "limit": LONG_LIST}
            )
    return GraphImport(
        change=step.change,
        classes_added=len(plan.new),
        edges_added=sum(isinstance(edit, EdgeAdded) for edit in plan.edits),
        aliases_added=len(plan.completed),
        notes_added=len(plan.noted),
        classes_removed=removed,
        report=report,
        left_out=tuple(left_out_groups(imported.left_out)),
        stayed=tuple(stayed),
    )


def _plan(
    project: Project,
    imported: ImportedGraph,
    name: str,
    known: SourceVersion | None,
    *,
    updates: bool,
) -> ImportPlan:
    if updates and known is None and _looks_alike(project, imported):
        known = version_in(
            project.classes.graph
        )  # imported before the program remembered sources, or written by hand
    plan = (plan_update if updates else plan_addition)(project.classes.graph, imported, name, known)
    after = project.classes.graph.copy()
    with after.record() as edits:
        after.apply(plan.edits)
        check_growth(after, edits)
    return plan


def _is_own(project: Project, imported: ImportedGraph) -> bool:
    """Whether it is an export of this project, and no source."""
    here = project.classes.graph.by_identity()
    return sum(each in here for each in imported.identities.values()) >= SAME_SOURCE * len(
        imported.classes
    )


def _looks_alike(project: Project, imported: ImportedGraph) -> bool:
    return (
        _is_own(project, imported)
        or version_in(project.classes.graph).similarity(imported) >= SAME_SOURCE
    )


def _merge(project: Project, class_id: ClassId, heir_id: ClassId) -> list[str]:
    """Merge a class into its heir, which keeps its parents in the source; or return the reason."""
    path, parents = (
        project.classes.graph.path_text(class_id),
        project.classes.graph.parents(heir_id),
    )
    try:
        with project.history.one_step():
            project.classes.merge([class_id], heir_id)
            for parent_id in set(project.classes.graph.parents(heir_id)) - set(parents):
                project.classes.unlink([(parent_id, heir_id)])
    except GraphError as error:
        return [_stays(path, error.what)]
    return []


def _stays(path: str, reason: Message) -> str:
    return Message("{name}: {reason}", {"name": path, "reason": reason})


def _remove(project: Project, class_ids: Sequence[ClassId]) -> tuple[int, list[str]]:
    """Remove classes without labels, the deepest first; return count, and reasons for others."""
    removed, stayed, labels = 0, list[str](), project.labels.counts()
    for class_id in sorted(class_ids, key=project.classes.graph.level, reverse=True):
        path = project.classes.graph.path_text(class_id)
        if class_id in labels:
            stayed.append(_stays(path, Message("it has labels")))
            continue
        try:
            project.classes.remove([class_id])
            removed += 1
        except GraphError as error:
            stayed.append(_stays(path, error.what))
    return removed, stayed


def _action(plan: ImportPlan, name: str, removed: int) -> Action:
    if not (plan.changes_graph or removed):
        return action("source_remembered", source=name)
    if not (plan.merged or removed or plan.completed) and all(
        isinstance(each, AttributesChanged) for each in plan.edits
    ):
        return action("notes_imported", classes=len(plan.noted), source=name)
    if plan.is_update:
        return action("classes_updated", source=name, **_news(plan, removed))
    links = sum(isinstance(edit, EdgeAdded) for edit in plan.edits)
    if plan.new or not (links or plan.completed):
        return action("classes_imported", classes=len(plan.new), source=name)
    if links:
        return action("links_imported", parents=links, source=name)
    return action("synonyms_imported", classes=len(plan.completed), source=name)


def _locks(project: Project, plan: ImportPlan) -> bool:
    """Whether an import locks the class list: it is long, so that new classes are mostly typos."""
    return len(plan.new) > LONG_LIST and not project.policies.is_locked


def _news(plan: ImportPlan, removed: int) -> dict[str, Argument]:
    """Counts of an update; of synonyms only without other changes."""
    counts = {
        "new_classes": len(plan.new),
        "renamed": len(plan.renamed),
        "moved": len(plan.moved),
        "merged": len(plan.merged),
        "removed": removed,
    }
    return {name: count for name, count in counts.items() if count} or {
        "classes": len(plan.completed)
    }
