"""What the program wrote of itself during a story: errors that nobody caught, and warnings of Qt."""

import re
from pathlib import Path
from typing import Final

_FAULT: Final = re.compile(
    r" (?:ERROR|CRITICAL) |WARNING qt: (?!Could not find accessible on path)|Fatal Python error"
)
"""Qt warns of a path where our screen reader looks at a part that has just gone."""


def faults_in(folder: Path) -> list[str]:
    """Lines of all logs in a folder that no story may leave, each with what follows it up to the next entry."""
    return [
        entry
        for path in sorted(folder.glob("*.log*"))
        for entry in _entries(path)
        if _FAULT.search(entry)
    ]


def _entries(path: Path) -> list[str]:
    """Entries of a log; a traceback belongs to the line above it."""
    return re.split(r"\n(?=\d{4}-\d\d-\d\d )", path.read_text(encoding="utf-8", errors="replace"))
