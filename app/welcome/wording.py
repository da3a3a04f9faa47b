"""Text of a new project and its backbones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from app.texts import breakable, fill, marked, tr
from app.welcome.logic import ExpectedSpeed, NewProject, Photos
from app.wording import images, images_per_s, number, rough_time

if TYPE_CHECKING:
    from engine.backbones.bundled import OfferedBackbone

TITLES: Final = {"accurate": marked("Accurate"), "fast": marked("Fast")}
PURPOSES: Final = {
    "accurate": marked("Right more often, above all with few labels."),
    "fast": marked("About three times faster, less accurate."),
}

SHORTEST_SHOWN_S: Final = 10.0


def speed_text(speed: ExpectedSpeed | None, *, is_measuring: bool) -> str:
    if speed is None:
        return tr("Measuring the speed…") if is_measuring else ""
    if speed.is_scaled:
        template = tr("About %1 on this computer")
    elif speed.has_photos:
        template = tr("%1 on this computer")
    else:
        template = tr("Up to %1 on this computer")
    return fill(template, images_per_s(speed.images_per_s))


def duration_text(speed: ExpectedSpeed | None, photos: Photos) -> str:
    seconds = None if speed is None else speed.seconds_for(photos)
    if seconds is None:
        return ""
    is_rough = seconds >= SHORTEST_SHOWN_S
    template = tr("About %1 for %2") if is_rough else tr("A few seconds for %2")
    return fill(template, rough_time(seconds), images(photos.count))


def preparation_text(offered: OfferedBackbone) -> str:
    return "" if offered.is_ready else tr("Prepared once before its first use.")


def subject(project: NewProject, photos: Photos) -> str:
    """`“field trip”: 4,120 images`."""
    if not project.dropped:
        return ""
    first = project.dropped[0].name or str(project.dropped[0])
    if photos.is_counting:
        return tr("“%1”: looking for images… %2", first, number(photos.count) if photos.count else "")
    text = marked("“%1”: %2") if len(project.dropped) == 1 else marked("“%1” and more: %2")
    return tr(text, first, images(photos.count))


def place_text(place: Path | None) -> str:
    if place is None:
        return ""
    return tr("Will be saved as %1 in %2.", place.name, breakable(str(place.parent)))
