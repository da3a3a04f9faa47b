"""Text of moved images."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from app.texts import fill, plural, tr
from app.wording import SEPARATOR, images, number, titled

if TYPE_CHECKING:
    from engine.collection.relink.records import FolderCheck, RelinkPlan
    from engine.events import Progress

EXAMPLES: Final = 3


def missing_line(count: int) -> str:
    return plural(count, "1 image is missing.", "%n images are missing.")


def progress_line(progress: Progress) -> str:
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
    """How images were found: `1,190 by their folders`, `Birds: 140 images, all verified by content`."""
    from engine.collection.relink.records import Way

    templates = {
        Way.PATH: tr("%1 by their folders"),
        Way.NAME: tr("%1 by name and size"),
        Way.CONTENT: tr("%1 by content"),
    }
    lines = [fill(templates[way], number(count)) for way, count in plan.counts.items() if count]
    lines += [titled(each.folder.name or str(each.folder), checked_line(each)) for each in plan.folders[:EXAMPLES]]
    if len(plan.folders) > EXAMPLES:
        lines.append(tr("and %1 more folders", number(len(plan.folders) - EXAMPLES)))
    if plan.changed:
        lines.append(tr("%1 changed in the meantime", number(plan.changed)))
    if plan.strangers:
        lines.append(tr("%1 added from the new place without a label will be replaced", images(len(plan.strangers))))
    return tuple(lines)


def checked_line(folder: FolderCheck) -> str:
    rest = folder.images - folder.verified
    if not rest:
        return tr("%1, all verified by content", images(folder.images))
    if not folder.verified:
        return tr("%1, by name and size only", images(folder.images))
    return tr(
        "%1, %2 verified by content, %3 by name and size", images(folder.images), number(folder.verified), number(rest)
    )


def left_lines(plan: RelinkPlan) -> tuple[str, ...]:
    """Images that are not updated, and why."""
    templates = (
        (plan.mismatched, tr("%1 not updated: a file with the same name and size is a different image.")),
        (plan.doubts, tr("%1 could be several files. Choose a narrower folder to tell them apart.")),
        (plan.taken, tr("%1 already in the project as another image with a label.")),
        (plan.missing, tr("%1 not found there.")),
    )
    lines = [fill(template, number(len(found))) for found, template in templates if found]
    if plan.failures:
        count = len(plan.failures)
        folders = plan.failures[0].path.name if count == 1 else tr("%1 folders", number(count))
        lines.append(tr("%1 could not be searched.", folders))
    return tuple(lines)


def example_lines(plan: RelinkPlan, folder: Path) -> tuple[str, ...]:
    """Old and new paths of some images."""
    step = max(1, len(plan.moves) // EXAMPLES)
    shown = plan.moves[::step][:EXAMPLES]
    return tuple(tr("%1 → %2", move.image.path, short_path(move.file.path, folder)) for move in shown)


def apply_text(count: int) -> str:
    return plural(count, "Update the location of 1 image", "Update the location of %n images")


def short_path(path: Path, folder: Path) -> str:
    """Relative to the project folder where it is inside."""
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)
