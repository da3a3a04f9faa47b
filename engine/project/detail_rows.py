"""Notes and colours of classes: what people set, so they go through the journal."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Final

from engine.errors import InputError
from engine.project.connection import Connection
from engine.project.records import ClassDetails, ClassId
from engine.project.schema import CLASS_DETAIL, LONGEST_NOTE
from engine.project.step import OpenStep

_COLOUR: Final = re.compile(r"#[0-9a-f]{6}")
_LINE_ENDS: Final = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_REFUSED_CATEGORIES: Final = frozenset({"Cc", "Cs"})
_ALLOWED_CONTROLS: Final = frozenset("\n\t")


def put_details(step: OpenStep, details: Mapping[ClassId, ClassDetails]) -> None:
    """Set notes and colours; those that say nothing take their row away.

    Raises:
        InputError: a note is too long or holds control characters, or a colour is none.
    """
    cleaned = {class_id: clean_details(each) for class_id, each in details.items()}
    step.put(CLASS_DETAIL, [(class_id, each.note, each.colour) for class_id, each in cleaned.items() if each])
    delete_details(step, [class_id for class_id, each in cleaned.items() if not each])


def delete_details(step: OpenStep, class_ids: Iterable[ClassId]) -> None:
    """Take the notes and colours of classes away."""
    step.delete(CLASS_DETAIL, [(class_id,) for class_id in sorted(class_ids)])


def details_of(connection: Connection, class_id: ClassId) -> ClassDetails:
    """Read the note and colour of one class."""
    row = connection.row(CLASS_DETAIL.select, (class_id,))
    return ClassDetails() if row is None else ClassDetails(*row[1:])


def clean_details(details: ClassDetails) -> ClassDetails:
    """Write a note with plain line breaks and without blanks around it, and a colour in lower case.

    Raises:
        InputError: a note is too long or holds control characters, or a colour is none.
    """
    note, colour = details.note.strip(), details.colour.strip().lower()
    if len(note) > LONGEST_NOTE:
        raise InputError(
            "a note is too long", expected=f"at most {LONGEST_NOTE:,} characters", found=f"{len(note):,}",
            remedy="shorten it",
        )  # fmt: skip
    note = _LINE_ENDS.sub("\n", note)
    if strange := next((each for each in note if _is_refused(each)), None):
        raise InputError("a note cannot hold control characters", found=f"{strange!a}", remedy="delete that character")
    if colour and not _COLOUR.fullmatch(colour):
        raise InputError("that is no colour", expected='"#rrggbb", or nothing for none', found=colour[:40])
    return ClassDetails(note, colour)


def _is_refused(character: str) -> bool:
    return unicodedata.category(character) in _REFUSED_CATEGORIES and character not in _ALLOWED_CONTROLS
