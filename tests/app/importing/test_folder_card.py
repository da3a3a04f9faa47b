"""Folders dropped on an open project: ticked ones become classes."""

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt

from app.importing.controller import Importing
from app.importing.folder_card import FolderCard
from app.palette.folder_list import FOLDER
from engine.collection.state import NO_CLASS
from tests.support.clipping import clipped
from tests.support.collections import write_shape
from tests.support.desk import Desk
from tests.support.new_project import click_box
from tests.support.sessions import changed_by

Key = Qt.Key


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Folders of places, as in quality control, and one named like a class of the collection."""
    for number in range(3):
        write_shape(
            tmp_path / "bad" / "parts" / "samples" / f"{number}.png", "Red disc", seed=50 + number
        )
        write_shape(tmp_path / "bad" / "line 3" / f"{number}.png", "Blue disc", seed=60 + number)
    write_shape(tmp_path / "bad" / "Red disc" / "0.png", "Red disc", seed=70)
    return tmp_path / "bad"


def asked(desk: Desk, folder: Path) -> FolderCard:
    """The card, after the folder was dropped on the grid."""
    desk.drop_files(desk.grid, [folder])
    importing = desk.window.of(Importing)
    desk.wait(lambda: importing.card is not None and importing.card.isVisible())
    assert importing.card is not None
    return importing.card


def classes_of_new(desk: Desk, before: int) -> set[str]:
    """The labels of added images."""
    return {desk.label_of(int(each)) for each in desk.state.image_ids[before:]} - {""}


@pytest.mark.slow
def test_only_folders_called_as_classes_are_ticked(reviewing: Desk, folder: Path) -> None:
    """Enter makes neither classes nor labels of the places "line 3" and "parts/samples"."""
    before, classes = len(reviewing.state.image_ids), len(reviewing.graph)
    card = asked(reviewing, folder)
    assert card.question.text() == "Are these folders your classes? line 3, parts, samples, …"
    assert {path.name for path in card.list.classes} == {"Red disc"}
    assert card.add_button.text() == "Add with 1 class"
    reviewing.wait(lambda: not clipped(card))
    change = changed_by(
        reviewing.qtbot, reviewing.window.session, lambda: reviewing.press(Key.Key_Return)
    )
    assert (len(change.images_added), len(reviewing.graph)) == (7, classes)
    assert classes_of_new(reviewing, before) == {"Red disc"}


@pytest.mark.slow
def test_what_is_ticked_becomes_a_class(reviewing: Desk, folder: Path) -> None:
    """By mouse: "samples" is a class, its parent "parts" is not, "line 3" is not added."""
    before = len(reviewing.state.image_ids)
    card = asked(reviewing, folder)
    click_box(reviewing, card.list, "samples")
    click_box(reviewing, card.list, "line 3", FOLDER)
    assert card.add_button.text() == "Add with 2 classes"
    changed_by(reviewing.qtbot, reviewing.window.session, lambda: reviewing.click(card.add_button))
    assert "samples" in {reviewing.graph.name(each) for each in reviewing.graph.roots()}
    assert "parts" not in {reviewing.graph.name(each) for each in reviewing.graph.classes()}
    assert len(reviewing.state.image_ids) == before + 4
    assert classes_of_new(reviewing, before) == {"samples", "Red disc"}


@pytest.mark.slow
def test_all_are_added_without_classes(reviewing: Desk, folder: Path) -> None:
    """One click unticks all boxes."""
    before = np.count_nonzero(reviewing.state.label_class != NO_CLASS)
    card = asked(reviewing, folder)
    reviewing.click(card.none_button)
    assert card.add_button.text() == "Add without classes"
    change = changed_by(
        reviewing.qtbot, reviewing.window.session, lambda: reviewing.click(card.add_button)
    )
    assert len(change.images_added) == 7
    assert np.count_nonzero(reviewing.state.label_class != NO_CLASS) == before


@pytest.mark.slow
def test_a_box_is_ticked_by_keys(reviewing: Desk, folder: Path) -> None:
    """Space ticks in the list, Enter adds."""
    card = asked(reviewing, folder)
    card.list.setFocus()
    index = card.list.model().index(0, 2, card.list.model().index(0, 0))
    assert index.siblingAtColumn(0).data() == "line 3"
    card.list.setCurrentIndex(index)
    reviewing.press(Key.Key_Space)
    changed_by(reviewing.qtbot, reviewing.window.session, lambda: reviewing.press(Key.Key_Return))
    assert "line 3" in {reviewing.graph.name(each) for each in reviewing.graph.roots()}


def test_esc_adds_nothing(reviewing: Desk, folder: Path) -> None:
    """Esc adds neither images nor classes."""
    before = len(reviewing.state.image_ids), len(reviewing.graph)
    card = asked(reviewing, folder)
    reviewing.press(Key.Key_Escape)
    assert not card.isVisible()
    assert (len(reviewing.state.image_ids), len(reviewing.graph)) == before
    assert reviewing.window.session.jobs.jobs == ()


@pytest.mark.slow
def test_folders_dropped_on_a_class(reviewing: Desk, folder: Path) -> None:
    """Ticked folders become its subclasses; all other images are labelled with the class."""
    before = len(reviewing.state.image_ids)
    disc = reviewing.graph.find("Blue disc")
    reviewing.window.tree.requests.files_dropped.emit(disc, (folder / "parts",))
    importing = reviewing.window.of(Importing)
    reviewing.wait(lambda: importing.card is not None and importing.card.isVisible())
    card = importing.card
    assert card is not None
    assert card.add_button.text() == "Label all as Blue disc"
    changed_by(reviewing.qtbot, reviewing.window.session, lambda: reviewing.click(card.add_button))
    assert classes_of_new(reviewing, before) == {"Blue disc"}
