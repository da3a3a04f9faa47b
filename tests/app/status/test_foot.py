"""Strips below the images."""

from pytestqt.qtbot import QtBot

from app.status.foot import Foot
from app.status.notice import Notice


def shown(*strips: Notice) -> list[bool]:
    """Which of the strips can be seen."""
    return [strip.isVisible() for strip in strips]


def test_one_strip_at_a_time(qtbot: QtBot) -> None:
    """The one asked last; when it is dismissed, the one before comes back; a hidden foot changes nothing of it."""
    foot, first, second = Foot(), Notice(), Notice()
    qtbot.addWidget(foot)
    for strip in (first, second):
        foot.add(strip)
    foot.show()
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
    foot.hide()
    second.ask("Your name?", [])
    foot.show()
    assert shown(first, second) == [False, True]
    assert foot.strips == (first, second)


def test_an_empty_foot_takes_no_room(qtbot: QtBot) -> None:
    """With all strips hidden it has no height."""
    foot = Foot()
    qtbot.addWidget(foot)
    foot.add(Notice())
    assert foot.sizeHint().height() == 0
