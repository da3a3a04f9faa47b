"""Consistency of what is shown: chips, subset rows, counts, cards and inspector."""

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QMenu, QPushButton, QSlider

from app.class_tree.model import ClassTreeModel
from app.class_tree.row_data import COUNT
from app.class_tree.subset_list import SubsetList
from app.controls import ElidedLabel
from app.session.subsets import ImageFilter, ImageSet, Subset, fitting, subset_counts
from app.workspace.header import Header, to_review_text
from engine.collection.importing.import_images import import_images
from engine.collection.state import ChangedImages, ClassMove
from tests.support.clipping import clipped
from tests.support.desk import CONTROL, NO_KEYS, SHIFT, Desk
from tests.support.images import write_jpeg
from tests.support.sessions import act, changed_by
from tests.support.widgets import button, texts

Key = Qt.Key
CHIPS = {
    "All": Subset.ALL,
    "To review": Subset.TO_REVIEW,
    "Labelled": Subset.LABELLED,
    "Unknown": Subset.UNKNOWN,
}


def header(desk: Desk) -> Header:
    """The header of the grid."""
    return desk.window.workspace.header


def click_chip(desk: Desk, name: str) -> None:
    """Click a chip."""
    QTest.mouseClick(button(header(desk), name), Qt.MouseButton.LeftButton)


def click_row(desk: Desk, subset: Subset) -> None:
    """Click a subset row next to the classes."""
    (subset_list,) = desk.window.tree.findChildren(SubsetList)
    place = subset_list.visualRect(
        subset_list.model().index(list(Subset).index(subset), 0)
    ).center()
    QTest.mouseClick(subset_list.viewport(), Qt.MouseButton.LeftButton, pos=place)


def lit(desk: Desk) -> list[str]:
    """The checked chips."""
    return [chip.text() for chip in header(desk).findChildren(QPushButton) if chip.isChecked()]


@pytest.mark.slow
def test_chips_and_sidebar_do_not_say_the_same(reviewing: Desk) -> None:
    """Chips are hidden while a subset row is selected; they filter classes and image sets."""
    reviewing.window.resize(1440, 800)
    every = [button(header(reviewing), name) for name in CHIPS]
    click_row(reviewing, Subset.LABELLED)
    assert not any(chip.isVisible() for chip in every)
    reviewing.window.tree.select_class(reviewing.graph.find("Blue"))
    assert [chip.text() for chip in every if chip.isVisible()] == [
        name for name in CHIPS if name != "Unknown"
    ]
    click_row(reviewing, Subset.ALL)
    assert not any(chip.isVisible() for chip in every)
    reviewing.window.workspace.show_images(ImageSet(reviewing.state.image_ids[:9], "Nine"))
    assert all(chip.isVisible() for chip in every)


@pytest.mark.slow
def test_a_chip_narrows_the_class_that_is_chosen(reviewing: Desk) -> None:
    """Class and title stay; unknown images have no class, so that chip is hidden."""
    reviewing.window.resize(1440, 800)
    blue = reviewing.graph.find("Blue")
    reviewing.window.tree.select_class(blue)
    assert not button(header(reviewing), "Unknown").isVisible()
    click_chip(reviewing, "Labelled")
    assert (reviewing.window.tree.selected_class, header(reviewing).title) == (blue, "Blue")
    assert "9 images" in texts(header(reviewing))


@pytest.mark.slow
def test_everybody_counts_the_same(reviewing: Desk) -> None:
    """The header's counts equal those of the subset rows, also after a label."""
    reviewing.window.resize(1600, 800)
    assert "40 images" in texts(header(reviewing))
    unlabelled = reviewing.choose(0)
    click_row(reviewing, Subset.ALL)
    assert "64 images\n· 40 to review" in texts(header(reviewing))
    reviewing.grid.setFocus()
    reviewing.window.workspace.show_image(unlabelled)
    reviewing.press_for_change(Key.Key_U)
    assert "64 images\n· 39 to review" in texts(header(reviewing))
    assert subset_counts(reviewing.state)[Subset.TO_REVIEW] == 39


@pytest.mark.slow
def test_the_line_above_held_cards_counts_what_the_tree_counts(reviewing: Desk) -> None:
    """Predictions move images into the shown class while its order is held: both counts agree."""
    graph, tree = reviewing.graph, reviewing.window.tree
    reviewing.window.resize(2200, 800)
    tree.front.expandAll()
    model = tree.front.model()
    assert isinstance(model, ClassTreeModel)
    (row,) = model.indexes_of(graph.find("Green stripes"))
    QTest.mouseClick(
        tree.front.viewport(), Qt.MouseButton.LeftButton, pos=tree.front.visualRect(row).center()
    )
    card = reviewing.grid.visualRect(reviewing.grid.model().index(0, 0)).center()
    QTest.mouseClick(reviewing.grid.viewport(), Qt.MouseButton.LeftButton, pos=card)
    before = reviewing.grid.model().rowCount()
    stripes, checks = (reviewing.graph.find(name) for name in ("Green disc", "Blue stripes"))
    act(
        reviewing.qtbot, reviewing.window.session, lambda project: project.classes.remove([stripes])
    )
    act(reviewing.qtbot, reviewing.window.session, lambda project: project.classes.remove([checks]))
    (row,) = model.indexes_of(graph.find("Green stripes"))
    counted = row.siblingAtColumn(COUNT).data()
    assert int(counted) > before == reviewing.grid.model().rowCount()
    assert f"{counted} images" in texts(header(reviewing))
    changed = header(reviewing).sort_again
    assert changed.count >= int(counted) - before
    QTest.mouseClick(changed, Qt.MouseButton.LeftButton)
    assert reviewing.grid.model().rowCount() == int(counted)


@pytest.mark.slow
@pytest.mark.parametrize("size", [(1440, 900), (1000, 640)])
def test_order_and_size_keep_their_place(reviewing: Desk, size: tuple[int, int]) -> None:
    """Sort button and badge do not move them; chips are hidden first."""
    reviewing.window.resize(*size)
    (order,), (slider,) = (
        header(reviewing).findChildren(QComboBox),
        header(reviewing).findChildren(QSlider),
    )
    reviewing.wait(lambda: order.isVisible() and slider.isVisible())
    before = order.geometry(), slider.geometry()
    header(reviewing).show_changed(1_200)
    header(reviewing).show_moves(ChangedImages((ClassMove(1, 2, np.arange(76)),)))
    reviewing.wait(header(reviewing).sort_again.isVisible)
    assert order.isVisible()
    assert slider.isVisible()
    assert (order.geometry(), slider.geometry()) == before
    assert [text for text in clipped(header(reviewing)) if text != header(reviewing).title] == []


@pytest.mark.slow
def test_orders_stand_in_the_palette_too(reviewing: Desk) -> None:
    """The palette and the menu View, below Sort by, have the orders; the combo box follows."""
    (order,) = header(reviewing).findChildren(QComboBox)
    reviewing.press(Key.Key_K, CONTROL)
    rows = reviewing.type_into_palette("sort by class")
    assert rows[0].title == "Sort by: Class"
    reviewing.press(Key.Key_Return)
    assert order.currentText() == "By class"
    orders = [action.text() for action in sort_menu(reviewing).actions()]
    assert len(orders) == order.count()
    assert orders[:2] == [order.itemText(place) for place in range(2)]


def sort_menu(desk: Desk) -> QMenu:
    """The menu View > Sort by."""
    return next(
        menu for menu in desk.window.menuBar().findChildren(QMenu) if menu.title() == "Sort by"
    )


@pytest.mark.parametrize(
    ("to_review", "text"), [(0, "· none to review"), (5, "· all to review"), (3, "· 3 to review")]
)
def test_what_is_left_to_review_in_words(to_review: int, text: str) -> None:
    """The text covers none, all, and some of five images."""
    assert to_review_text(to_review, 5) == text


@pytest.mark.slow
def test_undoing_an_import_leaves_nothing_of_it(reviewing: Desk, tmp_path: Path) -> None:
    """The removed image leaves grid and inspector."""
    click_row(reviewing, Subset.ALL)
    path = write_jpeg(tmp_path / "new.jpg")
    session = reviewing.window.session
    (image_id,) = act(
        reviewing.qtbot, session, lambda project: import_images(project, [path]).change
    ).images_added
    reviewing.wait_until_read()
    reviewing.window.workspace.show_image(image_id)
    reviewing.wait(lambda: reviewing.inspected == image_id)
    changed_by(reviewing.qtbot, session, lambda: reviewing.press(Key.Key_Z, CONTROL))
    reviewing.wait(lambda: reviewing.inspected not in {image_id, None})
    assert reviewing.inspected == reviewing.grid.current_id


@pytest.mark.slow
def test_the_inspector_never_shows_an_image_that_is_not_on_screen(reviewing: Desk) -> None:
    """A subset that excludes the current image makes another one current, or none."""
    click_row(reviewing, Subset.LABELLED)
    labelled = reviewing.choose(3)
    click_row(reviewing, Subset.TO_REVIEW)
    reviewing.wait(lambda: reviewing.inspected not in {labelled, None})
    assert reviewing.inspected == reviewing.grid.current_id
    click_row(reviewing, Subset.FAILED)
    assert reviewing.inspected is None
    assert "Select an image" in texts(reviewing.window.inspector)


@pytest.mark.slow
def test_an_image_outside_of_what_is_shown_changes_the_choice(reviewing: Desk) -> None:
    """A thumbnail in the inspector selects its image among all images, as does the subset row."""
    click_row(reviewing, Subset.LABELLED)
    labelled = int(reviewing.grid.model().image_ids[0])  # type: ignore[attr-defined]
    click_row(reviewing, Subset.TO_REVIEW)
    reviewing.window.inspector.requests.image_requested.emit(labelled)
    assert reviewing.grid.current_id == labelled
    assert reviewing.window.tree.selected_subset is Subset.ALL
    assert lit(reviewing) == ["All"]


@pytest.mark.slow
@pytest.mark.parametrize("size", [(1440, 900), (1000, 640), (860, 500)])
@pytest.mark.parametrize("name", ["long " * 39 + "name", "x" * 199])
def test_a_title_of_200_letters_cuts_no_chip(
    reviewing: Desk, size: tuple[int, int], name: str
) -> None:
    """It is elided with a tooltip, and all other texts are whole."""
    blue = reviewing.graph.find("Blue")
    act(
        reviewing.qtbot,
        reviewing.window.session,
        lambda project: project.classes.rename(blue, name),
    )
    reviewing.window.tree.select_class(blue)
    header(reviewing).show_changed(14)
    reviewing.window.resize(*size)
    (title,) = header(reviewing).findChildren(ElidedLabel)
    reviewing.wait(lambda: title.shown_text.endswith("…"))
    assert title.toolTip() == name
    assert [text for text in clipped(header(reviewing)) if text != name] == []
    parts = [part for part in header(reviewing).findChildren(QPushButton) if part.isVisible()]
    assert all(header(reviewing).rect().contains(part.geometry()) for part in parts)
    assert any("Sort again" in part.accessibleName() for part in parts)


@pytest.mark.slow
def test_an_image_alone_says_its_place_and_goes_on(reviewing: Desk) -> None:
    """The bar has the position among the shown images; labelling by key shows the next one."""
    reviewing.choose(0)
    reviewing.press(Key.Key_Space)
    view = reviewing.window.workspace.image_view
    assert "1 of 40" in texts(view.bar)
    reviewing.press(Key.Key_Right)
    assert "2 of 40" in texts(view.bar)
    following = int(reviewing.grid.model().image_ids[2])  # type: ignore[attr-defined]
    reviewing.press_for_change(Key.Key_Return)
    reviewing.wait(lambda: view.path == reviewing.state.path_of(following))
    assert "2 of 39" in texts(view.bar)


@pytest.mark.slow
def test_several_chosen_classes_show_the_images_of_all_of_them(reviewing: Desk) -> None:
    """Ctrl and a click toggle a class; Shift and an arrow key add the next one."""
    workspace, tree, graph = reviewing.window.workspace, reviewing.window.tree, reviewing.graph
    tree.front.expandAll()

    def click_class(name: str, keys: Qt.KeyboardModifier = NO_KEYS) -> None:
        (index,) = tree.front.model().indexes_of(graph.find(name))  # type: ignore[attr-defined]
        place = tree.front.visualRect(index).center()
        QTest.mouseClick(tree.front.viewport(), Qt.MouseButton.LeftButton, keys, place)

    def images_of(*names: str) -> set[int]:
        wanted = ImageFilter(Subset.ALL, frozenset(map(graph.find, names)))
        return set(reviewing.state.image_ids[fitting(reviewing.state, wanted)].tolist())

    click_class("Red disc")
    alone = images_of("Red disc")
    assert set(workspace.model.image_ids.tolist()) == alone
    click_class("Blue disc", CONTROL)
    assert set(workspace.model.image_ids.tolist()) == images_of("Red disc", "Blue disc") > alone
    assert "2 classes" in texts(header(reviewing))
    click_class("Blue disc", CONTROL)
    assert set(workspace.model.image_ids.tolist()) == alone
    assert "Red disc" in texts(header(reviewing))
    QTest.keyClick(tree.front, Key.Key_Down, SHIFT)
    assert len(tree.selected_classes) > 1
    names = [graph.name(class_id) for class_id in tree.selected_classes]
    assert set(workspace.model.image_ids.tolist()) == images_of(*names) > alone
