"""Sizes of files and downloads."""

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QApplication

from app.backbones.sizes import file_size, part_of_size, transfer_rate


@pytest.mark.parametrize(
    ("size_bytes", "said"),
    [(0, "0.0 kB"), (49_000, "49.0 kB"), (999_949, "999.9 kB"), (999_950, "1.0 MB"), (97_800_000, "97.8 MB")],
)
def test_what_is_less_than_a_megabyte_is_told_in_kilobytes(size_bytes: int, said: str) -> None:
    """No file is told to be of no size, and nothing reads 1,000.0 kB."""
    assert file_size(size_bytes) == said


def test_a_part_is_told_in_the_unit_of_the_whole() -> None:
    """However little of it is there."""
    assert part_of_size(100_000, 4_800_000) == "0.1 of 4.8 MB"
    assert part_of_size(100_000, 480_000) == "100.0 of 480.0 kB"


def test_rates_and_locale(qapp: QApplication) -> None:
    """A comma where the person writes one."""
    before = QLocale()
    try:
        QLocale.setDefault(QLocale(QLocale.Language.German, QLocale.Country.Germany))
        assert transfer_rate(1_600_000.0) == "1,6 MB/s"
        assert transfer_rate(30_000.0) == "30,0 kB/s"
    finally:
        QLocale.setDefault(before)
