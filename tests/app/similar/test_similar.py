"""Find similar: by a key or a file dropped with Alt, and back to the same position."""

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtWidgets import QComboBox

from app.image_grid.held_order import Order
from app.session.subsets import Subset
from tests.support.collections import Collection, write_shape
from tests.support.desk import ALT, CONTROL, Desk

Key = Qt.Key


@pytest.fixture
def looking(desk: Desk, collection: Collection) -> Desk:
    """The whole collection in the order added."""
    desk.open(collection.project)
    desk.window.workspace.choose_order(Order.ADDED)
    desk.window.tree.select_subset(Subset.ALL)
    desk.grid.setFocus()
    return desk


def ids(desk: Desk) -> list[int]:
    return desk.window.workspace.model.image_ids.tolist()


def truth_of(desk: Desk, collection: Collection, image_id: int) -> str:
    """The class that a picture was drawn as."""
    return desk.label_of(image_id) or desk.best_of(image_id)


def test_s_shows_the_collection_by_similarity_and_escape_goes_back(
    looking: Desk, collection: Collection
) -> None:
    """The image itself is first, its class follows; Esc restores card and scroll position."""
    image_id, before = looking.choose(30), ids(looking)
    scrolled = looking.grid.verticalScrollBar().value()
    name = looking.state.path_of(image_id).name
    looking.press(Key.Key_S)
    looking.wait(lambda: looking.window.workspace.images is not None)
    assert looking.window.workspace.header.title == f"Similar to {name}"
    assert (len(ids(looking)), ids(looking)[0], looking.grid.current_id) == (
        len(before),
        image_id,
        image_id,
    )
    nearest = [truth_of(looking, collection, each) for each in ids(looking)[:6]]
    assert nearest.count(nearest[0]) >= 5
    looking.press(Key.Key_Escape)
    assert looking.window.workspace.images is None
    assert (ids(looking), looking.grid.current_id) == (before, image_id)
    assert looking.grid.verticalScrollBar().value() == scrolled


@pytest.mark.slow
def test_cards_say_how_alike_they_are(looking: Desk) -> None:
    looking.choose(0)
    looking.press(Key.Key_S)
    looking.wait(lambda: looking.window.workspace.images is not None)
    model = looking.window.workspace.model
    assert model.card(0).detail == "100% similar"
    assert model.card(0).title


@pytest.mark.slow
def test_the_order_stays_while_cards_are_labelled(looking: Desk) -> None:
    """Keys label as usual, one undo step each, and no card moves."""
    image_id = looking.choose(40)
    looking.press(Key.Key_S)
    looking.wait(lambda: looking.window.workspace.images is not None)
    before = ids(looking)
    row = next(row for row, each in enumerate(before) if not looking.label_of(each))
    looking.choose(row)
    change = looking.press_for_change(Key.Key_U)
    assert change.labelled == (before[row],)
    looking.wait(lambda: looking.window.session.is_settled)
    assert ids(looking) == before
    looking.press_for_change(Key.Key_Z, CONTROL)
    assert ids(looking) == before
    assert image_id in before


@pytest.mark.slow
def test_another_order_can_be_chosen_and_by_similarity_again(looking: Desk) -> None:
    looking.choose(5)
    looking.press(Key.Key_S)
    looking.wait(lambda: looking.window.workspace.images is not None)
    alike = ids(looking)
    looking.window.workspace.choose_order(Order.ADDED)
    assert ids(looking) == sorted(alike)
    box = next(each for each in looking.window.workspace.header.findChildren(QComboBox))
    place = box.findText("By similarity")
    assert place == 0
    box.setCurrentIndex(place)
    box.activated.emit(place)
    assert ids(looking) == alike
    looking.press(Key.Key_Escape)
    assert box.findText("By similarity") < 0


@pytest.mark.slow
def test_a_file_from_outside_is_dropped_with_alt(
    looking: Desk, collection: Collection, tmp_path: Path
) -> None:
    """It is embedded only for the query: the project has no additional image."""
    count = len(ids(looking))
    outside = write_shape(tmp_path / "outside.png", "Green disc", seed=99)
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(outside))])
    looking.drop(looking.grid, data, QPointF(20, 20), ALT)
    looking.wait(lambda: looking.window.workspace.images is not None)
    assert looking.window.workspace.header.title == "Similar to outside.png"
    assert len(ids(looking)) == count
    assert truth_of(looking, collection, ids(looking)[0]) == "Green disc"


@pytest.mark.slow
def test_a_file_that_is_no_image_is_refused_with_its_reason(looking: Desk, tmp_path: Path) -> None:
    outside = tmp_path / "notes.jpg"
    outside.write_text("no picture")
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(outside))])
    looking.drop(looking.grid, data, QPointF(20, 20), ALT)
    looking.wait(lambda: "notes.jpg" in looking.window.toast.message)
    assert looking.window.workspace.images is None
