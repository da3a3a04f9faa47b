"""Labels imported from the window: previewed, imported in one step, undone."""

import csv
from collections.abc import Sequence
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QFileDialog

from app.label_import.controller import LabelImports
from app.label_import.view import LabelImportCard
from app.theme import set_scheme
from engine.graph.codes import NO_CLASS
from engine.project import Project
from tests.support.clipping import clipped, overlapping
from tests.support.collections import Collection, write_shape
from tests.support.desk import CONTROL, SHIFT, Desk
from tests.support.sessions import changed_by
from tests.support.widgets import button

pytestmark = pytest.mark.slow

Key = Qt.Key


def click(desk: Desk, part: QAbstractButton) -> None:
    """Click on a check box or button near its left edge."""
    assert part.isEnabled()
    desk.qtbot.mouseClick(part, Qt.MouseButton.LeftButton, pos=QPoint(12, part.height() // 2))


def write_table(path: Path, rows: Sequence[tuple[str, ...]]) -> Path:
    """A table as another program writes it."""
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(("image", "class", "labelled_by", "decided_by", "labelled_at"))
        table.writerows(rows)
    return path


@pytest.fixture
def from_grace(reviewing: Desk, collection: Collection) -> Path:
    """Two new labels, an equal one, a conflicting one, and labels of missing images and classes."""
    write_shape(collection.folder / "late" / "0.png", "Red disc", seed=77)
    new, other = (str(path) for path in list(reviewing.state.paths)[-2:])
    when = "2026-05-04T10:00:00+00:00"
    return write_table(
        collection.folder / "from grace.csv",
        [
            (new, "Red disc", "grace", "person", when),
            (other, "Purple spiral", "grace", "person", when),
            ("shots/Red/Red disc/0.png", "Red disc", "grace", "person", when),
            ("shots/Red/Red disc/1.png", "Blue disc", "grace", "person", when),
            ("late/0.png", "Red disc", "grace", "person", when),
            ("lost/0.png", "Red disc", "grace", "person", when),
            (new, "Blue disc", "", "model", ""),
            (other, "Blue disc", "grace", "person", "yesterday"),
        ],
    )


def surveyed(desk: Desk) -> LabelImportCard:
    """The card with its preview."""
    imports = desk.window.of(LabelImports)
    desk.wait(lambda: imports.card is not None and bool(imports.card.summary))
    card = imports.card
    assert card is not None
    assert card.isVisible()
    return card


def test_a_dropped_file_is_looked_through_imported_and_taken_back(
    reviewing: Desk, from_grace: Path
) -> None:
    """Conflicts show both labels and annotators; the import is one undoable step."""
    images, classes = len(reviewing.state.image_ids), len(reviewing.graph)
    reviewing.window.resize(1000, 640)
    reviewing.drop_files(reviewing.grid, [from_grace])
    card = surveyed(reviewing)
    assert_words_are_whole(card)
    assert not card.who.isVisible()
    assert (card.summary, card.kind.text()) == (
        "1 label will be imported",
        "CSV, labelled by grace",
    )
    assert card.conflicts.title == "1 image is labelled differently here. Your label stays."
    assert card.conflicts.rows == [
        ("shots/Red/Red disc/1.png", "Red/Red disc", "Blue/Blue disc", "grace")
    ]
    assert card.classes.rows == [("Purple spiral", "1")]
    assert card.images.rows == [("late/0.png", "Found"), ("lost/0.png", "Not found")]
    assert card.problems.title == "1 line skipped"
    assert card.passed_over.text().startswith(
        "1 label is in the project already. 1 model prediction skipped"
    )
    click(reviewing, card.classes.box)
    assert card.summary == "2 labels will be imported"
    card.images.box.setFocus()
    reviewing.press(Key.Key_Space)
    assert card.import_button.text() == "Import 3 labels"
    changed_by(
        reviewing.qtbot, reviewing.window.session, lambda: click(reviewing, card.import_button)
    )
    toast = reviewing.window.toast
    reviewing.wait(lambda: toast.message.endswith("conflict: your label stayed"))
    assert toast.message.startswith(
        "Imported 3 labels from from grace.csv. 1 class created. 1 image added"
    )
    assert not card.isVisible()
    assert (len(reviewing.state.image_ids), len(reviewing.graph)) == (images + 1, classes + 1)
    assert reviewing.label_of(int(reviewing.state.image_ids[images - 2])) == "Red disc"
    changed_by(
        reviewing.qtbot, reviewing.window.session, lambda: click(reviewing, button(toast, "Undo"))
    )
    assert (len(reviewing.state.image_ids), len(reviewing.graph)) == (images, classes)
    assert reviewing.state.label_class[images - 2] == NO_CLASS


def assert_words_are_whole(card: LabelImportCard) -> None:
    """In both colour schemes: no text is clipped or overlapped, and the buttons are visible."""
    for scheme in ("light", "dark"):
        set_scheme(scheme)
        QApplication.sendPostedEvents()
        QApplication.processEvents()
        assert clipped(card) == []
        assert overlapping(card) == []
        assert card.rect().contains(card.panel.geometry())
        footer = card.import_button.mapTo(card.panel, card.import_button.rect().bottomRight())
        assert card.panel.rect().contains(footer)


def test_chosen_by_key_and_refused(
    reviewing: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file without labels is reported in the card; Esc changes nothing."""
    odd = tmp_path / "odd.txt"
    odd.write_text("nothing\n", encoding="utf-8")
    chosen = [str(odd)]
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_values, **_names: (chosen[0], ""))
    reviewing.press(Key.Key_L, CONTROL | SHIFT)
    card = reviewing.window.of(LabelImports).card
    assert card is not None
    failure = card.failure
    reviewing.wait(lambda: bool(failure.text))
    assert card.failure.text.startswith("The columns of odd.txt were not recognised")
    path = str(list(reviewing.state.paths)[-1])
    chosen[0] = str(write_table(tmp_path / "good.csv", [(path, "Red disc", "", "", "")]))
    assert card.file_button.hasFocus()
    reviewing.press(Key.Key_Space)
    card = surveyed(reviewing)
    assert (card.failure.text, card.kind.text()) == ("", "CSV")
    reviewing.press(Key.Key_Escape)
    assert not card.isVisible()
    assert reviewing.state.label_class[-1] == NO_CLASS


def choose_role(desk: Desk, card: LabelImportCard, column: int, title: str) -> None:
    """Open the combo box above a column, and choose by keyboard."""
    box = card.columns.boxes[column]
    desk.qtbot.mouseClick(box, Qt.MouseButton.LeftButton)
    view = box.view()
    desk.wait(view.isVisible)
    view.setCurrentIndex(box.model().index(box.findText(title), 0))
    desk.qtbot.keyClick(view, Key.Key_Return)


def test_a_table_that_says_too_little_is_asked_about(reviewing: Desk, tmp_path: Path) -> None:
    """Its first rows are shown, and the role of one column is enough."""
    image = str(list(reviewing.state.paths)[-1])
    odd = tmp_path / "odd.csv"
    odd.write_text(f"Bild;Tier;Wann\n{image};Red disc;2024\n", encoding="utf-8")
    imports = reviewing.window.of(LabelImports)
    imports.read(odd)
    card = imports.card
    assert card is not None
    reviewing.wait(card.columns.isVisible)
    assert (
        card.columns.words.text()
        == "Choose the content of each column: at least the image and the class."
    )
    assert card.columns.boxes[0].hasFocus()
    assert_words_are_whole(card)
    # Its cells are image names.
    assert card.columns.boxes[0].currentText() == "Name or path of the image"
    choose_role(reviewing, card, 1, "Name of the class")
    reviewing.wait(lambda: card.survey is not None)
    assert card.summary == "1 label will be imported"
    assert card.columns.isVisible()
    click(reviewing, card.columns_button)
    assert not card.columns.isVisible()
    changed_by(
        reviewing.qtbot, reviewing.window.session, lambda: click(reviewing, card.import_button)
    )
    assert reviewing.label_of(int(reviewing.state.image_ids[-1])) == "Red disc"


def test_whose_labels_they_are_is_asked_where_the_file_is_silent(
    reviewing: Desk, tmp_path: Path
) -> None:
    """The field holds the file's name; the person types the annotator."""
    path = str(list(reviewing.state.paths)[-1])
    reviewing.drop_files(
        reviewing.grid, [write_table(tmp_path / "good.csv", [(path, "Red disc", "", "", "")])]
    )
    card = surveyed(reviewing)
    assert_words_are_whole(card)
    assert card.who.text() == "good.csv"
    reviewing.qtbot.mouseDClick(card.who, Qt.MouseButton.LeftButton)
    card.who.selectAll()
    reviewing.qtbot.keyClicks(card.who, "Ada Lovelace")
    changed_by(reviewing.qtbot, reviewing.window.session, lambda: reviewing.press(Key.Key_Return))
    info = reviewing.window.session.info
    assert info is not None
    with Project.open(info.path, for_writing=False) as project:
        label = project.labels.of(int(reviewing.state.image_ids[-1]))
    assert label is not None
    assert label.who == "Ada Lovelace"


def test_a_table_without_labels_goes_the_usual_way(reviewing: Desk, collection: Collection) -> None:
    """A dropped list of classes has neither labels nor images."""
    reviewing.drop_files(reviewing.grid, [collection.graph])
    reviewing.wait(lambda: bool(reviewing.window.toast.message))
    assert reviewing.window.toast.message.startswith(
        "classes.csv could not be added: this is not an image"
    )
    assert reviewing.window.of(LabelImports).card is None


def test_what_is_not_clear_is_shown(reviewing: Desk, collection: Collection) -> None:
    """A photo of the same name with another content, and an ambiguous class name."""
    path = collection.folder / "theirs.csv"
    path.write_text(
        f"image,class,content_hash\nshots/Red/Red disc/0.png,Red disc,{'0' * 32}\n",
        encoding="utf-8",
        newline="",
    )
    reviewing.drop_files(reviewing.grid, [path])
    card = surveyed(reviewing)
    assert card.summary == "Nothing to import"
    assert card.content_conflicts.rows == [
        ("shots/Red/Red disc/0.png", "shots/Red/Red disc/0.png", "Different content")
    ]
    assert card.class_conflicts.isHidden()
