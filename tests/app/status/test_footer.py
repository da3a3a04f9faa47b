"""Notices below the images."""

from pytestqt.qtbot import QtBot

from app.status.footer import StatusFooter
from app.status.notice import Notice


def shown(*strips: Notice) -> list[bool]:
    """Visibility of the strips."""
    return [strip.isVisible() for strip in strips]


def test_one_strip_at_a_time(qtbot: QtBot) -> None:
    """The latest one; when it is dismissed, the previous one is shown again."""
    footer, first, second = StatusFooter(), Notice(), Notice()
    qtbot.addWidget(footer)
    for strip in (first, second):
        footer.add(strip)
    footer.show()
    assert shown(first, second) == [False, False]
    first.ask("Fold bursts?", [])
    assert shown(first, second) == [True, False]
    second.ask("Your name?", [])
    assert shown(first, second) == [False, True]
    assert not first.isHidden()  # it was not dismissed
    first.ask("Fold bursts?", [])
    assert shown(first, second) == [False, True]
    second.hide()
    assert shown(first, second) == [True, False]
    footer.hide()
    second.ask("Your name?", [])
    footer.show()
    assert shown(first, second) == [False, True]
    assert footer.strips == (first, second)


def test_an_empty_foot_takes_no_room(qtbot: QtBot) -> None:
    """Its height is 0."""
    footer = StatusFooter()
    qtbot.addWidget(footer)
    footer.add(Notice())
    assert footer.sizeHint().height() == 0
