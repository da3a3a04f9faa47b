"""Counts, shares, sizes, times and progress as texts in the user's language and number format."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import reduce
from math import ceil
from pathlib import PurePath
from typing import TYPE_CHECKING

from PySide6.QtCore import QDate, QDateTime, QLocale, QTime

from app.texts import fill, number_in, plural, tr, with_percent
from engine.events import BYTES, Progress
from engine.file_parts import ImageSource, file_part
from engine.files import size_unit
from engine.texts import WIDE_ENDS, Message, enumerated, filled, translated

if TYPE_CHECKING:
    from engine.everyday.unseen import ClassesSeen
    from engine.graph.category_graph import CategoryGraph

_MINUTE_S = 60
_HOUR_S = 3600
_SECONDS_UNTIL_S = 90
_EACH_SECOND_UNTIL_S = 10
_STEP_S = 5
SEPARATOR = "  ·  "
_BEFORE_UNIT = re.compile(r"(?<=\d) (?=[^\W\d])")
_FIRM_SPACE = "\N{NO-BREAK SPACE}"
_ENDS = (".", "!", "?", "…", *WIDE_ENDS)  # ends of sentences


def number(value: int) -> str:
    return QLocale().toString(value)


def at_most(value: int, most: int = 1_000_000) -> str:
    """A whole number, capped where it is large: `12`, `1,000,000+`."""
    return number(value) if value <= most else number(most) + "+"


def sentence(words: str) -> str:
    """A message of the engine as a sentence: capitalised, and with a full stop.

    A file name at its beginning is not capitalised.
    """
    if not words:
        return ""
    words = translated(words)
    is_name = "." in words.split(" ", 1)[0].rstrip(".:,")
    words = (words[0] if is_name else words[0].upper()) + words[1:]
    return words if words.endswith(_ENDS) else tr("{1}.", words)


def in_sentences(*parts: str) -> str:
    """Join parts as sentences, without a final stop: `3 images added. 2 left out`.

    Empty parts are left out.
    """
    return _folded(tr("{1}. {2}"), parts)


def enumeration(things: Iterable[str]) -> str:
    """Join names to a list: `Fox, Dog, Wolf`."""
    named = enumerated(things)
    # A single name is no `Message`: it is not translated.
    return named.translated() if isinstance(named, Message) else named


def clauses(*parts: str) -> str:
    """Join parts of a sentence, without empty ones: `12 answers, 310 labels`."""
    return _folded(tr("{1}, {2}"), parts)


def titled(title: str, value: str) -> str:
    """A title with a value: `Fox: 12 images`."""
    return tr("{1}: {2}", title, value)


def _folded(template: str, parts: Iterable[str]) -> str:
    filled = [each for each in parts if each]
    return reduce(lambda before, part: fill(template, before, part), filled) if filled else ""


def on_one_line(quantity: str) -> str:
    """Join numbers and their units by no-break spaces: `53.1 MB`, `12 min left`."""
    return _BEFORE_UNIT.sub(_FIRM_SPACE, quantity)


def images(count: int) -> str:
    return plural(count, "1 image", "{n} images")


def image_name(source: ImageSource) -> str:
    """Name of an image: `IMG_7.jpg`, `plates.pdf, page 3`, `clip.mp4, 0:12`."""
    part, name = file_part(source.part), source.path.name
    if part.page is not None:
        return tr("{1}, page {2}", name, number(part.page))
    if part.seconds is not None:
        minutes, seconds = divmod(round(part.seconds), _MINUTE_S)
        return tr("{1}, {2}", name, f"{minutes}:{seconds:02}", about="a video and a time in it")
    return name


def time_left(seconds: float) -> str:
    """The remaining time, rounded: `40 s left`, `12 min left`."""
    if seconds < _SECONDS_UNTIL_S:
        step = 1 if seconds <= _EACH_SECOND_UNTIL_S else _STEP_S
        template, value = tr("{1} s left"), max(1, step * ceil(seconds / step))
    elif seconds < _HOUR_S:
        template, value = tr("{1} min left"), ceil(seconds / _MINUTE_S)
    else:
        template, value = tr("{1} h left"), ceil(seconds / _HOUR_S)
    return on_one_line(fill(template, number(value)))


def rough_time(seconds: float) -> str:
    """A rounded duration: `a few seconds`, `40 seconds`, `12 minutes`, `1.5 hours`."""
    if seconds < _EACH_SECOND_UNTIL_S:
        return tr("a few seconds")
    if seconds <= _MINUTE_S - _STEP_S:
        return on_one_line(tr("{1} seconds", number(_STEP_S * ceil(seconds / _STEP_S))))
    if seconds < _MINUTE_S * 1.5:
        return on_one_line(tr("1 minute"))
    if seconds < _HOUR_S:
        return minutes(round(seconds / _MINUTE_S))
    return hours(round(2 * seconds / _HOUR_S) / 2)


def hours(count: float) -> str:
    if count == 1:
        return on_one_line(tr("1 hour"))
    return on_one_line(tr("{1} hours", _with_half(count)))


def minutes(count: float) -> str:
    if count == 1:
        return on_one_line(tr("1 minute"))
    return on_one_line(tr("{1} minutes", _with_half(count)))


def _with_half(count: float) -> str:
    return QLocale().toString(float(count), "f", 0 if count % 1 == 0 else 1)


def images_per_s(rate: float) -> str:
    return on_one_line(tr("{1} images/s", _rate_number(rate)))


def _rate_number(rate: float) -> str:
    return QLocale().toString(rate, "f", 0 if rate >= 10 else 1)  # noqa: PLR2004


def preparing_text() -> str:
    """Progress text while the file of a bundled backbone is built."""
    return tr("Setting up…")


def progress_facts(progress: Progress) -> str:
    """`1,240 of 5,000 · 85 images/s · CPU · 1 min left`; unknown facts are left out."""
    facts = [_done(progress)] if progress.unit else []
    if progress.rate_per_s > 0:
        facts.append(_rate(progress))
    if progress.note:
        facts.append(translated(progress.note))
    if progress.seconds_left is not None and progress.done < progress.total:
        facts.append(time_left(progress.seconds_left))
    return SEPARATOR.join(facts)


def _rate(progress: Progress) -> str:
    if progress.unit == BYTES:
        return transfer_rate(progress.rate_per_s)
    return on_one_line(
        tr("{1}/s", f"{_rate_number(progress.rate_per_s)} {translated(progress.unit)}")
    )


def _done(progress: Progress) -> str:
    if progress.unit == BYTES:
        return (
            part_of_size(progress.done, progress.total)
            if progress.total
            else file_size(progress.done)
        )
    if not progress.total:
        return number(progress.done)
    return tr("{1} of {2}", number(progress.done), number(progress.total))


def saved_at(moment: datetime) -> str:
    """`All changes saved, last at 14:02`, in local time."""
    return tr("All changes saved, last at {1}", clock_text(moment))


def percent(share: float) -> str:
    """A share as percent; never `100%` below certainty, never `0%` above zero."""
    rounded = round(share * 100)
    if rounded >= 100 and share < 1.0:  # noqa: PLR2004 (a percentage)
        rounded = 99
    if share > 0 and rounded == 0:
        return f"<{with_percent('1')}"
    return with_percent(number(rounded))


def probability_text(probability: float) -> str:
    """The probability of a prediction, from `<1%` to `>99%`: none is certain."""
    rounded = round(probability * 100)
    if rounded < 1:
        return f"<{with_percent('1')}"
    if rounded >= 100:  # noqa: PLR2004 (a percentage)
        return f">{with_percent('99')}"
    return with_percent(number(rounded))


def seen_text(unseen: ClassesSeen, graph: CategoryGraph) -> str:
    """`3 of 505 classes have examples`."""
    if len(graph) == 1:  # at least a second class is needed
        return tr("There is only one class")
    total = number(unseen.seen + unseen.unseen)
    return plural(
        unseen.seen, "1 of {1} classes has examples", "{n} of {1} classes have examples", total
    )


def percent_sign() -> str:
    """The percent sign with the space that the language puts before it."""
    return with_percent("")


def percent_of_size(scale: float) -> str:
    # Below 10% with one decimal.
    shown = QLocale().toString(100 * scale, "f", 0 if scale >= 0.1 else 1)  # noqa: PLR2004
    return with_percent(shown)


def percent_to_a_tenth(value: float) -> str:
    return with_percent(QLocale().toString(100 * value, "f", 1))


def titled_field(name: str) -> str:
    """The name of a field of images, capitalised for use before its value: `Life stage`."""
    return name[:1].upper() + name[1:]


def moment_text(moment: datetime) -> str:
    """Date and time in local time, or by the camera's clock where no time zone is known."""
    local = moment if moment.tzinfo is None else moment.astimezone()
    day, time = (
        QDate(local.year, local.month, local.day),
        QTime(local.hour, local.minute, local.second),
    )
    return QLocale().toString(QDateTime(day, time), QLocale.FormatType.ShortFormat)


def clock_text(moment: datetime) -> str:
    """`14:03`, in local time."""
    local = moment.astimezone()
    return QLocale().toString(QTime(local.hour, local.minute), QLocale.FormatType.ShortFormat)


def file_size(size_bytes: float) -> str:
    """`53.1 kB`, `97.8 MB`, `1.2 GB`."""
    unit, template = size_unit(size_bytes)
    return on_one_line(filled(tr(template), {"size": size_bytes / unit}, number_in))


def part_of_size(done_bytes: int, total_bytes: int) -> str:
    unit, _ = size_unit(total_bytes)
    return tr("{1} of {2}", number_in(done_bytes / unit, ",.1f"), file_size(total_bytes))


def transfer_rate(bytes_per_s: float) -> str:
    return tr("{1}/s", file_size(bytes_per_s))


_NO_IMAGE = "this is not an image that can be read"
_DAMAGED = "the image is damaged or incomplete"
_CUT_OFF = ("truncated", "ends long before", "premature", "unexpected end", "cut off")
# File types that are images, but of an unsupported format.
_KINDS_OF_IMAGES = ("image", "photo", "photoshop")
_EMPTY_FINDS = ("unknown content", "")
_JPEG = frozenset({"JPG", "JPEG", "JPE", "JFIF"})


def short_reason(failure: str, name: str) -> str:
    """Shorten the engine's message about a file: `Truncated JPEG`, `Not an image: a web page`."""
    what, _, rest = failure.partition(": ")
    what, found = what.partition(". ")[0], _found_in(rest)
    if what == _NO_IMAGE:
        return _no_image(found)
    if what == _DAMAGED:
        is_cut_off = any(sign in failure.lower() for sign in _CUT_OFF)
        template = tr("Truncated {1}") if is_cut_off else tr("Damaged {1}")
        return fill(template, _kind_of(name))
    if what in _SHORT:
        return _SHORT[what]()
    words = translated(failure).partition(": ")[0].partition(". ")[0]
    return words[:1].upper() + words[1:]


def _found_in(facts: str) -> str:
    _, sign, found = facts.partition("found ")
    return found.partition(". ")[0] if sign else ""


def _no_image(found: str) -> str:
    if found in _EMPTY_FINDS:
        return tr("Not an image")
    if any(kind in found.lower() for kind in _KINDS_OF_IMAGES):
        return tr("Not supported: {1}", translated(found))
    return tr("Not an image: {1}", translated(found))


def _kind_of(name: str) -> str:
    suffix = PurePath(name).suffix[1:].upper()
    return "JPEG" if suffix in _JPEG else suffix or tr("image")


_SHORT: dict[str, Callable[[], str]] = {
    "the file is not there": lambda: tr("File not found"),
    "the file cannot be read": lambda: tr("Cannot be opened"),
    "the file is empty": lambda: tr("Empty file"),
    "the file is too large": lambda: tr("File too large"),
    "the RAW photo has no preview that can be shown": lambda: tr("RAW photo without a preview"),
    "the image is too large": lambda: tr("Too many pixels"),
    "there is not enough memory for this image": lambda: tr("Not enough memory"),
    "there is not enough memory to read this file": lambda: tr("Not enough memory"),
    "the file's name cannot be used": lambda: tr("File name cannot be used"),
    "this is a folder": lambda: tr("A folder, not an image"),
    "this is a device or a pipe": lambda: tr("Not a file"),
}
