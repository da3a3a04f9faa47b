"""A class list on its way in, and what is said of it."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from tests.support.desk import CONTROL, SHIFT, Desk

NEW = "child,parent\nDune gull,Gulls\nGulls,\n"


@pytest.fixture
def class_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A list that a person chooses in the dialog whenever it opens."""
    source = tmp_path / "classes.csv"
    monkeypatch.setattr(
        "app.importing.controller.QFileDialog.getOpenFileName", lambda *_texts, **_options: (str(source), "")
    )
    return source


def test_an_import_says_what_it_brought(reviewing: Desk, class_list: Path) -> None:
    """The number of new classes the first time, that there is nothing new the second; the menu quotes the same text."""
    class_list.write_text(NEW, encoding="utf-8")
    reviewing.press(Qt.Key.Key_I, CONTROL | SHIFT)
    reviewing.wait(lambda: reviewing.window.toast.message == "Imported 2 classes from classes.csv")
    assert reviewing.window.registry.action("undo").text() == "Undo “Imported 2 classes from classes.csv”"
    reviewing.press(Qt.Key.Key_I, CONTROL | SHIFT)
    reviewing.wait(lambda: reviewing.window.toast.message.startswith("Nothing new: all classes of classes.csv"))
