"""Moved images in words, in the person's language and number format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from app.texts import fill, plural, tr
from app.wording import SEPARATOR, images, number

if TYPE_CHECKING:
    from engine.collection.relink.records import FolderCheck, RelinkPlan
    from engine.events import Progress

EXAMPLES: Final = 3


def missing_line(count: int) -> str:
    return plural(count, "1 image is missing.", "%n images are missing.")


def progress_line(progress: Progress) -> str:
    """What is being done, and how far it is."""
    match progress.unit:
        case "images":
            doing = tr("Checking which images are missing")
        case "files":
            doing = tr("Searching folders")
        case _:
            doing = tr("Comparing contents")
    if not progress.done:
        return doing
    done = number(progress.done)
    if progress.total:
        done = tr("%1 of %2", done, number(progress.total))
    return SEPARATOR.join((doing, done))


def verdict(plan: RelinkPlan) -> str:
    if not plan.searched:
        return tr("No image is missing.")
    if not plan.moves:
        return tr("None of them was found there.")
    return tr("%1 of %2 found", number(len(plan.moves)), number(plan.searched))


def way_lines(plan: RelinkPlan) -> tuple[str, ...]:
    """How they were found: `1,190 by their folders`."""
    from engine.collection.relink.records import Way

    templates = {
        Way.PATH: tr("%1 by their folders"),
        Way.NAME: tr("%1 by name and size"),
        Way.CONTENT: tr("%1 by content"),
    }
    lines = [fill(templates[way], number(count)) for way, count in plan.counts.items() if count]
    lines += checked_lines(plan)
    if plan.changed:
        lines.append(tr("%1 changed in the meantime", number(plan.changed)))
    if plan.strangers:
        lines.append(tr("%1 added from the new place without a label will be replaced", images(len(plan.strangers))))
    return tuple(lines)


def checked_lines(plan: RelinkPlan) -> list[str]:
    """How sure they are, folder by folder: `Birds: 140 images, 28 verified by content, 112 by name and size`."""
    lines = [tr("%1: %2", each.folder.name or str(each.folder), checked_line(each)) for each in plan.folders[:EXAMPLES]]
    if len(plan.folders) > EXAMPLES:
        lines.append(tr("and %1 more folders", number(len(plan.folders) - EXAMPLES)))
    return lines


def checked_line(folder: FolderCheck) -> str:
    """How many of a folder's images were compared by content."""
    rest = folder.images - folder.verified
    if not rest:
        return tr("%1, all verified by content", images(folder.images))
    if not folder.verified:
        return tr("%1, by name and size only", images(folder.images))
    return tr(
        "%1, %2 verified by content, %3 by name and size", images(folder.images), number(folder.verified), number(rest)
    )


def left_lines(plan: RelinkPlan) -> tuple[str, ...]:
    """What stays as it is, and why."""
    lines = []
    if plan.mismatched:
        text = tr("%1 not updated: a file with the same name and size is a different image.")
        lines.append(fill(text, number(len(plan.mismatched))))
    if plan.doubts:
        text = tr("%1 could be several files. Choose a narrower folder to tell them apart.")
        lines.append(fill(text, number(len(plan.doubts))))
    if plan.taken:
        text = tr("%1 already in the project as another image with a label.")
        lines.append(fill(text, number(len(plan.taken))))
    if plan.missing:
        lines.append(tr("%1 not found there.", number(len(plan.missing))))
    if plan.failures:
        text = tr("%1 could not be searched.")
        lines.append(fill(text, plan.failures[0].path.name) if len(plan.failures) == 1 else fill(text, _folders(plan)))
    return tuple(lines)


def example_lines(plan: RelinkPlan, folder: Path) -> tuple[str, ...]:
    """Some of the found images: old place and new place."""
    arrow = tr("%1 → %2")
    step = max(1, len(plan.moves) // EXAMPLES)
    shown = plan.moves[::step][:EXAMPLES]
    return tuple(fill(arrow, move.image.path, short_path(move.file.path, folder)) for move in shown)


def apply_text(count: int) -> str:
    return plural(count, "Update the location of 1 image", "Update the location of %n images")


def short_path(path: Path, folder: Path) -> str:
    """A path as the project would write it: relative beside it, else whole."""
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)


def _folders(plan: RelinkPlan) -> str:
    return tr("%1 folders", number(len(plan.failures)))
