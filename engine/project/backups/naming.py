"""What a backup is called: the project, when it was made and why, readable for people and for the program."""

import os
import re
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Final

from engine.config import PROJECT_SUFFIX

_TIME: Final = "%Y-%m-%d %H-%M-%S"
_PATTERN: Final = re.compile(
    r"(?P<project>.+) (?P<time>\d{4}-\d\d-\d\d \d\d-\d\d-\d\d) \((?P<reason>[^()]+)\)(?: \d+)?"
    + re.escape(PROJECT_SUFFIX),
    re.DOTALL,
)
_LONGEST_PROJECT_BYTES: Final = 120  # file systems take 255 for the whole name


class BackupReason(Enum):
    """Why a backup was made; the value stands in its name."""

    QUARTER_HOUR = "every 15 minutes"
    DAY = "once a day"
    ASKED = "on request"
    MIGRATION = "before an update of the file"
    MERGE = "before merging a class list"
    IMPORT = "before importing labels"
    MODEL = "before changing the model"
    REMOVAL = "before removing"
    RESTORE = "before restoring"

    @property
    def is_automatic(self) -> bool:
        """Whether the clock asked for it."""
        return self in (BackupReason.QUARTER_HOUR, BackupReason.DAY)

    @property
    def is_before_action(self) -> bool:
        """Whether it was made because something was about to change much."""
        return not self.is_automatic and self is not BackupReason.ASKED


@dataclass(frozen=True)
class BackupName:
    """What a backup's name says.

    Attributes:
        project: name of the project, without its suffix.
        when: with time zone.
        reason: why it was made.
    """

    project: str
    when: datetime
    reason: BackupReason


def project_name(project: Path) -> str:
    """Name of a project as its backups carry it: without suffix, and cut where it would not leave room."""
    name = project.name.removesuffix(PROJECT_SUFFIX)
    while len(os.fsencode(name)) > _LONGEST_PROJECT_BYTES:
        name = name[:-1]
    return name.rstrip()


def file_name(name: BackupName, number: int = 1) -> str:
    """`birds 2026-01-02 03-04-05 (once a day).protoleaf`; in local time.

    Args:
        name: what it says.
        number: of several that would be called the same.
    """
    more = f" {number}" if number > 1 else ""
    return f"{name.project} {name.when.astimezone().strftime(_TIME)} ({name.reason.value}){more}{PROJECT_SUFFIX}"


def read_name(path: Path) -> BackupName | None:
    """What a backup's name says; None where the file is called otherwise."""
    found = _PATTERN.fullmatch(path.name)
    if found is None:
        return None
    try:
        when = datetime.strptime(found["time"], _TIME).astimezone()
        return BackupName(found["project"], when, BackupReason(found["reason"]))
    except (ValueError, OverflowError, OSError):  # a time or a reason that never was
        return None
