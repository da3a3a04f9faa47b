"""The column chooser of tables."""

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.palette.column_chooser import ColumnChooser
from engine.interchange.tables.dialects import TablePurpose
from engine.interchange.tables.read_table import ColumnPreview
from tests.support.sessions import LONG_MS

PREVIEW = ColumnPreview(
    ("Bild", "Tier", "family"),
    (("fuchs.jpg", "Fuchs", "Canidae"),),
    ("file", "", "rank:family"),
    is_clear=False,
)


@pytest.fixture
def chooser(qtbot: QtBot) -> ColumnChooser:
    """A chooser with a table of labels."""
    chooser = ColumnChooser(TablePurpose.LABELS)
    qtbot.addWidget(chooser)
    chooser.show_preview(PREVIEW, {})
    chooser.show()
    return chooser


def choose(qtbot: QtBot, chooser: ColumnChooser, column: int, title: str) -> dict[str, str]:
    """Choose an item in the combo box above a column; returns the chosen roles."""
    box = chooser.boxes[column]
    box.showPopup()
    view = box.view()
    view.setCurrentIndex(box.model().index(box.findText(title), 0))
    with qtbot.waitSignal(chooser.chosen, timeout=LONG_MS) as chosen:
        qtbot.keyClick(view, Qt.Key.Key_Return)
    given = chosen.args[0]
    assert isinstance(given, dict)
    return given


def test_the_boxes_say_what_each_column_is(chooser: ColumnChooser) -> None:
    """Combo boxes above the first rows show the roles, with accessible names."""
    texts = [box.currentText() for box in chooser.boxes]
    assert texts == ["Name or path of the image", "Not used", "Rank: family"]
    assert chooser.boxes[1].accessibleName() == "Content of column 2"
    cell = chooser.table.item(1, 1)
    assert cell is not None
    assert cell.text() == "Fuchs"


def test_choices_add_up(qtbot: QtBot, chooser: ColumnChooser) -> None:
    """A role moves between columns; a detected role can be removed."""
    assert choose(qtbot, chooser, 1, "Name of the class") == {"class": "Tier"}
    assert choose(qtbot, chooser, 2, "Not used") == {"class": "Tier", "family": ""}
    assert choose(qtbot, chooser, 0, "Name of the class") == {
        "family": "",
        "file": "",
        "class": "Bild",
    }
    chooser.show_preview(PREVIEW, {})
    assert choose(qtbot, chooser, 1, "Name of the class") == {"class": "Tier"}


def test_a_box_that_is_in_use_stays(qtbot: QtBot, chooser: ColumnChooser) -> None:
    """The same table with other roles keeps its combo boxes; another table has new ones."""
    boxes = list(chooser.boxes)
    choose(qtbot, chooser, 1, "Name of the class")
    chooser.show_preview(
        ColumnPreview(PREVIEW.columns, PREVIEW.rows, ("", "class", "rank:genus"), is_clear=True), {}
    )
    assert chooser.boxes == boxes
    assert [box.currentText() for box in boxes] == ["Not used", "Name of the class", "Rank: genus"]
    chooser.show_preview(ColumnPreview(("a",), (), ("language:de",), is_clear=True), {})
    assert [box.currentText() for box in chooser.boxes] == ["de"]
