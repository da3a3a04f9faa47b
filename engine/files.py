"""Files found on disk, as the rest of the engine passes them around."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class FoundFile:
    """A file that was there when somebody looked.

    Attributes:
        path: absolute path.
        size_bytes: its size.
        modified_ns: time of last modification, nanoseconds since the epoch.
    """

    path: Path
    size_bytes: int
    modified_ns: int


@dataclass(frozen=True)
class FileFailure:
    """A file that could not be used, and why in one line."""

    path: Path
    reason: str
