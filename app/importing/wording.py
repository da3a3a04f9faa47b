"""Texts of image imports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.texts import fill, plural, shortened, tr
from app.wording import enumeration, images, in_sentences, number
from engine.files import shown
from engine.images.kinds import IMAGE_SUFFIXES
from engine.texts import translated

if TYPE_CHECKING:
    from engine.collection.importing.import_images import ImageImport
    from engine.images.kinds import LeftOut


FOLDERS_NAMED = 3  # in a question
LONGEST_NAME = 30  # maximum length of a folder's name in it


def file_kinds() -> str:
    """Filter of the file dialog: `Images (*.avif *.AVIF …);;All files (*)`."""
    suffixes = " ".join(f"*{suffix} *{suffix.upper()}" for suffix in sorted(IMAGE_SUFFIXES))
    return tr("Images ({1});;All files (*)", suffixes)


def folders_question(names: Sequence[str]) -> str:
    """`Are these folders your classes? Fox, Deer, Owl, …`."""
    return tr("Are these folders your classes? {1}", _some(names))


def parts_note(names: Sequence[str]) -> str:
    """Hint about folders named like parts of data sets, such as images and train; "" for none."""
    from engine.interchange.labelled_images.box_formats import data_set_folders

    parts = data_set_folders(names)
    if not parts:
        return ""
    template = tr(
        "{1}: usual names of parts of a data set, not of classes. To get its boxes, import "
        "its labels."
    )
    return fill(template, _some(parts))


def add_text(class_count: int, class_name: str) -> str:
    """Label of the button; on a class, images of other folders become its examples."""
    if class_count:
        return plural(class_count, "Add with 1 class", "Add with {n} classes")
    return (
        tr("Label all as {1}", shortened(class_name, LONGEST_NAME))
        if class_name
        else tr("Add without classes")
    )


def _some(names: Sequence[str]) -> str:
    named = [shortened(shown(name), LONGEST_NAME) for name in names[:FOLDERS_NAMED]]
    return enumeration([*named, *(["…"] if len(names) > FOLDERS_NAMED else [])])


def import_text(done: ImageImport) -> str:
    """Report of skipped files; empty if there are none."""
    parts = [
        _failure_text(done) if done.failures else "",
        left_out_text(done.left_out),
        raw_doubles_text(done.left_out.raw_doubles),
    ]
    if done.added == 0 and not done.failures:
        if done.already_there:
            parts.insert(
                0, tr("Nothing new: {1} already in the project", images(done.already_there))
            )
        else:
            parts.insert(0, tr("No images found there"))
    return in_sentences(*parts)


def _failure_text(done: ImageImport) -> str:
    first, others = done.failures[0], len(done.failures) - 1
    name, reason = shown(first.path.name), shown(translated(first.reason))
    if others:
        return plural(
            others,
            "{1} and 1 more could not be added: {2}",
            "{1} and {n} more could not be added: {2}",
            name,
            reason,
        )
    return tr("{1} could not be added: {2}", name, reason)


def left_out_text(left_out: LeftOut) -> str:
    """`12 HEIC, 3 MOV were skipped: these file types are not supported`; empty for none."""
    if not left_out.count:
        return ""
    kinds = enumeration(f"{number(count)} {kind}" for kind, count in left_out.by_kind())
    return plural(
        left_out.count,
        "{1} was skipped: this file type is not supported",
        "{1} were skipped: these file types are not supported",
        kinds,
    )


def raw_doubles_text(count: int) -> str:
    """`12 RAW photos were skipped: the camera stored them as JPEG or HEIC, too`; empty for none."""
    if not count:
        return ""
    return plural(
        count,
        "1 RAW photo was skipped: the camera stored it as JPEG or HEIC, too",
        "{n} RAW photos were skipped: the camera stored them as JPEG or HEIC, too",
    )
