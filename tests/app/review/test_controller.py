"""Review by keyboard: one decision per key, saved at once, undoable."""

import json
from itertools import pairwise

import pytest
from PySide6.QtCore import QByteArray, QMimeData, Qt
from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton

from app.dragging import IMAGES_MIME
from engine.graph.class_attributes import ClassAttributes
from engine.project import Project
from tests.support.collections import Collection
from tests.support.desk import CONTROL, SHIFT, Desk
from tests.support.projects import named
from tests.support.sessions import changed_by, recorded

Key = Qt.Key


def on_disk(collection: Collection) -> dict[int, int | None]:
    """Class by image, read from the project file."""
    with Project.open(collection.project, for_writing=False) as project:
        return {image_id: label.class_id for image_id, label in project.labels.by_image().items()}


@pytest.mark.slow
def test_enter_accepts_and_the_next_card_is_chosen(reviewing: Desk, collection: Collection) -> None:
    """Three times Enter: three saved labels, and the card after the last one is current."""
    ids = reviewing.grid.model().image_ids.tolist()  # type: ignore[attr-defined]
    reviewing.choose(0)
    for image_id, following in pairwise(ids[:4]):
        assert reviewing.grid.current_id == image_id
        predicted = reviewing.best_of(image_id)
        change = reviewing.press_for_change(Key.Key_Return)
        assert change.labelled == (image_id,)
        assert reviewing.label_of(image_id) == predicted
        assert reviewing.grid.current_id == following
        assert on_disk(collection)[image_id] == reviewing.graph.find(predicted)
    assert reviewing.grid.model().rowCount() == 37


@pytest.mark.slow
def test_no_key_is_lost_to_a_quick_person(reviewing: Desk) -> None:
    """Keys pressed before the first label is saved act on the following cards."""
    ids = reviewing.grid.model().image_ids.tolist()  # type: ignore[attr-defined]
    reviewing.choose(0)
    for key in (Key.Key_Return, Key.Key_U, Key.Key_Return, Key.Key_1):
        reviewing.press(key)
    reviewing.wait(lambda: reviewing.grid.model().rowCount() == 36)
    labels = [reviewing.label_of(image_id) for image_id in ids[:5]]
    assert all(labels[:4])
    assert (labels[1], labels[4]) == ("?", "")
    assert reviewing.grid.current_id == ids[4]


@pytest.mark.slow
def test_a_single_label_needs_no_toast(reviewing: Desk) -> None:
    """The card shows it; only bulk actions have a toast."""
    reviewing.choose(0)
    reviewing.press_for_change(Key.Key_Return)
    assert reviewing.window.toast.message == ""


@pytest.mark.slow
def test_bulk_accept_tells_the_count_and_offers_undo(reviewing: Desk) -> None:
    """All forty are one step; the toast's button undoes it."""
    reviewing.choose(0)
    reviewing.press(Key.Key_A, CONTROL)
    change = reviewing.press_for_change(Key.Key_Return)
    assert len(change.labelled) == 40
    assert "40 images" in reviewing.window.toast.message
    assert reviewing.window.workspace.empty.title == "All done"
    (button,) = [
        each for each in reviewing.window.toast.findChildren(QPushButton) if each.isVisible()
    ]
    undone = changed_by(reviewing.qtbot, reviewing.window.session, button.click)
    assert len(undone.labelled) == 40
    assert reviewing.grid.model().rowCount() == 40


def test_digits_label_as_the_most_likely(reviewing: Desk) -> None:
    """2 is the second class of the current card."""
    image_id = reviewing.choose(5)
    tops = reviewing.window.inspector.top_classes_of(image_id)
    assert len(tops) >= 2
    reviewing.press_for_change(Key.Key_2)
    assert reviewing.label_of(image_id) == reviewing.graph.name(tops[1])


@pytest.mark.slow
def test_a_digit_never_uses_the_classes_of_another_card(reviewing: Desk) -> None:
    """A digit right after moving to another card labels it as its own most likely class."""
    reviewing.choose(0)
    shown = reviewing.graph.name(
        reviewing.window.inspector.top_classes_of(reviewing.inspected or 0)[0]
    )
    ids = reviewing.grid.model().image_ids.tolist()  # type: ignore[attr-defined]
    row = next(row for row in range(1, 40) if reviewing.best_of(ids[row]) != shown)
    expected = reviewing.best_of(ids[row])
    reviewing.grid.select_row(row)
    assert reviewing.inspected == ids[row]
    change = reviewing.press_for_change(Key.Key_1)
    assert change.labelled == (ids[row],)
    assert reviewing.label_of(ids[row]) == expected


@pytest.mark.slow
def test_u_says_none_of_the_classes(reviewing: Desk) -> None:
    """It is a label: the card leaves the review and joins the unknown images."""
    image_id = reviewing.choose(0)
    reviewing.press_for_change(Key.Key_U)
    assert reviewing.label_of(image_id) == "?"
    reviewing.window.registry.trigger("show_unknown")
    assert image_id in reviewing.grid.model().image_ids.tolist()  # type: ignore[attr-defined]


@pytest.mark.slow
def test_x_skips_and_takes_labels_off(reviewing: Desk) -> None:
    """Without a label X goes to the next card; with one it removes the label."""
    reviewing.choose(0)
    changes = recorded(reviewing.window.session.change_made)
    reviewing.press(Key.Key_X)
    assert reviewing.grid.currentIndex().row() == 1
    assert changes == []
    reviewing.window.registry.trigger("show_labelled")
    image_id = reviewing.choose(3)
    assert reviewing.label_of(image_id)
    reviewing.press_for_change(Key.Key_X)
    assert reviewing.label_of(image_id) == ""


@pytest.mark.slow
def test_r_labels_as_any_class(reviewing: Desk) -> None:
    """A few letters and Enter; the focus returns to the images."""
    image_id = reviewing.choose(2)
    reviewing.press(Key.Key_R)
    rows = reviewing.type_into_palette("blue ch")
    assert rows[0].title == "Blue checks"
    reviewing.press_for_change(Key.Key_Return)
    assert reviewing.label_of(image_id) == "Blue checks"
    assert not reviewing.window.palette_panel.isVisible()
    assert reviewing.grid.hasFocus()


@pytest.mark.slow
def test_r_creates_a_class_and_labels_in_one_step(reviewing: Desk) -> None:
    """The last row creates the class; one undo removes label and class."""
    image_id = reviewing.choose(2)
    classes = len(reviewing.graph)
    reviewing.press(Key.Key_R)
    rows = reviewing.type_into_palette("Green/Green zigzag")
    assert [row.title for row in rows] == ["Create “Green zigzag”"]
    change = reviewing.press_for_change(Key.Key_Return)
    assert reviewing.label_of(image_id) == "Green zigzag"
    zigzag = reviewing.graph.find("Green/Green zigzag")
    assert change.graph_edits
    assert reviewing.state.shot_counts[zigzag] == 1
    assert "Green zigzag" in reviewing.window.toast.message
    reviewing.grid.setFocus()
    reviewing.press_for_change(Key.Key_Z, CONTROL)
    assert (reviewing.label_of(image_id), len(reviewing.graph)) == ("", classes)


@pytest.mark.slow
def test_undo_and_redo_by_key(reviewing: Desk, collection: Collection) -> None:
    """Ctrl+Z and Ctrl+Shift+Z walk through the history, with a message for each step."""
    first, second = reviewing.choose(0), 0
    reviewing.press_for_change(Key.Key_Return)
    second = reviewing.choose(0)
    reviewing.press_for_change(Key.Key_U)
    reviewing.press_for_change(Key.Key_Z, CONTROL)
    assert reviewing.label_of(second) == ""
    assert reviewing.window.toast.message.startswith("Undone: ")
    reviewing.press_for_change(Key.Key_Z, CONTROL)
    assert reviewing.label_of(first) == ""
    assert first not in on_disk(collection)
    redo = reviewing.window.registry.action("redo")
    assert redo.isEnabled()
    assert redo.text().startswith("Redo Label 1 image as ")
    reviewing.press_for_change(Key.Key_Z, CONTROL | SHIFT)
    reviewing.press_for_change(Key.Key_Z, CONTROL | SHIFT)
    assert reviewing.label_of(first)
    assert reviewing.label_of(second) == "?"
    assert not redo.isEnabled()


@pytest.mark.slow
def test_two_equal_steps_are_done_undone_and_redone_in_words(reviewing: Desk) -> None:
    """The last two steps have the same text: the direction is not read from texts."""
    for row in (0, 1):
        reviewing.choose(row)
        reviewing.press_for_change(Key.Key_Delete)
    toast = reviewing.window.toast
    assert toast.message == "Removed 1 image"
    for _step in range(2):
        reviewing.press_for_change(Key.Key_Z, CONTROL)
        assert toast.message == "Undone: Remove 1 image"
    for _step in range(2):
        reviewing.press_for_change(Key.Key_Z, CONTROL | SHIFT)
        assert toast.message == "Redone: Remove 1 image"
    reviewing.press_for_change(Key.Key_Z, CONTROL)
    assert toast.message == "Undone: Remove 1 image"


@pytest.mark.slow
def test_delete_takes_images_out_of_the_project_only(
    reviewing: Desk, collection: Collection
) -> None:
    """The file stays, the toast offers undo, and the next card is selected."""
    ids = reviewing.grid.model().image_ids.tolist()  # type: ignore[attr-defined]
    reviewing.choose(39)
    path = reviewing.state.path_of(ids[39])
    reviewing.press_for_change(Key.Key_Delete)
    assert path.is_file()
    assert len(reviewing.state.image_ids) == 63
    assert "Removed 1 image" in reviewing.window.toast.message
    assert reviewing.grid.current_id == ids[38]
    reviewing.press_for_change(Key.Key_Z, CONTROL)
    assert len(reviewing.state.image_ids) == 64


@pytest.mark.slow
def test_r_finds_a_class_by_synonym_and_id(reviewing: Desk) -> None:
    """The row shows the matching synonym or id; Enter labels with the class."""
    disc = reviewing.graph.find("Red disc")
    aliases = ClassAttributes("n03208938", ("discus",))
    changed_by(
        reviewing.qtbot,
        reviewing.window.session,
        lambda: reviewing.window.session.act(
            lambda project: project.classes.edit(
                lambda graph: graph.set_attributes(disc, aliases), named("Import ids")
            )
        ),
    )
    image_id = reviewing.choose(2)
    reviewing.press(Key.Key_R)
    assert [row.title for row in reviewing.type_into_palette("n0320")][:1] == [
        "Red disc (n03208938)"
    ]
    assert [row.title for row in reviewing.type_into_palette("discus")][:1] == ["Red disc (discus)"]
    reviewing.press_for_change(Key.Key_Return)
    assert reviewing.label_of(image_id) == "Red disc"
    reviewing.window.tree.select_class(disc)
    inspector = reviewing.window.inspector
    reviewing.wait(
        lambda: (
            "Also called discus  ·  id n03208938"
            in [label.text() for label in inspector.findChildren(QLabel)]
        )
    )


@pytest.mark.slow
def test_images_dragged_on_a_class_are_labelled(reviewing: Desk) -> None:
    """A drop on a row of the tree labels all dragged images in one step, with a toast."""
    ids = reviewing.grid.model().image_ids.tolist()[:3]  # type: ignore[attr-defined]
    data = QMimeData()
    data.setData(IMAGES_MIME, QByteArray(json.dumps(ids).encode()))
    change = changed_by(
        reviewing.qtbot,
        reviewing.window.session,
        lambda: reviewing.drop_on_class("Red checks", data),
    )
    assert set(change.labelled) == set(ids)
    assert [reviewing.label_of(image_id) for image_id in ids] == ["Red checks"] * 3
    assert "3 images" in reviewing.window.toast.message


@pytest.mark.slow
def test_keys_do_nothing_while_typing(reviewing: Desk) -> None:
    """Letters typed into the filter field do not label."""
    reviewing.choose(0)
    changes = recorded(reviewing.window.session.change_made)
    reviewing.window.tree.focus_filter()
    for key in (Key.Key_U, Key.Key_R, Key.Key_1, Key.Key_X):
        reviewing.press(key)
    assert changes == []
    assert not reviewing.window.palette_panel.isVisible()
    (field,) = reviewing.window.tree.findChildren(QLineEdit)
    assert field.text() == "ur1x"


@pytest.mark.slow
def test_an_image_alone_takes_the_same_keys(reviewing: Desk) -> None:
    """Space opens it, Enter accepts, the next image is shown, Esc returns."""
    image_id = reviewing.choose(0)
    reviewing.press(Key.Key_Space)
    view = reviewing.window.workspace.image_view
    assert view.isVisible()
    reviewing.wait(lambda: view.has_image)
    reviewing.press_for_change(Key.Key_Return)
    assert reviewing.label_of(image_id)
    following = reviewing.grid.current_id
    assert following is not None
    assert following != image_id
    reviewing.wait(lambda: view.has_image and view.path == reviewing.state.path_of(following))
    reviewing.press(Key.Key_Escape)
    assert reviewing.grid.isVisible()


@pytest.mark.slow
def test_a_label_in_the_inspector_is_taken_off_there(reviewing: Desk) -> None:
    """The page of an image shows its label and removes it."""
    reviewing.window.registry.trigger("show_labelled")
    image_id = reviewing.choose(1)
    changed_by(
        reviewing.qtbot,
        reviewing.window.session,
        lambda: reviewing.window.inspector.requests.unlabel_requested.emit(image_id),
    )
    assert reviewing.label_of(image_id) == ""


@pytest.mark.slow
def test_an_empty_review_ends_with_no_card(reviewing: Desk) -> None:
    """With the last card the inspector is cleared, and labelling actions are disabled."""
    reviewing.choose(0)
    reviewing.press(Key.Key_A, CONTROL)
    reviewing.press_for_change(Key.Key_U)
    assert reviewing.window.workspace.empty.isVisible()
    assert not reviewing.window.registry.action("accept").isEnabled()
