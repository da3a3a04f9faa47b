"""The header of the grid."""

from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from app.session.subsets import Subset
from app.workspace.header import Header

LONG, SHORT = "A long name of a class that has nothing to do with the next", "Gull"


def _ends_of(header: Header) -> tuple[int, int]:
    """Where the text of the title ends, and where the count begins."""
    title, count = (
        next(label for label in header.findChildren(QLabel) if label.text() == text)
        for text in (header.title, "53 images")
    )
    return title.x() + title.fontMetrics().horizontalAdvance(header.title), count.x()


def test_a_count_stands_right_behind_the_title(qtbot: QtBot) -> None:
    """The count follows a short title after a long one; hidden chips are shown again."""
    header = Header()
    qtbot.addWidget(header)
    header.resize(760, 48)
    header.show_subset(Subset.ALL, has_class=True)
    header.show()
    chips = [each for each in header.findChildren(QPushButton) if each.property("role") == "chip"]
    shown = list[tuple[int, list[bool]]]()
    for title in (SHORT, LONG, SHORT):
        header.show_title(title, 53, to_review=32)
        end, begin = _ends_of(header)
        shown.append((begin - end, [chip.isVisible() for chip in chips]))
    assert shown[0] == shown[2]
    assert shown[0] != shown[1]
    assert 0 < shown[2][0] < 20
