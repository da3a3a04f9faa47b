"""Sizes of files and downloads in words, in the person's language and number format."""

from typing import Final

from PySide6.QtCore import QLocale

from app.texts import fill, translate

_KILOBYTE: Final = 1e3
_MEGABYTE: Final = 1e6
_FIRST_MEGABYTE: Final = 999_950  # from here on kilobytes would read 1,000.0


def file_size(size_bytes: float) -> str:
    """`97.8 MB`; `53.1 kB` where it is less than one."""
    if size_bytes < _FIRST_MEGABYTE:
        return fill(translate("backbones", "%1 kB"), _decimal(size_bytes / _KILOBYTE))
    return fill(translate("backbones", "%1 MB"), _decimal(size_bytes / _MEGABYTE))


def part_of_size(done_bytes: int, total_bytes: int) -> str:
    """`1.2 of 4.8 MB`: the part in the unit of the whole."""
    unit = _KILOBYTE if total_bytes < _FIRST_MEGABYTE else _MEGABYTE
    return fill(translate("backbones", "%1 of %2"), _decimal(done_bytes / unit), file_size(total_bytes))


def transfer_rate(bytes_per_s: float) -> str:
    """`1.6 MB/s`, in the unit of a file that is as large."""
    return fill(translate("backbones", "%1/s"), file_size(bytes_per_s))


def _decimal(value: float) -> str:
    return QLocale().toString(value, "f", 1)
