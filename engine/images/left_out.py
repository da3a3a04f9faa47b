"""Files in a person's folders that are not read: pictures and videos by their kind, everything else as a number."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

UNREAD_RAW_KINDS: Final = frozenset(
    {"3FR", "CRW", "DCR", "ERF", "FFF", "GPR", "IIQ", "KDC", "MEF", "MOS", "MRW", "RAW", "SRF", "X3F"}
)
"""RAW photos whose preview is not looked for, by the suffix of the file."""

VIDEO_KINDS: Final = frozenset(
    {
        *("3G2", "3GP", "AVI", "FLV", "INSV", "LRV", "M2TS", "M4V", "MKV", "MOV", "MP4", "MPEG", "MPG", "MTS", "OGV"),
        *("VOB", "WEBM", "WMV"),
    }
)

_PICTURE_KINDS: Final = frozenset(
    {
        *("DDS", "DJVU", "EPS", "EXR", "HDR", "ICNS", "ICO", "JXL", "JXR", "KRA", "PCX"),
        *("PSB", "PSD", "QOI", "SVG", "TGA", "XCF"),
    }
)
_KINDS: Final = UNREAD_RAW_KINDS | VIDEO_KINDS | _PICTURE_KINDS


@dataclass
class LeftOut:
    """Files that were passed over in folders."""

    # Pictures and videos that the program does not read, by kind ("HEIC")
    kinds: Counter[str] = field(default_factory=Counter)
    others: int = 0  # files that are neither, such as texts and sidecars
    raw_doubles: int = 0  # RAW photos beside which the camera put the same photo as JPEG or HEIC, which is taken

    def add(self, path: Path) -> None:
        kind = unread_kind(path)
        if kind:
            self.kinds[kind] += 1
        else:
            self.others += 1

    @property
    def count(self) -> int:
        """Pictures and videos."""
        return self.kinds.total()

    @property
    def has_pictures(self) -> bool:
        """Whether there are others than videos, which could be saved as something that is read."""
        return any(kind not in VIDEO_KINDS for kind in self.kinds)

    def by_kind(self) -> list[tuple[str, int]]:
        """Kinds and how many, most first."""
        return sorted(self.kinds.items(), key=lambda item: (-item[1], item[0]))


def unread_kind(path: Path) -> str:
    """Kind of a picture or video that the program does not read, by its suffix; empty for all other files."""
    kind = path.suffix[1:].upper()
    return kind if kind in _KINDS else ""
