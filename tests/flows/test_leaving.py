"""Questions, offers and dropped files of a project end with it."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSlider

from app.importing.controller import Importing
from app.moved_images.controller import MovedImages
from app.session import Session
from engine.file_parts import ImageSource
from tests.support.collections import Collection, write_shape
from tests.support.desk import CONTROL, Desk
from tests.support.new_project import drop_on_first_page
from tests.support.sessions import LONG_MS, changed_by
from tests.support.slow_share import SlowShare
from tests.support.widgets import open_part

pytestmark = pytest.mark.slow

Key = Qt.Key


@pytest.fixture
def leave(reviewing: Desk, tmp_path: Path) -> Callable[[], None]:
    """A function that creates a new project and waits for it."""

    def work() -> None:
        with reviewing.qtbot.waitSignal(reviewing.window.session.loaded, timeout=LONG_MS):
            reviewing.window.session.create(tmp_path / "next.protoleaf")

    return work


def test_a_question_about_a_project_ends_with_it(
    reviewing: Desk, leave: Callable[[], None], tmp_path: Path
) -> None:
    """Folder card and palette are closed, since they would act on the next project."""
    write_shape(tmp_path / "new" / "Red disc" / "a.png", "Red disc", seed=5)
    reviewing.choose(0)
    reviewing.press(Key.Key_R)
    assert reviewing.window.palette_panel.isVisible()
    importing = reviewing.window.of(Importing)
    importing.take([tmp_path / "new"])
    reviewing.wait(lambda: importing.card is not None and importing.card.isVisible())
    leave()
    assert importing.card is not None
    assert not importing.card.isVisible()
    assert not reviewing.window.palette_panel.isVisible()


def test_undo_is_offered_only_for_what_undo_takes_back(
    reviewing: Desk, leave: Callable[[], None]
) -> None:
    """After a single label, or in another project, the button would undo something else."""
    session, toast = reviewing.window.session, reviewing.window.toast
    ids = reviewing.grid.model().image_ids.tolist()[:3]  # type: ignore[attr-defined]
    red = reviewing.graph.find("Red disc")
    changed_by(
        reviewing.qtbot, session, lambda: session.act(lambda project: project.labels.set(ids, red))
    )
    assert "3 images" in toast.message
    changed_by(
        reviewing.qtbot,
        session,
        lambda: session.act(lambda project: project.labels.set(ids[:1], None)),
    )
    assert toast.message.startswith("Labelled 1 image as none of the classes (was Red disc).")
    changed_by(
        reviewing.qtbot,
        session,
        lambda: session.act(lambda project: project.classes.add("Yellow")[0]),
    )
    assert toast.message
    leave()
    assert toast.message == ""


def test_a_focus_that_is_gone_stops_no_palette(reviewing: Desk) -> None:
    """The inspector replaces a class's page under an open palette, whose choice still applies."""
    image_id, class_id = reviewing.choose(0), int(reviewing.state.best_class.max())
    inspector, session = reviewing.window.inspector, reviewing.window.session
    reviewing.window.tree.select_class(class_id)
    reviewing.wait(lambda: bool(inspector.findChildren(QSlider)))
    open_part(inspector, "Rules and notes")
    (slider,) = inspector.findChildren(QSlider)
    slider.setFocus()
    reviewing.press(Key.Key_K, CONTROL)
    changed_by(reviewing.qtbot, session, lambda: session.label((image_id,), class_id))
    reviewing.wait(lambda: inspector.findChildren(QSlider) != [slider])
    reviewing.type_into_palette("show labelled")
    reviewing.press(Key.Key_Return)
    assert not reviewing.window.palette_panel.isVisible()
    assert reviewing.grid.model().rowCount() == 25


def test_files_go_into_the_project_that_was_made_for_them_or_nowhere(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If no project can be created there, the next opened project does not get the images."""
    write_shape(tmp_path / "protected" / "new" / "a.png", "Red disc", seed=5)
    monkeypatch.setattr(
        "app.welcome.making.suggested_folder", lambda _photos, _otherwise: tmp_path / "missing"
    )
    card = drop_on_first_page(desk, [tmp_path / "protected" / "new"])
    desk.click(card.create_button)
    desk.wait(lambda: "folder is missing" in card.place.failure.text)
    session: Session = desk.window.session
    assert session.info is None
    desk.press(Key.Key_Escape)
    with desk.qtbot.waitSignal(session.loaded, timeout=LONG_MS):
        session.create(tmp_path / "other.protoleaf")
    runner = session._runner  # noqa: SLF001 (the project's thread is not public)
    desk.qtbot.waitUntil(lambda: not session.jobs.jobs and not runner.is_busy, timeout=LONG_MS)
    assert len(desk.state.image_ids) == 0


def test_a_silent_share_keeps_no_window_open(
    reviewing: Desk, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thumbnails and the check for missing images block on it; the window closes anyway."""
    window = reviewing.window
    reviewing.wait(
        lambda: (
            not window.of(MovedImages).missing_images.is_looking and not window.thumbnails.is_busy
        )
    )
    first, second, *_ = sorted(collection.unsorted.glob("*.png"))
    share = SlowShare(collection.unsorted, monkeypatch)
    window.of(MovedImages).missing_images.look()
    share.answer(0)
    assert window.thumbnails.pixmap(ImageSource(first), 400, 1.0) is None
    assert window.thumbnails.pixmap(ImageSource(second), 400, 1.0) is None
    reviewing.wait(lambda: len(share.askers) == len(("presence", "thumbnails-0", "thumbnails-1")))
    asked = len(share.asked)
    assert window.close()
    assert len(share.asked) == asked
    waiting = [thread for thread in threading.enumerate() if thread.name in share.askers]
    assert len(waiting) == len(share.askers)
    share.open()
    for thread in waiting:
        thread.join()
