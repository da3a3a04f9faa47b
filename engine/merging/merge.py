"""Merges another project as one undoable step; our labels win unless a preference is given."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from engine.collection.importing.match_images import FileContents, PermittedImages
from engine.events import CancelToken
from engine.files import FileFailure, FoundFile
from engine.merging.merge_plan import AbsentImage, CommentConflict, Conflict, MergePlan, Preference
from engine.merging.merged_classes import remember_merged
from engine.merging.planning import open_other, plan_merge
from engine.merging.settled import remember, take_theirs
from engine.project import BackupReason, Change, Project
from engine.project.actions import Argument, action
from engine.project.records import NewItem
from engine.texts import Message


@dataclass(frozen=True)
class Merge:
    """The result of a merge."""

    plan: MergePlan  # made before the merge
    conflicts: tuple[Conflict, ...]  # open now
    comments: tuple[CommentConflict, ...]  # open now
    change: Change  # the undoable step
    labelled: int
    classes_added: int
    images_added: int
    settled: int  # conflicts that were settled by preference
    refused: tuple[FileFailure, ...] = ()  # missing images that could not be added


def merge(
    project: Project,
    other: Path,
    *,
    adds_images: bool = False,
    prefer: Preference | None = None,
    contents: FileContents | None = None,
) -> Merge:
    """Merge another project as one undoable step, after a backup; see `plan_merge`.

    Args:
        adds_images: whether missing images are added, if their files are found and permitted.
        prefer: settles all open conflicts; by default they stay open, and our labels are kept.

    Raises:
        InputError, ProjectDamagedError, ...: see `open_other` and `plan_merge`; nothing is changed.
    """
    contents = contents or FileContents()
    with open_other(project.path, other) as theirs:
        plan = plan_merge(project, theirs, contents)
        files, refused = (
            images_on_disk(project, theirs.path, plan.missing, contents.cancel)
            if adds_images
            else ([], [])
        )
        if not (plan.has_news or files or (prefer and plan.conflicts)):
            nothing = Change(action("project_merged", source=other.name))
            return Merge(plan, plan.conflicts, plan.comments, nothing, 0, 0, 0, 0, tuple(refused))
        with project.history.one_step(backup=BackupReason.PROJECT) as step:
            if plan.classes.edits:
                project.classes.edit(lambda graph: graph.apply(plan.classes.edits))
            remember_merged(project, theirs.classes.graph, plan.classes.to_remember)
            added = len(project.images.add(files).images_added) if files else 0
            now = plan_merge(project, theirs, contents) if added else plan
            if now.new_parts:
                added += len(project.images.add(now.new_parts).images_added)
                now = plan_merge(project, theirs, contents)
            labelled = _add_annotations(project, now)
            settled = _settle_all(project, now.conflicts, prefer) if prefer else 0
            done = _some(
                labels=labelled,
                new_classes=len(plan.classes.new),
                images=added,
                notes=len(now.notes),
                values=len(now.fields.values),
            )
            step.action = action("project_merged", source=other.name, **done)
    return Merge(
        plan,
        () if prefer else now.conflicts,
        now.comments,
        step.change,
        labelled=labelled,
        classes_added=len(plan.classes.new),
        images_added=added,
        settled=settled,
        refused=tuple(refused),
    )


def _add_annotations(project: Project, plan: MergePlan) -> int:
    """Add labels, notes, audits, exclusions and values; return the number of labels."""
    project.notes.fill_in(plan.notes)
    labelled = len(project.labels.add_missing(plan.labels).labelled) if plan.labels else 0
    project.labels.add_confirmations(plan.confirmations)
    project.audits.add_missing(plan.audits)
    project.exclusions.add_missing(plan.exclusions)
    project.fields.add_missing(plan.fields.values, plan.fields.fields)
    return labelled


def _settle_all(project: Project, conflicts: Sequence[Conflict], prefer: Preference) -> int:
    for each in conflicts:
        is_newer = prefer is Preference.NEWER and each.theirs.when > each.ours.when
        if prefer is Preference.THEIRS or is_newer:
            take_theirs(project, each)
        else:
            remember(project, each)
    return len(conflicts)


def images_on_disk(
    project: Project,
    source: Path,
    missing: Sequence[AbsentImage],
    cancel: CancelToken | None = None,
) -> tuple[list[NewItem], list[FileFailure]]:
    """Missing images that may be added; refused ones with the reason; see `PermittedImages`."""
    permitted = PermittedImages(project, source)
    files, refused = [], []
    for each in missing:
        if cancel is not None:
            cancel.raise_if_cancelled()
        found = FoundFile.at(each.file)
        if found is None:
            refused.append(FileFailure(each.file, Message("it is not there")))
        elif found.size_bytes != each.size_bytes:
            refused.append(FileFailure(each.file, Message("its content has changed")))
        elif reason := permitted.refusal(each.file):
            refused.append(FileFailure(each.file, reason))
        else:
            files.append(
                NewItem(replace(found, path=each.file.absolute()), each.part, *each.origin)
            )
    return files, refused


def _some(**counts: int) -> dict[str, Argument]:
    return {name: count for name, count in counts.items() if count}
