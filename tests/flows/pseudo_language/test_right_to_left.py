"""The window in a right-to-left language: mirrored, not clipped, with visual arrow keys."""

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QLabel, QSlider, QWidget

from app.image_view.view import ImageBar
from app.inspector.bar_section import BarChart
from app.inspector.notes import StarRating
from app.inspector.view import Inspector
from tests.flows.pseudo_language.test_screens import read_every_action
from tests.support.clicks import click
from tests.support.desk import Desk
from tests.support.pseudo_reader import Reader
from tests.support.sessions import settle

pytestmark = pytest.mark.slow

Key = Qt.Key
LEFT_TO_RIGHT, RIGHT_TO_LEFT = "protoleaf_pseudo.qm", "protoleaf_pseudo_rtl.qm"
both_ways = pytest.mark.parametrize("spoken", [LEFT_TO_RIGHT, RIGHT_TO_LEFT], indirect=True)


@pytest.fixture
def spoken(request: pytest.FixtureRequest, pseudo_translations: Path) -> str:
    """The pseudo-language in Hebrew letters, unless a test sets another."""
    return str(pseudo_translations.with_name(getattr(request, "param", RIGHT_TO_LEFT)))


def is_mirrored(spoken: str) -> bool:
    return Path(spoken).name == RIGHT_TO_LEFT


def place_of(part: QWidget) -> QRect:
    """The rectangle of a widget on the screen."""
    return QRect(part.mapToGlobal(QPoint(0, 0)), part.size())


def in_reading_order(spoken: str, *places: QRect) -> list[QRect]:
    return sorted(places, key=lambda place: place.center().x(), reverse=is_mirrored(spoken))


def test_nothing_is_cut(reviewing: Desk, reader: Reader) -> None:
    """All texts fit on the screens of all actions; `PROTOLEAF_PICTURES` saves screenshots."""
    reader.read("welcome")
    read_every_action(reviewing, reader)


@both_ways
def test_panes_and_cards_begin_at_one_side(reviewing: Desk, spoken: str) -> None:
    """Classes, images, inspector; and cards in the same direction."""
    window, view = reviewing.window, reviewing.grid
    panes = [place_of(part) for part in (window.tree, window.workspace, window.inspector)]
    assert in_reading_order(spoken, *panes) == panes
    cards = [view.visualRect(view.model().index(row, 0)) for row in range(3)]
    assert in_reading_order(spoken, *cards) == cards
    assert len({card.top() for card in cards}) == 1
    outer = view.viewport().width() - cards[0].right() if is_mirrored(spoken) else cards[0].left()
    assert 0 < outer < cards[0].width() // 2


@both_ways
def test_what_is_noted_of_an_image_stands_where_its_card_begins(
    reviewing: Desk, spoken: str
) -> None:
    """The badge with the flag is painted in the picture's lower corner on the leading side."""
    reviewing.choose(0)
    view = reviewing.grid
    card = view.visualRect(view.model().index(0, 0))
    picture = card.adjusted(0, card.width() // 2, 0, card.width() - card.height())
    before = view.viewport().grab(picture).toImage()
    reviewing.press_for_change(Key.Key_F)
    changed = columns_that_differ(before, view.viewport().grab(picture).toImage())
    assert changed
    assert all((column > before.width() / 2) == is_mirrored(spoken) for column in changed)


def columns_that_differ(one: QImage, other: QImage) -> list[int]:
    return [
        x
        for x in range(one.width())
        if any(one.pixel(x, y) != other.pixel(x, y) for y in range(one.height()))
    ]


@both_ways
def test_arrows_go_from_card_to_card_as_is_seen(reviewing: Desk, spoken: str) -> None:
    """The arrow key in reading direction goes to the next card of the row."""
    onwards, back = (
        (Key.Key_Left, Key.Key_Right) if is_mirrored(spoken) else (Key.Key_Right, Key.Key_Left)
    )
    reviewing.choose(0)
    view = reviewing.grid
    for key, row in ((onwards, 1), (onwards, 2), (back, 1)):
        before = view.visualRect(view.currentIndex()).center()
        reviewing.press(key)
        after = view.visualRect(view.currentIndex()).center()
        assert view.currentIndex().row() == row
        assert (after.x() < before.x()) == (key == Key.Key_Left)


@both_ways
def test_a_click_takes_the_card_that_is_seen(reviewing: Desk, spoken: str) -> None:
    """A click at the trailing edge of the second card selects it."""
    view = reviewing.grid
    second = view.visualRect(view.model().index(1, 0))
    across = second.left() + 6 if is_mirrored(spoken) else second.right() - 6
    click(view.viewport(), QPoint(across, second.center().y()))
    assert view.currentIndex().row() == 1


@both_ways
def test_arrows_open_a_branch_towards_its_rows(reviewing: Desk, spoken: str) -> None:
    """The arrow in reading direction expands, the other collapses; the chevron is leading."""
    opening, closing = (
        (Key.Key_Left, Key.Key_Right) if is_mirrored(spoken) else (Key.Key_Right, Key.Key_Left)
    )
    view = reviewing.window.tree.front
    red = next(
        view.model().index(row, 0) for row in range(3) if view.model().index(row, 0).data() == "Red"
    )
    view.setCurrentIndex(red)
    view.setFocus()
    settle(reviewing.qtbot, reviewing.window.session)
    for key, is_open in ((closing, False), (opening, True), (closing, False)):
        reviewing.press(key)
        assert view.isExpanded(red) == is_open
    name, view_port = view.visualRect(red), view.viewport()
    across = name.right() + 8 if is_mirrored(spoken) else name.left() - 8
    click(view_port, QPoint(across, name.center().y()))
    assert view.isExpanded(red)
    below = view.visualRect(view.model().index(0, 0, red))
    assert (below.right() < name.right()) if is_mirrored(spoken) else (below.left() > name.left())


@both_ways
def test_arrows_go_from_image_to_image(reviewing: Desk, spoken: str) -> None:
    """Arrows in the image view follow the reading direction, as do the buttons."""
    onwards, back = (
        (Key.Key_Left, Key.Key_Right) if is_mirrored(spoken) else (Key.Key_Right, Key.Key_Left)
    )
    first = reviewing.choose(0)
    reviewing.press(Key.Key_Space)
    view = reviewing.window.workspace.image_view
    reviewing.wait(view.isVisible)
    view.setFocus()
    reviewing.press(onwards)
    reviewing.wait(lambda: reviewing.grid.currentIndex().row() == 1)
    reviewing.press(back)
    reviewing.wait(lambda: reviewing.grid.current_id == first)
    (bar,) = view.findChildren(ImageBar)
    buttons = [place_of(button) for button in (bar._before, bar._after)]  # noqa: SLF001 (their positions are tested)
    assert in_reading_order(spoken, *buttons) == buttons


@both_ways
def test_stars_are_counted_from_where_they_begin(reviewing: Desk, spoken: str) -> None:
    """Clicks and arrows count stars from the leading side."""
    image_id = reviewing.choose(0)
    (stars,) = reviewing.window.inspector.findChildren(StarRating)
    click(stars, QPoint(stars.width() - 10 if is_mirrored(spoken) else 10, stars.height() // 2))
    reviewing.wait(lambda: stars.stars == 1)
    stars.setFocus()
    reviewing.press_for_change(Key.Key_Left if is_mirrored(spoken) else Key.Key_Right)
    assert reviewing.state.notes[image_id].stars == 2


@pytest.fixture
def class_page(reviewing: Desk) -> Inspector:
    """The page of a class whose row was clicked."""
    tree, inspector = reviewing.window.tree.front, reviewing.window.inspector
    tree.expandAll()
    (row,) = tree.model().indexes_of(reviewing.graph.find("Red disc"))  # type: ignore[attr-defined]
    click(tree.viewport(), tree.visualRect(row).center())
    reviewing.wait(
        lambda: inspector.class_facts is not None and bool(inspector.findChildren(BarChart))
    )
    return inspector


def test_a_plot_and_its_slider_stay_as_they_are(reviewing: Desk, class_page: Inspector) -> None:
    """Values increase to the right in every language; other sliders are mirrored."""
    (chart,) = class_page.findChildren(BarChart)
    (axis,) = class_page.findChildren(QSlider)
    assert chart.layoutDirection() == axis.layoutDirection() == Qt.LayoutDirection.LeftToRight
    (zoom,) = reviewing.window.workspace.header.findChildren(QSlider)
    assert zoom.layoutDirection() == Qt.LayoutDirection.RightToLeft


def test_names_begin_where_all_lines_do(class_page: Inspector) -> None:
    """A Latin name is aligned to the right, although its own direction is left to right."""
    (title,) = (label for label in class_page.findChildren(QLabel) if label.text() == "Red disc")
    inked = columns_with_ink(title.grab().toImage())
    assert title.width() - inked[-1] < inked[0]


def columns_with_ink(picture: QImage) -> list[int]:
    ground = picture.pixel(0, 0)
    return [
        x
        for x in range(picture.width())
        if any(picture.pixel(x, y) != ground for y in range(picture.height()))
    ]
