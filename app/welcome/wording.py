"""Texts about a new project and its backbones."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

from app.drops import classes_text
from app.texts import day_text, fill, marked, plural, shortened, tr
from app.welcome.logic import ExpectedSpeed, Photos
from app.wording import SEPARATOR, enumeration, images, images_per_s, number, rough_time, titled
from engine.files import shown

if TYPE_CHECKING:
    from app.welcome.recent_facts import RecentFacts
    from engine.backbones.bundled import OfferedBackbone
    from engine.collection.importing.folder_choice import ClassList
    from engine.events import Progress

TITLES = {"accurate": marked("Accurate"), "fast": marked("Fast")}
PURPOSES = {
    "accurate": marked("More accurate, especially with few labels."),
    "fast": marked("About three times faster, less accurate."),
}

SHORTEST_SHOWN_S = 10.0  # shorter durations are "a few seconds"
TOP_NAMES = 4  # class names in a line, at most
LONGEST_NAME = 24  # characters of each


def speed_text(speed: ExpectedSpeed | None, *, is_measuring: bool) -> str:
    if speed is None:
        return tr("Measuring the speed…") if is_measuring else ""
    if speed.is_scaled:
        template = tr("About {1} on this computer")
    elif speed.has_photos:
        template = tr("{1} on this computer")
    else:
        template = tr("Up to {1} on this computer")
    return fill(template, images_per_s(speed.images_per_s))


def duration_text(speed: ExpectedSpeed | None, photos: Photos) -> str:
    seconds = None if speed is None else speed.seconds_for(photos)
    if seconds is None:
        return ""
    is_rough = seconds >= SHORTEST_SHOWN_S
    template = tr("About {1} for {2}") if is_rough else tr("A few seconds for {2}")
    return fill(template, rough_time(seconds), images(photos.count))


def preparation_text(offered: OfferedBackbone) -> str:
    return "" if offered.is_ready else tr("First use: about a minute of setup.")


def class_list_text(read: ClassList | None, *, is_reading: bool) -> str:
    """`21 classes on 2 levels: Mammals, Birds, Reptiles …`."""
    if is_reading:
        return tr("Reading…")
    if read is None or not read.count:
        return ""
    levels = plural(read.levels, "{1} on 1 level", "{1} on {n} levels", classes_text(read.count))
    if read.levels == 1:
        levels = classes_text(read.count)
    names = [shortened(shown(name), LONGEST_NAME) for name in read.top_names(TOP_NAMES + 1)]
    return titled(
        levels, enumeration([*names[:TOP_NAMES], *(["…"] if len(names) > TOP_NAMES else [])])
    )


def class_folders_text(ticked: int, count: int, parts: Sequence[str]) -> str:
    """What the check boxes of folders do, and how many are ticked."""
    if not count:
        return tr("Add a folder first.")
    if parts:
        return tr(
            "{1}: usual names of parts of a data set, not of classes. To get its boxes, import "
            "its labels.",
            enumeration(shortened(shown(part), LONGEST_NAME) for part in parts[:TOP_NAMES]),
        )
    if not ticked:
        return tr("Tick the folders that are classes. Their images get labels.")
    return plural(
        ticked,
        "1 folder is a class. Its images get labels.",
        "{n} folders are classes. Their images get labels.",
    )


def recent_text(facts: RecentFacts, today: date | None = None) -> str:
    """`120 of 300 labelled  ·  Yesterday`, or why it is unknown."""
    if facts.is_gone:
        return tr("Not found")
    if not facts.is_read or facts.changed_at is None:
        return tr("Cannot be read")
    day = edited_text(
        facts.changed_at.astimezone().date(), today or datetime.now().astimezone().date()
    )
    return SEPARATOR.join((_progress_text(facts), day))


def _progress_text(facts: RecentFacts) -> str:
    if not facts.images:
        return tr("No images yet")
    if facts.labelled >= facts.images:
        return plural(facts.images, "1 image, labelled", "All {n} labelled")
    return tr("{1} of {2} labelled", number(facts.labelled), number(facts.images))


def edited_text(day: date, today: date) -> str:
    """`Today`, `Yesterday`, `May 3, 2026`."""
    if day == today:
        return tr("Today")
    return tr("Yesterday") if day == today - timedelta(days=1) else day_text(day)


def setup_facts(progress: Progress) -> str:
    """`Setting up (1 of 4)`."""
    return (
        tr("Setting up ({1} of {2})", number(progress.done), number(progress.total))
        if progress.total
        else ""
    )
