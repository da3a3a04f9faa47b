"""What a person is told after an import, besides how many images it added."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.texts import plural, tr
from app.wording import images, number
from engine.files import shown
from engine.images.kinds import IMAGE_SUFFIXES

if TYPE_CHECKING:
    from engine.collection.importing.import_images import ImageImport
    from engine.images.kinds import LeftOut


def file_kinds() -> str:
    """What the dialog for images offers: `Images (*.avif *.AVIF …);;All files (*)`."""
    suffixes = " ".join(f"*{suffix} *{suffix.upper()}" for suffix in sorted(IMAGE_SUFFIXES))
    return tr("Images (%1);;All files (*)", suffixes)


def folders_question(folder: str, count: int) -> str:
    """What to ask about the sub-folders of a folder; of several folders at once when it has no name."""
    return plural(
        count,
        "%1 has 1 subfolder with images. Make it a class?",
        "%1 has %n subfolders with images. Make them classes?",
        _quoted(folder),
    )


def make_classes(count: int) -> str:
    """The answer that makes classes."""
    return plural(count, "Make a class", "Make classes")


def only_add_images(class_name: str) -> str:
    """The answer that makes none; dropped on a class, the images become shots of it."""
    if class_name:
        return tr("Label all as %1", class_name)
    return tr("Only add the images")


def _quoted(folder: str) -> str:
    return tr("“%1”", shown(folder)) if folder else tr("What you dropped")


def import_text(done: ImageImport) -> str:
    """Sentences about what was not added; empty where all is well."""
    parts = [
        _failure_text(done) if done.failures else "",
        left_out_text(done.left_out),
        raw_doubles_text(done.left_out.raw_doubles),
    ]
    if done.added == 0 and not done.failures:
        if done.already_there:
            parts.insert(0, tr("Nothing new: %1 already in the project", images(done.already_there)))
        else:
            parts.insert(0, tr("No images found there"))
    return ". ".join(part for part in parts if part)


def _failure_text(done: ImageImport) -> str:
    first, others = done.failures[0], len(done.failures) - 1
    if others:
        return tr("%1 and %2 more could not be added: %3", shown(first.path.name), number(others), shown(first.reason))
    return tr("%1 could not be added: %2", shown(first.path.name), shown(first.reason))


def left_out_text(left_out: LeftOut) -> str:
    """`12 HEIC, 3 MOV were left out: these kinds of files are not read`; empty where there were none."""
    if not left_out.count:
        return ""
    kinds = ", ".join(f"{number(count)} {kind}" for kind, count in left_out.by_kind())
    return plural(
        left_out.count,
        "%1 was skipped: this file type is not supported",
        "%1 were skipped: these file types are not supported",
        kinds,
    )


def raw_doubles_text(count: int) -> str:
    """`12 RAW photos were skipped: the camera stored them as JPEG or HEIC, too`; empty where there were none."""
    if not count:
        return ""
    return plural(
        count,
        "1 RAW photo was skipped: the camera stored it as JPEG or HEIC, too",
        "%n RAW photos were skipped: the camera stored them as JPEG or HEIC, too",
    )
