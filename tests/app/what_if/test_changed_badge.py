"""A badge in the grid's header counts the images that changed class; a click shows them."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QComboBox
from pytestqt.qtbot import QtBot

from app.class_tree.subset_list import SubsetList
from app.session.subsets import Subset
from app.what_if.changed_panel import ChangedPanel, FaceLayout
from app.what_if.controller import WhatIf
from app.workspace.header import Header
from engine.collection.state import NO_CLASS, ChangedImages, ClassMove, CollectionState
from engine.project import Change, Project
from tests.support.clipping import clipped
from tests.support.collections import Collection
from tests.support.desk import CONTROL, SHIFT, Desk
from tests.support.sessions import LONG_MS, act


def shown(state: CollectionState) -> dict[int, int]:
    """The most likely class of each unlabelled image."""
    free = state.label_class == NO_CLASS
    return dict(zip(state.image_ids[free].tolist(), state.best_class[free].tolist(), strict=True))


def edit(desk: Desk, action: Callable[[Project], Change]) -> dict[int, tuple[int, int]]:
    """Perform an action and wait for the badge; returns the changed images, compared one by one."""
    before = shown(desk.state)
    act(desk.qtbot, desk.window.session, action)
    after = shown(desk.state)
    changed = {i: (before[i], now) for i, now in after.items() if i in before and before[i] != now}
    wait_for_badge(desk, len(changed))
    return changed


def wait_for_badge(desk: Desk, count: int) -> None:
    """Wait until the badge counts this number of images."""
    badge = desk.window.workspace.header.badge
    desk.wait(lambda: badge.changes is not None and badge.changes.other_class == count)


def panel_of(desk: Desk) -> ChangedPanel:
    """The open panel."""
    panel = desk.window.of(WhatIf).panel
    assert panel is not None
    assert panel.isVisible()
    return panel


def moves(panel: ChangedPanel) -> list[ClassMove]:
    """The moves of the rows."""
    model = panel.moves.model()
    return [model.index(row, 0).data(Qt.ItemDataRole.UserRole) for row in range(model.rowCount())]


def rows(panel: ChangedPanel) -> list[str]:
    """Accessible texts of the rows."""
    model = panel.moves.model()
    return [
        model.index(row, 0).data(Qt.ItemDataRole.AccessibleTextRole)
        for row in range(model.rowCount())
    ]


def click(desk: Desk, panel: ChangedPanel, place: QPoint) -> None:
    """Click at a point of the list."""
    desk.qtbot.mouseClick(panel.moves.viewport(), Qt.MouseButton.LeftButton, pos=place)


@pytest.mark.slow
def test_removing_a_class_shows_where_its_images_went(desk: Desk, collection: Collection) -> None:
    """The badge counts them; the panel names the removed class; a thumbnail opens its image."""
    desk.open(collection.project)
    badge = desk.window.workspace.header.badge
    assert not badge.isVisible()
    disc = desk.graph.find("Red disc")
    changed = edit(desk, lambda project: project.classes.remove([disc]))
    assert len(changed) >= 4
    assert badge.isVisible()
    assert badge.accessibleName().startswith(f"{len(changed)} predictions changed")
    desk.qtbot.mouseClick(badge, Qt.MouseButton.LeftButton)
    panel = panel_of(desk)
    assert "Red disc" in panel.text
    assert {
        i: (move.before, move.after) for move in moves(panel) for i in move.image_ids.tolist()
    } == changed
    assert rows(panel)[0].startswith("Red disc → Red ")
    wanted = int(moves(panel)[0].image_ids[0])
    row = panel.moves.visualRect(panel.moves.model().index(0, 0))
    face = FaceLayout(row, panel.moves.fontMetrics().height(), 1, is_open=False).rect(0)
    click(desk, panel, face.center())
    assert desk.grid.current_id == wanted
    desk.window.session.undo()
    wait_for_badge(desk, len(changed))
    desk.wait(lambda: rows(panel)[0].endswith("→ Red disc: " + rows(panel)[0].split(": ")[1]))
    assert "a removed class" not in "".join(rows(panel))


@pytest.mark.slow
def test_the_panel_is_walked_by_keys(desk: Desk, collection: Collection) -> None:
    """A key opens it, arrows select a move, Enter shows its first image, Esc closes it."""
    desk.open(collection.project)
    desk.press(Qt.Key.Key_J, CONTROL | SHIFT)
    panel = panel_of(desk)
    assert panel.text == "No prediction changed"
    desk.press(Qt.Key.Key_Escape)
    assert not panel.isVisible()
    blue = [desk.graph.find(name) for name in ("Blue disc", "Blue stripes")]
    edit(desk, lambda project: project.classes.merge([blue[0]], blue[1]))
    desk.press(Qt.Key.Key_J, CONTROL | SHIFT)
    assert QApplication.focusWidget() is panel.moves
    desk.press(Qt.Key.Key_Down)
    wanted = int(moves(panel)[0].image_ids[0])
    desk.press(Qt.Key.Key_Return)
    assert desk.grid.current_id == wanted
    assert clipped(panel) == []
    panel.moves.setFocus()
    desk.press(Qt.Key.Key_Escape)
    assert not panel.isVisible()


@pytest.mark.slow
def test_labels_are_noticed_by_what_they_move(desk: Desk, collection: Collection) -> None:
    """Relabelling moves other images; labelled ones are not counted. Closing clears the badge."""
    desk.open(collection.project)
    stripes, disc = desk.graph.find("Green stripes"), desk.graph.find("Green disc")
    wrong = desk.state.image_ids[desk.state.label_class == stripes].tolist()
    changed = edit(desk, lambda project: project.labels.set(wrong, disc))
    assert changed
    assert changed.keys().isdisjoint(wrong)
    badge = desk.window.workspace.header.badge
    desk.window.session.close()
    desk.wait(lambda: desk.window.session.info is None)
    assert badge.changes is None
    assert not badge.isVisible()


@pytest.mark.slow
def test_why_unknown_moved_is_shown(desk: Desk, collection: Collection) -> None:
    """The row has the number, its tooltip and the panel the labels; the next edit clears it."""
    desk.open(collection.project)
    red, state = desk.graph.find("Red disc"), desk.state
    free = np.flatnonzero(state.label_class == NO_CLASS)
    labels, is_unknown = state.label_class.copy(), state.is_unknown.copy()
    labels[free[:3]], is_unknown[free[3:]] = red, True
    after = replace(state, label_class=labels, is_unknown=is_unknown)
    before = replace(state, is_unknown=np.zeros_like(is_unknown))
    desk.window.of(WhatIf)._edits.followed.emit(before, after, ("Labelled 3 images as Red disc",))  # noqa: SLF001
    why = f"Unknown went up by {len(free) - 3}: 3 new labels of Red disc changed what is expected"
    rows_above = desk.window.tree.findChild(SubsetList)
    assert rows_above is not None
    row = rows_above.model().index(list(Subset).index(Subset.UNKNOWN), 0)
    desk.wait(lambda: row.data(Qt.ItemDataRole.ToolTipRole) is not None)
    assert why in row.data(Qt.ItemDataRole.ToolTipRole)
    desk.qtbot.mouseClick(desk.window.workspace.header.badge, Qt.MouseButton.LeftButton)
    assert why in panel_of(desk).text
    desk.window.session.close()
    desk.wait(lambda: row.data(Qt.ItemDataRole.ToolTipRole) is None)


def test_a_narrow_header_keeps_the_number(qtbot: QtBot) -> None:
    """The full text is shown only where nothing is hidden for it; the number is always shown."""
    header = Header()
    qtbot.addWidget(header)
    header.show_title("All images", 2_640, to_review=2_000)
    safe = ClassMove(1, 2, np.arange(16), is_safe_class=True)
    header.show_moves(ChangedImages((ClassMove(1, 2, np.arange(412)), safe)))
    header.show()
    badges = {}
    for width in (1_600, 760):
        header.resize(width, header.height())
        badges[width] = header.badge.text()
        assert header.badge.isVisible()
        qtbot.waitUntil(lambda: clipped(header) == [], timeout=LONG_MS)
    assert badges == {1_600: "412 predictions changed", 760: "412 changed"}
    (order,) = header.findChildren(QComboBox)
    assert order.isVisible()
    header.show_moves(ChangedImages())
    assert not header.badge.isVisible()
