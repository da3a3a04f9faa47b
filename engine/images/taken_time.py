"""Time a photo was taken, from Exif, XMP and IPTC: a moment, or a partial date."""

import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from typing import NamedTuple

FIRST_YEAR = 1826  # of the first photograph; clocks that were never set tell other dates
_TIME = re.compile(r"(\d{4})[:\-/.](\d{1,2})[:\-/.](\d{1,2})[ T](\d{1,2}):(\d{1,2})(?::(\d{1,2}))?")
_FRACTION = "0123456789.,"
_ZONE = re.compile(r"\s*([+-])(\d{2}):?(\d{2})")
_DATE = re.compile(r"(\d{4})(?:[:\-/.]?(\d{2}|  )(?:[:\-/.]?(\d{2}|  ))?)?(?![\d:\-/.])")


class TakenTime(NamedTuple):
    """A moment, or only a date where the file has no time."""

    at: datetime | None = None  # with a time zone where the file has one
    date: str = ""  # "1912", "1912-06" or "1912-06-03"; "" with a moment

    @property
    def is_known(self) -> bool:
        """Whether there is either."""
        return self.at is not None or bool(self.date)


NOT_KNOWN = TakenTime()


def taken_time(text: str, zone: str = "") -> TakenTime:
    """Parse a time, if plausible for a photo."""
    at = real_time(time_in(text, zone))
    return TakenTime(at) if at is not None else TakenTime(date=_date_in(text))


def first_taken(found: Iterable[TakenTime]) -> TakenTime:
    """The first moment, with the time zone of an equal one elsewhere; else the first date."""
    known = list(found)
    moments = [each.at for each in known if each.at is not None]
    if not moments:
        return next((each for each in known if each.date), TakenTime())
    same = (
        each for each in moments if each.replace(tzinfo=None) == moments[0].replace(tzinfo=None)
    )
    return TakenTime(next((each for each in same if each.tzinfo), moments[0]))


def time_in(text: str, zone: str = "") -> datetime | None:
    """The time in a text that begins with it; with the zone where there is one."""
    found = _TIME.match(text)
    if found is None:
        return None
    try:
        parts = [int(part or 0) for part in found.groups()]
        at = datetime(*parts)  # type: ignore[arg-type]  # noqa: DTZ001
    except ValueError:
        return None
    offset = _zone_in(zone or text[found.end() :].lstrip(_FRACTION))
    with suppress(OverflowError):
        return at.replace(tzinfo=offset)
    return at


def _zone_in(text: str) -> timezone | None:
    if text.strip() == "Z":
        return UTC
    found = _ZONE.fullmatch(text.rstrip())
    if found is None:
        return None
    offset = timedelta(hours=int(found[2]), minutes=int(found[3]))
    with suppress(ValueError):
        return timezone(-offset if found[1] == "-" else offset)
    return None


def _date_in(text: str) -> str:
    """A date at the start of a text; zeros and blanks mean an unknown month or day."""
    found = _DATE.match(text)
    if found is None:
        return ""
    parts = [int(part) for part in found.groups() if part and part.strip()]
    parts = parts[: parts.index(0)] if 0 in parts else parts
    if not parts:
        return ""
    try:
        first_day = datetime(*(*parts, 1, 1)[:3])  # type: ignore[arg-type]  # noqa: DTZ001
    except ValueError:
        return ""
    if real_time(first_day) is None:
        return ""
    return "-".join([f"{parts[0]:04}", *(f"{part:02}" for part in parts[1:])])


def real_time(taken_at: datetime | None) -> datetime | None:
    """A time at which a photo can have been taken, without parts of a second; else None."""
    if taken_at is None:
        return None
    # a clock may be in another zone, or a bit off
    latest = datetime.now(UTC).replace(tzinfo=None) + timedelta(days=2)
    wall = taken_at.replace(tzinfo=None)
    earliest = datetime(FIRST_YEAR, 1, 1)  # noqa: DTZ001 (cameras know no zone, mostly)
    return taken_at.replace(microsecond=0) if earliest <= wall <= latest else None
