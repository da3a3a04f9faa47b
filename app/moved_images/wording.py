"""Texts about moved images."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from app.texts import plural, tr
from app.wording import SEPARATOR, images, number, titled

if TYPE_CHECKING:
    from engine.events import Progress
    from engine.relink.records import FolderCheck, RelinkPlan

EXAMPLES = 3


def missing_line(count: int) -> str:
    return plural(count, "1 image is missing.", "{n} images are missing.")


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
        done = tr("{1} of {2}", done, number(progress.total))
    return SEPARATOR.join((doing, done))


def verdict(plan: RelinkPlan) -> str:
    if not plan.searched:
        return tr("No image is missing.")
    if not plan.moves:
        return tr("None of them was found there.")
    return tr("{1} of {2} found", number(len(plan.moves)), number(plan.searched))


def way_lines(plan: RelinkPlan) -> tuple[str, ...]:
    """How images were matched: `1,190 by their folders`, `Birds: 140 images, by name and size`."""
    from engine.relink.records import Way

    by_path, by_name, by_content = (
        plan.counts.get(way, 0) for way in (Way.PATH, Way.NAME, Way.CONTENT)
    )
    lines = [plural(by_path, "1 by its folder", "{n} by their folders")] if by_path else []
    lines += [plural(by_name, "1 by name and size", "{n} by name and size")] if by_name else []
    lines += [plural(by_content, "1 by content", "{n} by content")] if by_content else []
    lines += [
        titled(each.folder.name or str(each.folder), checked_line(each))
        for each in plan.folders[:EXAMPLES]
    ]
    if (more := len(plan.folders) - EXAMPLES) > 0:
        lines.append(plural(more, "and 1 more folder", "and {n} more folders"))
    if plan.changed:
        lines.append(
            plural(plan.changed, "1 changed in the meantime", "{n} changed in the meantime")
        )
    if plan.strangers:
        lines.append(
            plural(
                len(plan.strangers),
                "1 image added from the new place without a label will be replaced",
                "{n} images added from the new place without a label will be replaced",
            )
        )
    return tuple(lines)


def checked_line(folder: FolderCheck) -> str:
    rest = folder.images - folder.verified
    if not rest:
        return tr("{1}, all verified by content", images(folder.images))
    if not folder.verified:
        return tr("{1}, by name and size only", images(folder.images))
    return tr(
        "{1}, {2} verified by content, {3} by name and size",
        images(folder.images),
        number(folder.verified),
        number(rest),
    )


def left_lines(plan: RelinkPlan) -> tuple[str, ...]:
    """Images that are not updated, with reasons."""
    mismatched, doubts, taken, missing = map(
        len, (plan.mismatched, plan.doubts, plan.taken, plan.missing)
    )
    reasons = (
        (
            mismatched,
            plural(
                mismatched,
                "1 not updated: a file with the same name and size is a different image.",
                "{n} not updated: a file with the same name and size is a different image.",
            ),
        ),
        (
            doubts,
            plural(
                doubts,
                "1 could be several files. Choose a narrower folder to tell them apart.",
                "{n} could be several files. Choose a narrower folder to tell them apart.",
            ),
        ),
        (
            taken,
            plural(
                taken,
                "1 already in the project as another image with a label.",
                "{n} already in the project as another image with a label.",
            ),
        ),
        (missing, plural(missing, "1 not found there.", "{n} not found there.")),
    )
    lines = [text for count, text in reasons if count]
    if failed := len(plan.failures):
        several = plural(
            failed, "1 folder could not be searched.", "{n} folders could not be searched."
        )
        lines.append(
            tr("{1} could not be searched.", plan.failures[0].path.name) if failed == 1 else several
        )
    return tuple(lines)


def example_lines(plan: RelinkPlan, folder: Path) -> tuple[str, ...]:
    """Old and new paths of some images."""
    step = max(1, len(plan.moves) // EXAMPLES)
    shown = plan.moves[::step][:EXAMPLES]
    return tuple(
        tr("{1} → {2}", move.image.path, short_path(move.file.path, folder)) for move in shown
    )


def apply_text(count: int) -> str:
    return plural(count, "Update the location of 1 image", "Update the location of {n} images")


def short_path(path: Path, folder: Path) -> str:
    """Path relative to the project folder if it is inside, else absolute."""
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)
