"""The sample project, opened from the start page."""

import shutil
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.image_grid.card_words import Mark
from app.welcome.controller import Projects
from engine.new_file import output_file
from tests.support.collections import Collection
from tests.support.desk import Desk
from tests.support.sessions import LONG_MS


@pytest.fixture(autouse=True)
def no_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The sample was never opened."""
    folder = tmp_path / "sample"
    monkeypatch.setenv("PROTOLEAF_SAMPLE", str(folder))
    return folder


@pytest.fixture
def prepared(collection: Collection, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An existing sample: a small collection, embedded."""
    sample = Path(shutil.copy(collection.project, collection.folder / "sample.protoleaf"))
    monkeypatch.setenv("PROTOLEAF_SAMPLE", str(sample.parent))
    return sample


def click(desk: Desk, button: QWidget) -> None:
    """Click a button."""
    desk.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def test_one_click_opens_it(desk: Desk, no_sample: Path) -> None:
    """All pictures and classes, with labels of its author; nothing is embedded before that."""
    with desk.qtbot.waitSignal(desk.window.session.opened, timeout=LONG_MS):
        click(desk, desk.window.of(Projects).page.sample)
    assert desk.window.session.info is not None
    assert desk.window.session.info.path == no_sample / "sample.protoleaf"
    assert len(list((no_sample / "collection" / "photos").iterdir())) == 315
    desk.wait(lambda: desk.window.workspace.model.rowCount() == 315)
    assert not desk.window.of(Projects).page.isVisible()


@pytest.mark.slow
def test_it_is_opened_as_it_was_left(desk: Desk, prepared: Path) -> None:
    """One click; no picture is copied again."""
    with desk.qtbot.waitSignal(desk.window.session.loaded, timeout=LONG_MS):
        click(desk, desk.window.of(Projects).page.sample)
    assert len(desk.state.image_ids) == 64
    assert not (prepared.parent / "collection" / "photos").exists()
    assert desk.window.toast.message == ""


@pytest.mark.slow
@pytest.mark.usefixtures("prepared")
def test_it_opens_on_its_best_face(desk: Desk, prepared: Path) -> None:
    """A class with examples and correct predictions is selected; keys work on its cards."""
    with desk.qtbot.waitSignal(desk.window.session.loaded, timeout=LONG_MS):
        click(desk, desk.window.of(Projects).page.sample)
    workspace, state = desk.window.workspace, desk.state
    shown = workspace.class_id
    assert shown is not None
    assert shown == desk.window.tree.selected_class
    assert shown in desk.graph.roots()
    assert state.image_counts[shown] == max(state.image_counts[root] for root in desk.graph.roots())
    facts = workspace.model.card(0)
    assert facts.mark is not Mark.UNKNOWN
    assert desk.grid.hasFocus()
    desk.window.session.close()
    desk.wait(lambda: desk.window.session.info is None)
    desk.open(prepared)
    assert workspace.class_id is None


@pytest.mark.slow
def test_it_opens_beside_an_open_project(reviewing: Desk, prepared: Path) -> None:
    """The palette opens it; the open project stays until the sample is there."""
    reviewing.press(Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    reviewing.type_into_palette("try the sample")
    with reviewing.qtbot.waitSignal(reviewing.window.session.loaded, timeout=LONG_MS):
        reviewing.press(Qt.Key.Key_Return)
        assert not reviewing.window.of(Projects).page.isVisible()
    assert reviewing.window.session.info is not None
    assert reviewing.window.session.info.path == prepared


@pytest.mark.slow
def test_a_copy_that_fails_is_a_sentence(desk: Desk, no_sample: Path) -> None:
    """The start page stays, and a message gives the reason."""
    no_sample.write_text("no folder")
    click(desk, desk.window.of(Projects).page.sample)
    desk.wait(lambda: "sample" in desk.window.toast.message)
    assert desk.window.of(Projects).page.sample.isVisible()


@pytest.mark.slow
def test_another_project_that_was_opened_meanwhile_stays(
    desk: Desk, collection: Collection, no_sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sample does not replace it, and can be opened later."""

    def slowly(target: Path, *, durable: bool) -> AbstractContextManager[BinaryIO]:
        time.sleep(0.005)
        return output_file(target, durable=durable)

    monkeypatch.setattr("engine.collection.new_project.output_file", slowly)
    click(desk, desk.window.of(Projects).page.sample)
    desk.open(collection.project)
    desk.wait((no_sample / "sample.protoleaf").exists)
    desk.qtbot.wait(50)
    assert desk.window.session.info is not None
    assert desk.window.session.info.path == collection.project
