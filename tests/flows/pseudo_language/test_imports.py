"""Filled import cards in the pseudo-language: class lists, labels, and their problems."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog

from app.graph_import.controller import GraphImports
from app.graph_import.view import GraphImportCard
from app.label_import.controller import LabelImports
from app.label_import.view import LabelImportCard
from tests.app.graph_import.test_graph_import_card import NEW, NEXT_YEAR
from tests.app.label_import.test_label_import_card import write_table
from tests.support.collections import Collection, write_graph, write_shape
from tests.support.desk import Desk
from tests.support.pseudo_reader import Reader

pytestmark = pytest.mark.slow

WHEN = "2026-05-04T10:00:00+00:00"


def read_classes(desk: Desk, source: Path, monkeypatch: pytest.MonkeyPatch) -> GraphImportCard:
    """The card with its preview."""
    monkeypatch.setattr(
        QFileDialog, "getOpenFileName", lambda *_texts, **_options: (str(source), "")
    )
    desk.window.registry.trigger("import_classes")
    card = desk.window.of(GraphImports).card
    assert card is not None
    desk.wait(lambda: bool(card.summary) or bool(card.failure.text))
    return card


def test_class_lists(
    reviewing: Desk,
    collection: Collection,
    reader: Reader,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """New, updated in both ways, rejected, and no class list; then the messages."""
    toast, source = reviewing.window.toast, tmp_path / "shapes.csv"
    source.write_text(
        NEW.replace("Dune gull", "Red checks (2)").replace("Gulls", "Purple (2)"), encoding="utf-8"
    )
    card = read_classes(reviewing, source, monkeypatch)
    read_graph_card(reader, "classes-new", card)
    card.import_button.click()
    reviewing.wait(lambda: bool(toast.message))
    reader.read("classes-imported")
    write_graph(
        source, {name.replace("Crimson", "Red (2)"): leaves for name, leaves in NEXT_YEAR.items()}
    )
    card = read_classes(reviewing, source, monkeypatch)
    read_graph_card(reader, "classes-next-year", card)
    card.update_box.click()
    read_graph_card(reader, "classes-next-year-added", card)
    for name, text in {
        "circle": "child,parent\nRed,Blue\nBlue,Red\n",
        "empty": "",
        "other": "<html>",
    }.items():
        source.write_text(text, encoding="utf-8")
        read_graph_card(reader, f"classes-{name}", read_classes(reviewing, source, monkeypatch))


def read_graph_card(reader: Reader, screen: str, card: GraphImportCard) -> None:
    """Read the card with the headers of its lists."""
    reader.read(screen)
    for name, section in card.sections.items():
        reader.read_table(f"{screen}, {name}", section.table, *([2] if name == "kept" else []))


@pytest.fixture
def hostile_table(reviewing: Desk, collection: Collection) -> Path:
    """New, equal, conflicting, ambiguous and invalid labels, also of missing classes and images."""
    write_shape(collection.folder / "late" / "0.png", "Red disc", seed=77)
    (collection.folder / "late" / "1.png").mkdir()
    (collection.folder / "late" / "2.txt").write_text("no picture", encoding="utf-8")
    (collection.folder.parent / "away.png").write_bytes(b"")
    new, other, *_ = (str(path) for path in list(reviewing.state.paths)[-4:])
    return write_table(
        collection.folder / "grace.csv",
        [
            (new, "Red disc", "grace", "person", WHEN),
            (new, "Blue disc", "grace", "person", WHEN),
            (other, "Purple spiral", "", "person", WHEN),
            (other, "Purple\u202e spiral", "grace", "person", WHEN),
            (other, "Blue disc", "grace", "person", "ada"),
            (other, "Blue disc", "grace", "person", "0001-01-01T00:00:00+14:00"),
            (new, "Blue disc", "", "model", ""),
            ("shots/Red/Red disc/0.png", "Red disc", "grace", "person", WHEN),
            ("shots/Red/Red disc/1.png", "Blue disc", "grace", "person", WHEN),
            ("late/0.png", "Red disc", "grace", "person", WHEN),
            ("late/1.png", "Red disc", "grace", "person", WHEN),
            ("late/2.txt", "Red disc", "grace", "person", WHEN),
            ("../away.png", "Red disc", "grace", "person", WHEN),
            ("lost/0.png", "Red disc", "grace", "person", WHEN),
        ],
    )


def surveyed(desk: Desk, source: Path) -> LabelImportCard:
    """The card with its preview."""
    imports = desk.window.of(LabelImports)
    desk.drop_files(desk.grid, [source])
    desk.wait(
        lambda: (
            imports.card is not None
            and (bool(imports.card.summary) or bool(imports.card.failure.text))
        )
    )
    assert imports.card is not None
    return imports.card


def read_label_card(reader: Reader, screen: str, card: LabelImportCard) -> None:
    """Read the card with the headers of its lists."""
    reader.read(screen)
    named = {
        card.problems: (0,),
        card.images: (1,),
        card.content_conflicts: (2,),
        card.class_conflicts: (2, 3),
    }
    lists = (card.conflicts, card.contradictions, card.classes, card.suggestions, *named)
    for section in lists:
        reader.read_table(
            f"{screen}, {section.table.accessibleName()}", section.table, *named.get(section, ())
        )


def test_labels(reviewing: Desk, reader: Reader, hostile_table: Path) -> None:
    """Every kind of row that a table can have; then the messages about the import."""
    card = surveyed(reviewing, hostile_table)
    assert len(card.problems.rows) == 6
    read_label_card(reader, "labels", card)
    for box in (card.classes.box, card.images.box):
        box.click()
    read_label_card(reader, "labels-chosen", card)
    reviewing.window.toast.hide()
    card.import_button.click()
    reviewing.wait(lambda: bool(reviewing.window.toast.message))
    reader.read("labels-imported")


def test_labels_that_cannot_be_read(reviewing: Desk, reader: Reader, tmp_path: Path) -> None:
    """A file of another kind, chosen in the card."""
    source = tmp_path / "other.json"
    source.write_text("nothing", encoding="utf-8")
    reviewing.window.registry.trigger("import_labels")
    imports = reviewing.window.of(LabelImports)
    imports.read(source)
    reviewing.wait(lambda: imports.card is not None and bool(imports.card.failure.text))
    reader.read("labels-refused")
    reviewing.press(Qt.Key.Key_Escape)
