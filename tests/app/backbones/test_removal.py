"""Source 1: added backbones are deleted from this computer after a question."""

import shutil
from pathlib import Path
from typing import NoReturn

import pytest
from PySide6.QtCore import Qt

from app.backbones.controller import Backbones
from app.backbones.view import BackbonePanel, RowCard
from engine.backbones.library import BackboneLibrary
from engine.collection.backbone_change import prepare_change, use_backbone
from engine.project import Project
from tests.support.backbone_panel import panel_for
from tests.support.collections import Collection
from tests.support.desk import Desk
from tests.support.other_backbones import add_to_library
from tests.support.sessions import settle

Key = Qt.Key


@pytest.fixture
def undone_change(collection: Collection, tinyleaf: str) -> Collection:
    """A project changed to the added backbone and back; a redo uses it again."""
    with Project.open(collection.project) as project:
        prepared = prepare_change(project, collection.caches, tinyleaf, device="cpu")
        use_backbone(project, tinyleaf, prepared.backbone_hash, prepared.news)
        project.history.undo()
    return collection


def asked(desk: Desk, name: str) -> tuple[BackbonePanel, RowCard]:
    """The panel, and a card that asks whether to delete."""
    panel = panel_for(desk)
    desk.wait(lambda: len(panel.computer.rows) > 1)
    card = panel.computer.card_of(name)
    card.remove_button.click()
    assert card.is_asking
    return panel, card


@pytest.mark.slow
def test_only_what_was_added_and_is_not_used_can_go(
    desk: Desk, undone_change: Collection, tinyleaf: str
) -> None:
    """Only an added backbone that the project does not use has a delete button."""
    desk.open(undone_change.project)
    panel = panel_for(desk)
    desk.wait(lambda: len(panel.computer.rows) == 2)
    desk.wait(panel.computer.card_of(tinyleaf).remove_button.isVisible)
    assert panel.computer.card_of("leafnet").remove_button.isHidden()
    desk.window.session.redo()
    desk.wait(lambda: panel.computer.card_of(tinyleaf).row.is_used)
    assert all(card.remove_button.isHidden() for card in panel.computer.cards)


def test_a_removal_is_asked_refused_and_done(reviewing: Desk, tinyleaf: str) -> None:
    """The question names file, size and effect; "Keep it" and Esc cancel; "Remove" deletes."""
    panel, card = asked(reviewing, tinyleaf)
    size_bytes = BackboneLibrary().path(tinyleaf).stat().st_size
    size = f"{size_bytes / 1e3:.1f}\N{NO-BREAK SPACE}kB"
    assert f"This deletes tinyleaf.onnx ({size}) from this computer for good." in card.question_text
    assert "need it again" in card.question_text
    assert card.keep_button.hasFocus()
    card.keep_button.click()
    assert card.question_text == ""
    assert card.remove_button.hasFocus()
    reviewing.press(Key.Key_Space)
    assert card.question_text != ""
    reviewing.press(Key.Key_Escape)
    assert card.question_text == ""
    assert panel.isVisible()
    settle(reviewing.qtbot, reviewing.window.session)
    assert BackboneLibrary().names() == (tinyleaf,)
    card.remove_button.click()
    card.agree_button.click()
    reviewing.wait(lambda: [row.name for row in panel.computer.rows] == ["leafnet"])
    assert reviewing.window.toast.message == "Removed tinyleaf"
    assert BackboneLibrary().names() == ()
    assert list(BackboneLibrary().folder.iterdir()) == []


@pytest.mark.slow
def test_the_question_survives_a_fresh_list(reviewing: Desk, tinyleaf: str, tmp_path: Path) -> None:
    """Another backbone appears meanwhile; the question still concerns the same one."""
    panel, _card = asked(reviewing, tinyleaf)
    add_to_library(tmp_path, name="another", seed=2)
    reviewing.window.of(Backbones).open_panel()
    reviewing.wait(lambda: len(panel.computer.rows) == 3)
    assert [card.row.name for card in panel.computer.cards if card.is_asking] == [tinyleaf]


@pytest.mark.slow
def test_files_that_are_gone_already_are_reported(reviewing: Desk, tinyleaf: str) -> None:
    """One line, and the list is updated."""
    panel, card = asked(reviewing, tinyleaf)
    shutil.rmtree(BackboneLibrary().folder / tinyleaf)
    card.agree_button.click()
    reviewing.wait(lambda: [row.name for row in panel.computer.rows] == ["leafnet"])
    assert "no such backbone in the library" in reviewing.window.toast.message


@pytest.mark.slow
def test_a_folder_that_refuses_keeps_it(
    reviewing: Desk, tinyleaf: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line with reason and remedy; the backbone is kept, and deleting can be retried."""

    def refuse(_path: Path, _target: Path) -> NoReturn:
        raise PermissionError(13, "Permission denied")

    panel, card = asked(reviewing, tinyleaf)
    monkeypatch.setattr(Path, "rename", refuse)
    card.agree_button.click()
    reviewing.wait(lambda: panel.computer.card_of(tinyleaf) is not card)
    message = reviewing.window.toast.message
    assert message.startswith("the backbone cannot be removed: found ")
    assert "Permission denied. Check that the folder may be written to" in message
    assert "\n" not in message
    assert BackboneLibrary().names() == (tinyleaf,)
    assert panel.computer.card_of(tinyleaf).remove_button.isEnabled()


@pytest.mark.slow
def test_what_came_into_use_meanwhile_stays(
    desk: Desk, undone_change: Collection, tinyleaf: str
) -> None:
    """A redo uses the backbone again while the question is open: it is not deleted."""
    desk.open(undone_change.project)
    _panel, card = asked(desk, tinyleaf)
    desk.window.session.redo()
    card.agree_button.click()
    desk.wait(lambda: desk.window.toast.message.startswith("the project uses this backbone"))
    assert BackboneLibrary().names() == (tinyleaf,)
