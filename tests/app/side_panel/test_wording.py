"""Words that the side panels share."""

from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QApplication

from app.side_panel.wording import share


def test_numbers_follow_the_locale(qapp: QApplication) -> None:
    """A comma where the person writes one."""
    before = QLocale()
    try:
        QLocale.setDefault(QLocale(QLocale.Language.German, QLocale.Country.Germany))
        assert share(0.5714) == "57,1 %"
    finally:
        QLocale.setDefault(before)
