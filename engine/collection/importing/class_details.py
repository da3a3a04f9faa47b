"""Notes and colours that a taxonomy has for its classes, taken into the project where it has none."""

import re
import unicodedata
from collections.abc import Container, Mapping
from typing import Final

from engine.interchange.imported import ImportedGraph
from engine.project import ClassDetails, ClassId, Project
from engine.project.schema import LONGEST_NOTE

_CUT: Final = " […]"
"""What stands at the end of a note that was too long."""
_LINE_ENDS: Final = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")


def fill_in_details(project: Project, imported: ImportedGraph, class_ids: Mapping[str, ClassId]) -> int:
    """Note what a source says of its classes; what people noted stays.

    Args:
        project: open for writing.
        imported: the source.
        class_ids: the class of each key; those that the project does not have are passed over.

    Returns:
        How many classes have a note or a colour now that they had not.
    """
    news = details_to_come(project, imported, class_ids)
    if news:
        project.classes.set_details(news, text="")
    return len(news)


def details_to_come(
    project: Project, imported: ImportedGraph, class_ids: Mapping[str, ClassId], new: Container[ClassId] = ()
) -> dict[ClassId, ClassDetails]:
    """What would be noted of classes; see `fill_in_details`.

    Args:
        project: may be open for reading only.
        imported: the source.
        class_ids: the class of each key.
        new: classes that the project does not have yet.
    """
    described = [each for each in imported.classes if each.note or each.colour]
    known, news = project.classes.details() if described else {}, dict[ClassId, ClassDetails]()
    for each in described:
        class_id = class_ids[each.key]
        before = news.get(class_id) or known.get(class_id) or ClassDetails()
        after = before.filled_in(ClassDetails(fitting_note(each.note), each.colour))
        if (class_id in project.classes.graph or class_id in new) and after != before:
            news[class_id] = after
    return news


def fitting_note(text: str) -> str:
    """A text as a note can hold it: without control characters, and cut where it is longer than notes are."""
    if text.isprintable() and len(text) <= LONGEST_NOTE:
        return text.strip()  # nearly all of them
    plain = "".join(each for each in _LINE_ENDS.sub("\n", text) if each in "\n\t" or not _is_control(each)).strip()
    return plain if len(plain) <= LONGEST_NOTE else plain[: LONGEST_NOTE - len(_CUT)].rstrip() + _CUT


def _is_control(character: str) -> bool:
    return unicodedata.category(character) in {"Cc", "Cs"}
