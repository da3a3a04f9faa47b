"""Texts of the card of a project archive."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from app.texts import fill, plural, tr
from app.wording import SEPARATOR, file_size, images, in_sentences, moment_text, number
from engine.files import shown

if TYPE_CHECKING:
    from app.archives.logic import CopyLook
    from engine.archive.layout import ArchiveFacts
    from engine.archive.unpack import UnpackedProject


def title_text(facts: ArchiveFacts) -> str:
    return tr("Project “{1}”", shown(facts.name))


def origin_text(facts: ArchiveFacts) -> str:
    """`Ada · 03.05.26 14:02 · 300 images`."""
    return SEPARATOR.join(
        filter(None, (shown(facts.made_by), _when(facts.made_at), images(facts.images)))
    )


def _when(text: str) -> str:
    try:
        return moment_text(datetime.fromisoformat(text))
    except ValueError:
        return ""


def photos_text(facts: ArchiveFacts) -> str:
    """Whether the archive has the photos or previews of them."""
    if facts.reduced_side:
        return tr(
            "Contains previews ({1} px) instead of the photos. Your labels match the original "
            "photos once this copy is merged back.",
            number(facts.reduced_side),
        )
    return tr("Contains the photos in full size.")


def room_text(look: CopyLook) -> str:
    """`Takes 45.1 MB, 12.3 GB free on this disk.`."""
    if look.free_bytes is None:
        return tr("Takes {1}.", file_size(look.size_bytes))
    template = (
        tr("Needs {1}, {2} free on this disk.")
        if look.has_room
        else tr("Needs {1}, but only {2} is free on this disk.")
    )
    return fill(template, file_size(look.size_bytes), file_size(look.free_bytes))


def opened_text(done: UnpackedProject, facts: ArchiveFacts) -> str:
    """Message about damaged or missing photos and previews; "" for none."""
    parts = []
    if done.failures:
        count = len(done.failures)
        parts.append(
            plural(
                count,
                "1 photo is damaged and was left out",
                "{n} photos are damaged and were left out",
            )
        )
    if done.missing:
        parts.append(
            plural(done.missing, "1 photo is not in the copy", "{n} photos are not in the copy")
        )
    if facts.reduced_side and done.photos:
        parts.append(tr("The photos are previews"))
    return in_sentences(*parts) if parts else ""


def job_title(look: CopyLook) -> str:
    return tr("Unpacking {1}", shown(look.archive.name))
