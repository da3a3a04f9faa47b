"""Clock corrections by folder or camera: files are unchanged, times are corrected when read.

One correction applies to an image: that of its deepest folder, else that of its camera.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, final

from engine.errors import InputError

MOST_CORRECTIONS = 1_000
LARGEST_OFFSET_S = 100 * 366 * 86_400  # a camera that lost its date may be decades behind
LARGEST_ZONE_MINUTES = 14 * 60
_LONGEST = 65_536  # of a folder or camera
_OFFSET = re.compile(
    r"(?P<sign>[+-]?)\s*(?:(?P<days>\d+)\s*d)?\s*(?:(?P<hours>\d+)\s*h)?\s*"
    r"(?:(?P<minutes>\d+)\s*m(?:in)?)?\s*(?:(?P<seconds>\d+)\s*s)?"
)
_CLOCK = re.compile(r"(?P<sign>[+-]?)(?P<hours>\d+):(?P<minutes>[0-5]\d)(?::(?P<seconds>[0-5]\d))?")
_ZONE = re.compile(
    r"(?:UTC)?(?P<sign>[+-])(?P<hours>\d{1,2})(?::?(?P<minutes>[0-5]\d))?", re.IGNORECASE
)
_SECONDS = {"days": 86_400, "hours": 3_600, "minutes": 60, "seconds": 1}


@dataclass(frozen=True, slots=True)
class ClockCorrection:
    """How the times of a folder or a camera are to be read.

    Attributes:
        folder: as stored in image paths, with all its sub-folders; None for a camera.
        camera: make and model; "" where a folder is meant.
        serial: number of the camera's body; "" for every one of that make and model.
        seconds: added to the time by the camera's clock.
        zone_minutes: offset of the clock from UTC, in place of that in the file; None keeps that.
    """

    folder: str | None = None
    camera: str = ""
    serial: str = ""
    seconds: int = 0
    zone_minutes: int | None = None

    @property
    def source(self) -> tuple[str | None, str, str]:
        """Scope."""
        return self.folder, self.camera, self.serial

    @property
    def source_text(self) -> str:
        """Scope, as text."""
        if self.folder is not None:
            return self.folder or "."
        return f"{self.camera} ({self.serial})" if self.serial else self.camera

    @property
    def is_nothing(self) -> bool:
        """Whether times stay as they are."""
        return self.seconds == 0 and self.zone_minutes is None

    def applied_to(self, taken_at: datetime) -> datetime:
        """A time of the camera's clock, corrected; unchanged where the result is out of range."""
        try:
            moved = taken_at + timedelta(seconds=self.seconds)
        except OverflowError:
            return taken_at
        if self.zone_minutes is None:
            return moved
        return moved.replace(tzinfo=timezone(timedelta(minutes=self.zone_minutes)))


@dataclass(frozen=True, slots=True)
class ClockSource:
    """Images of one folder and camera whose times are known, as their files have them."""

    folder: str  # as paths are stored
    camera: str
    serial: str
    images: int
    first: datetime
    last: datetime


@final
class ClockCorrections:
    """Which correction applies to an image."""

    def __init__(self, corrections: Sequence[ClockCorrection] = ()) -> None:
        self.all = tuple(corrections)
        self._by_source: Mapping[tuple[str | None, str, str], ClockCorrection] = {
            each.source: each for each in self.all
        }
        self._found: dict[tuple[str, str, str], ClockCorrection | None] = {}

    def __bool__(self) -> bool:
        return bool(self.all)

    def of(self, folder: str, camera: str, serial: str = "") -> ClockCorrection | None:
        """The correction for images of a folder, as stored, and of a camera; None for none."""
        where = folder, camera, serial
        if where not in self._found:
            self._found[where] = next(
                filter(None, map(self._by_source.get, _sources(*where))), None
            )
        return self._found[where]

    def corrected(self, taken_at: datetime, folder: str, camera: str, serial: str = "") -> datetime:
        """A time as a file has it, corrected."""
        found = self.of(folder, camera, serial)
        return taken_at if found is None else found.applied_to(taken_at)

    def replacing(self, correction: ClockCorrection) -> "ClockCorrections":
        """The corrections with one replaced for its folder or camera; an empty one removes it."""
        others = [each for each in self.all if each.source != correction.source]
        return ClockCorrections(others if correction.is_nothing else [*others, correction])


def _sources(folder: str, camera: str, serial: str) -> Iterator[tuple[str | None, str, str]]:
    """What may be corrected for an image, the nearest first."""
    yield folder, "", ""
    while folder:
        folder = folder.rpartition("/")[0]
        yield folder, "", ""
    yield None, camera, serial
    yield None, camera, ""


def are_corrections(values: Any) -> bool:
    """Whether plain values are corrections."""
    if not isinstance(values, list) or len(values) > MOST_CORRECTIONS:
        return False
    try:
        found = [ClockCorrection(**each) for each in values]
        return all(checked_correction(each) == each for each in found)
    except (TypeError, InputError):
        return False


def read_offset(text: str) -> int:
    """Seconds of an offset: `+1h02m`, `-3:30`, `+1:02:15`, `2d`, `45 s`.

    Raises:
        InputError: it is invalid.
    """
    found = _CLOCK.fullmatch(text.strip()) or _OFFSET.fullmatch(text.strip())
    parts = (
        {}
        if found is None
        else {name: found[name] for name in _SECONDS if found.re.groupindex.get(name)}
    )
    if (
        found is None
        or not any(parts.values())
        or any(len(each or "") > len("100000000") for each in parts.values())
    ):
        raise InputError(
            "this is not a clock offset",
            expected="such as +1h02m, -3:30 or +1:02:15",
            found=f'"{text[:80]}"',
        )
    seconds = sum(int(value) * _SECONDS[name] for name, value in parts.items() if value)
    return -seconds if found["sign"] == "-" else seconds


def read_zone(text: str) -> int:
    """Minutes that a time zone is ahead of UTC: `+02:00`, `UTC-3`, `UTC`.

    Raises:
        InputError: it is invalid.
    """
    if text.strip().upper() in {"UTC", "Z"}:
        return 0
    found = _ZONE.fullmatch(text.strip())
    minutes = 0 if found is None else int(found["hours"]) * 60 + int(found["minutes"] or 0)
    if found is None or minutes > LARGEST_ZONE_MINUTES:
        raise InputError(
            "this is not a time zone",
            expected="such as +02:00, UTC-3 or UTC",
            found=f'"{text[:80]}"',
        )
    return -minutes if found["sign"] == "-" else minutes


def offset_text(seconds: int) -> str:
    """An offset as `read_offset` reads it: `+1h 02m`, `-45s`."""
    days, rest = divmod(abs(seconds), 86_400)
    hours, rest = divmod(rest, 3_600)
    minutes, left = divmod(rest, 60)
    parts = ((days, "d"), (hours, "h"), (minutes, "m"), (left, "s"))
    words = [f"{value}{unit}" for value, unit in parts if value] or ["0s"]
    return ("-" if seconds < 0 else "+") + " ".join(words)


def zone_text(minutes: int) -> str:
    """A time zone as `read_zone` reads it: `UTC+02:00`."""
    hours, rest = divmod(abs(minutes), 60)
    return f"UTC{'-' if minutes < 0 else '+'}{hours:02}:{rest:02}"


def checked_correction(correction: ClockCorrection) -> ClockCorrection:
    """Parse a correction.

    Raises:
        InputError: it is for no folder and no camera, or too large.
    """
    texts = correction.folder or "", correction.camera, correction.serial
    minutes = correction.zone_minutes
    are_texts = all(isinstance(each, str) and len(each) <= _LONGEST for each in texts)
    is_for_one = (correction.folder is None) == bool(correction.camera)
    if not (are_texts and is_for_one) or (correction.serial and not correction.camera):
        raise InputError("a clock is corrected for a folder or a camera", expected="one of the two")
    if not _is_within(correction.seconds, LARGEST_OFFSET_S):
        raise InputError(
            "the clock cannot be that wrong",
            expected="at most 100 years",
            found=str(correction.seconds),
        )
    if minutes is not None and not _is_within(minutes, LARGEST_ZONE_MINUTES):
        raise InputError(
            "this is not a time zone", expected="at most 14 hours from UTC", found=str(minutes)
        )
    return correction


def _is_within(value: Any, limit: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= limit
