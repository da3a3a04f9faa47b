"""Errors in the program's log: uncaught exceptions and warnings of Qt."""

import re
from pathlib import Path

_FAULT = re.compile(
    r" (?:ERROR|CRITICAL) |WARNING qt: (?!Could not find accessible on path)|Fatal Python error"
)
"""Qt warns about an accessible path that has just been removed."""


def faults_in(folder: Path) -> list[str]:
    """Log entries in a folder that no test may cause, each with its following lines."""
    return [
        entry
        for path in sorted(folder.glob("*.log*"))
        for entry in _entries(path)
        if _FAULT.search(entry)
    ]


def _entries(path: Path) -> list[str]:
    """Entries of a log; a traceback belongs to the line above it."""
    return re.split(r"\n(?=\d{4}-\d\d-\d\d )", path.read_text(encoding="utf-8", errors="replace"))
