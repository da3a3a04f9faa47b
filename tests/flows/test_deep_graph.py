"""The window with the deepest possible graphs, and with very many paths to a class."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtWidgets import QLineEdit

from app.what_if.controller import WhatIf
from engine.graph.limits import DEEPEST_LEVEL
from tests.support.collections import Collection, cache_of_test
from tests.support.deep_graphs import ENDS, Parents, chain, deep_collection, ladder
from tests.support.desk import CONTROL, SHIFT, Desk
from tests.support.sessions import act, refusal_of

Key = Qt.Key
LAST = ENDS[0]


@pytest.fixture(params=[chain, ladder])
def deep(
    request: pytest.FixtureRequest, own_settings_and_caches: None, tmp_path: Path
) -> Collection:
    """A small collection with such classes."""
    shape: Callable[[], Parents] = request.param
    return deep_collection(tmp_path / "collection", cache_of_test(), shape())


def find_in_tree(desk: Desk, name: str) -> QModelIndex:
    """Find a class by the filter of the tree, and select it by Enter; returns its row."""
    desk.window.tree.focus_filter()
    field = desk.window.tree.findChild(QLineEdit)
    assert isinstance(field, QLineEdit)
    desk.qtbot.keyClicks(field, name)
    class_id = desk.graph.find(name)
    found = desk.window.tree.front
    desk.wait(
        lambda: desk.window.tree.front is not found and desk.window.tree.front.has_open(class_id)
    )
    desk.qtbot.keyClick(field, Key.Key_Return)
    desk.wait(lambda: desk.window.tree.selected_class == class_id)
    desk.qtbot.keyClick(field, Key.Key_Escape)
    return desk.window.tree.front.selected_index


@pytest.mark.slow
def test_a_project_as_deep_as_may_be(desk: Desk, deep: Collection) -> None:
    """Tree, class page and graph show the deepest class; what if works; one deeper is rejected."""
    desk.open(deep.project)
    index, above = find_in_tree(desk, LAST), []
    while index.parent().isValid():
        index = index.parent()
        above.append(index.data())
    assert len(above) == DEEPEST_LEVEL
    inspector, last = desk.window.inspector, desk.graph.find(LAST)
    desk.wait(lambda: inspector.class_facts is not None and inspector.class_facts.class_id == last)
    facts = inspector.class_facts
    assert facts is not None
    assert all(len(place) < 200 for place in facts.places)

    desk.press(Key.Key_G, CONTROL)
    canvas = desk.window.workspace.graph.board.canvas
    desk.wait(lambda: last in canvas.drawing.ids.tolist() and canvas.is_complete)

    band = desk.window.of(WhatIf).band
    desk.press(Key.Key_W, CONTROL | SHIFT)
    desk.wait(band.isVisible)
    act(
        desk.qtbot,
        desk.window.session,
        lambda project: project.classes.merge([last], desk.graph.find(ENDS[1])),
    )
    desk.wait(lambda: "Accuracy on held-out labels" in band.text)
    desk.qtbot.mouseClick(band.discard_button, Qt.MouseButton.LeftButton)
    desk.wait(lambda: not band.isVisible() and desk.window.session.is_settled)

    session = desk.window.session
    refusal = refusal_of(
        desk.qtbot,
        session,
        lambda: session.act(lambda project: project.classes.add("deeper", [last])[0]),
    )
    assert "nest too deeply" in refusal
