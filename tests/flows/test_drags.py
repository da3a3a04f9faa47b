"""Images dragged by mouse from the grid onto rows of classes."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QLineEdit

from app.class_tree.subset_list import SubsetList
from app.class_tree.view import NoClasses
from app.drops import DropChip
from app.session.subsets import Subset
from engine.collection.importing.import_images import import_images
from engine.collection.new_project import new_project
from engine.collection.state import UNKNOWN
from tests.support.collections import Collection, write_shape
from tests.support.desk import CONTROL, Desk
from tests.support.hand import Hand, Spot
from tests.support.sessions import LONG_MS, changed_by, open_project

pytestmark = pytest.mark.slow


def card(desk: Desk, row: int) -> Spot:
    """The centre of a card."""
    grid = desk.grid
    return Spot(grid.viewport(), grid.visualRect(grid.model().index(row, 0)).center())


def on_class(desk: Desk, name: str, *, is_folded: bool = False) -> Spot:
    """The centre of a class's first row, with all branches expanded or collapsed."""
    view = desk.window.tree.front
    view.collapseAll() if is_folded else view.expandAll()
    (index, *_others) = view.model().indexes_of(desk.graph.find(name))  # type: ignore[attr-defined]
    return Spot(view.viewport(), view.visualRect(index).center())


def below_classes(desk: Desk) -> Spot:
    """The empty area below all rows."""
    view = desk.window.tree.front
    view.expandAll()
    return Spot(view.viewport(), QPoint(40, view.viewport().height() - 40))


def on_subset(desk: Desk, subset: Subset) -> Spot:
    """The centre of a subset row."""
    subset_list = desk.window.tree.findChild(SubsetList)
    assert isinstance(subset_list, SubsetList)
    rect: QRect = subset_list.visualRect(subset_list.model().index(list(Subset).index(subset), 0))
    return Spot(subset_list.viewport(), rect.center())


def chip(desk: Desk) -> str:
    """The text of the chip at the pointer, "" if hidden."""
    chips = [each.text for each in desk.window.findChildren(DropChip) if each.isVisible()]
    return "".join(chips)


def labels(desk: Desk, image_ids: tuple[int, ...]) -> list[str]:
    """Labels of images."""
    return [desk.label_of(image_id) for image_id in image_ids]


@pytest.mark.parametrize("pressed", [0, 2])
def test_one_card_is_dragged_onto_a_class(pressed: int, reviewing: Desk, hand: Hand) -> None:
    """The pressed card is selected and labelled; the row is highlighted, and the chip names it."""
    chips: list[str] = []
    image_id = int(reviewing.grid.model().image_ids[pressed])  # type: ignore[attr-defined]
    target = on_class(reviewing, "Blue disc")
    changed_by(
        reviewing.qtbot,
        reviewing.window.session,
        lambda: hand.drag(card(reviewing, pressed), target, lambda: chips.append(chip(reviewing))),
    )
    assert hand.was_dropped
    assert chips == ["Label 1 image as Blue disc"]
    assert chip(reviewing) == ""
    reviewing.wait(lambda: reviewing.label_of(image_id) == "Blue disc")


def test_all_chosen_cards_are_dragged_as_one_step(reviewing: Desk, hand: Hand) -> None:
    """Dragging one of three selected cards labels all three; one undo reverts all labels."""
    hand.click(card(reviewing, 0))
    hand.click(card(reviewing, 2), CONTROL)
    hand.click(card(reviewing, 3), CONTROL)
    chosen = reviewing.grid.selected_ids
    assert len(chosen) == 3
    changed_by(
        reviewing.qtbot,
        reviewing.window.session,
        lambda: hand.drag(card(reviewing, 2), on_class(reviewing, "Red checks")),
    )
    reviewing.wait(lambda: labels(reviewing, chosen) == ["Red checks"] * 3)
    changed_by(
        reviewing.qtbot, reviewing.window.session, lambda: reviewing.press(Qt.Key.Key_Z, CONTROL)
    )
    reviewing.wait(lambda: labels(reviewing, chosen) == [""] * 3)


def test_the_pile_at_the_pointer_shows_the_pictures(reviewing: Desk, hand: Hand) -> None:
    """Cached pixmaps of the cards, without decoding."""
    reviewing.wait(lambda: not reviewing.window.thumbnails.is_busy)
    hand.drag(card(reviewing, 0), on_class(reviewing, "Blue disc"), gives_up=True)
    pile = hand.picture.toImage()
    colours = {pile.pixelColor(x, pile.height() // 2).name() for x in range(8, 64)}
    assert len(colours) > 3


def test_images_dropped_below_the_classes_become_a_new_one(reviewing: Desk, hand: Hand) -> None:
    """The palette asks for a name; class and labels are one undo step."""
    hand.click(card(reviewing, 0))
    hand.click(card(reviewing, 1), CONTROL)
    chosen, chips = reviewing.grid.selected_ids, []
    hand.drag(card(reviewing, 0), below_classes(reviewing), lambda: chips.append(chip(reviewing)))
    assert chips == ["New class with 2 images"]
    field = reviewing.window.palette_panel.findChild(QLineEdit)
    assert isinstance(field, QLineEdit)
    reviewing.qtbot.keyClicks(field, "Violet disc")
    change = changed_by(
        reviewing.qtbot,
        reviewing.window.session,
        lambda: reviewing.qtbot.keyClick(field, Qt.Key.Key_Return),
    )
    assert change.text == "Created class Violet disc with 2 images"
    reviewing.wait(lambda: labels(reviewing, chosen) == ["Violet disc"] * 2)
    changed_by(reviewing.qtbot, reviewing.window.session, reviewing.window.session.undo)
    assert not list(reviewing.graph.search("Violet disc", 1))
    reviewing.wait(lambda: labels(reviewing, chosen) == ["", ""])


def test_the_fixed_rows_take_images_where_that_means_something(reviewing: Desk, hand: Hand) -> None:
    """Unknown labels as none of the classes, To review removes labels; the others reject."""
    image_id = int(reviewing.grid.model().image_ids[0])  # type: ignore[attr-defined]
    reviewing.window.registry.trigger("show_all")
    reviewing.window.workspace.show_image(image_id)
    row = reviewing.grid.currentIndex().row()
    chips: list[str] = []
    for subset in (Subset.ALL, Subset.LABELLED, Subset.FAILED):
        hand.drag(
            card(reviewing, row),
            on_subset(reviewing, subset),
            lambda: chips.append(chip(reviewing)),
        )
        assert not hand.was_dropped
        assert hand.has_carried
    assert chips == ["", "", ""]
    drop = partial(hand.drag, card(reviewing, row))
    look = lambda: chips.append(chip(reviewing))  # noqa: E731
    for subset, words, is_unknown in (
        (Subset.UNKNOWN, "Label 1 image as none of the classes", True),
        (Subset.TO_REVIEW, "Remove the label of 1 image", False),
    ):
        changed_by(
            reviewing.qtbot,
            reviewing.window.session,
            partial(drop, on_subset(reviewing, subset), look),
        )
        assert chips[-1] == words
        reviewing.qtbot.waitUntil(
            partial(is_labelled_unknown, reviewing, image_id, is_true=is_unknown), timeout=LONG_MS
        )


def is_labelled_unknown(desk: Desk, image_id: int, *, is_true: bool) -> bool:
    """Whether an image is labelled as none of the classes, or is not."""
    return (int(desk.state.label_class[desk.state.position(image_id)]) == UNKNOWN) is is_true


def test_esc_and_a_miss_change_nothing(reviewing: Desk, hand: Hand) -> None:
    """A cancelled or rejected drop leaves no label, expanded branch or chip."""
    reds = on_class(reviewing, "Red", is_folded=True)
    before = reviewing.state.label_class.tolist()
    hand.drag(
        card(reviewing, 0),
        reds,
        lambda: reviewing.wait(view_is_open(reviewing, "Red")),
        gives_up=True,
    )
    assert not view_is_open(reviewing, "Red")()
    hand.drag(
        card(reviewing, 0),
        reds,
        lambda: reviewing.wait(view_is_open(reviewing, "Red")),
        card(reviewing, 3),
    )
    assert not hand.was_dropped
    assert not view_is_open(reviewing, "Red")()
    assert chip(reviewing) == ""
    assert reviewing.state.label_class.tolist() == before


def view_is_open(desk: Desk, name: str) -> Callable[[], bool]:
    """Whether a class's row is expanded, as a function."""
    view = desk.window.tree.front
    (index,) = view.model().indexes_of(desk.graph.find(name))  # type: ignore[attr-defined]
    return lambda: view.isExpanded(index)


def test_images_make_the_first_class_of_a_project(desk: Desk, hand: Hand, tmp_path: Path) -> None:
    """Dropped on the hint that there are no classes."""
    write_shape(tmp_path / "photos" / "1.png", "Red disc", seed=0)
    with new_project(tmp_path / "new.protoleaf") as project:
        import_images(project, [tmp_path / "photos"])
    desk.open(tmp_path / "new.protoleaf")
    room = desk.window.tree.findChild(NoClasses)
    assert isinstance(room, NoClasses)
    chips: list[str] = []
    hand.drag(card(desk, 0), Spot(room, room.rect().center()), lambda: chips.append(chip(desk)))
    assert hand.was_dropped
    assert chips == ["New class with 1 image"]
    assert desk.window.palette_panel.isVisible()


def test_a_project_that_cannot_be_changed_takes_no_images(
    desk: Desk, hand: Hand, collection: Collection
) -> None:
    """Read-only: classes, the area below them and the subset rows reject images."""
    open_project(desk.qtbot, desk.window.session, collection.project, for_writing=False)
    for place in (
        on_class(desk, "Blue disc"),
        below_classes(desk),
        on_subset(desk, Subset.UNKNOWN),
    ):
        hand.drag(card(desk, 0), place)
        assert hand.has_carried
        assert not hand.was_dropped
