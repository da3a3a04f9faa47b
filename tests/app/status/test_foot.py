"""Notices below the images."""

from pytestqt.qtbot import QtBot

from app.status.foot import Foot
from app.status.notice import Notice


def shown(*strips: Notice) -> list[bool]:
    """Visibility of the strips."""
    return [strip.isVisible() for strip in strips]


def test_one_strip_at_a_time(qtbot: QtBot) -> None:
    """The latest one; when it is dismissed, the previous one is shown again."""
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
    """Its height is 0."""
    foot = Foot()
    qtbot.addWidget(foot)
    foot.add(Notice())
    assert foot.sizeHint().height() == 0
