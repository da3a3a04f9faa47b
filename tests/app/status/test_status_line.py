"""The foot of the window: the running job, the saved mark, toasts."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from app.session import Session
from app.session.embedding import Embedding
from app.status.job_bar import FailuresPopup
from app.status.status_line import LabelMark, OpeningMark, StatusLine
from app.status.toast import Toast
from engine.collection.importing.import_images import import_images
from engine.events import Progress
from engine.files import FileFailure
from engine.project import Project
from tests.app.jobs.test_job import HandJob
from tests.support.clipping import clipped
from tests.support.collections import Collection
from tests.support.desk import CONTROL, Desk
from tests.support.images import write_jpeg
from tests.support.sessions import LONG_MS, act, open_project
from tests.support.widgets import button, texts


@pytest.fixture
def line(qtbot: QtBot, session: Session) -> Iterator[StatusLine]:
    """The status line of a session."""
    line = StatusLine(session, Embedding(session))
    qtbot.addWidget(line)
    line.show()
    yield line
    line.hide()


def test_the_running_job_is_shown_until_it_ends(line: StatusLine, session: Session) -> None:
    """Title and figures of the job that runs; then of the next one; then nothing."""
    first, second = HandJob("Analysing images"), HandJob("Training")
    session.jobs.run(first)
    session.jobs.run(second)
    assert line.job_bar.is_running
    first._report(Progress(3, 8))  # noqa: SLF001 (what a child process says, without one)
    second._report(Progress(7, 7))  # noqa: SLF001 (what a child process says, without one)
    assert line.job_bar.facts.startswith("3 ")
    first.succeed()
    assert "Training" in texts(line.job_bar)
    assert line.job_bar.facts == ""
    second.fail()
    assert not line.job_bar.is_running


def test_one_estimate_is_told_after_a_drop(line: StatusLine, session: Session) -> None:
    """Adding says how far it is and not when it ends: the analysis follows, and tells for all."""
    adding, analysing = HandJob("Adding images"), HandJob("Analysing images")
    adding.is_followed = True
    session.jobs.run(adding)
    adding._report(Progress(3, 8, seconds_left=5.0))  # noqa: SLF001 (what a child process says, without one)
    assert line.job_bar.facts == "3 of 8"
    adding.succeed()
    session.jobs.run(analysing)
    analysing._report(Progress(3, 8, seconds_left=90.0))  # noqa: SLF001 (what a child process says, without one)
    assert "left" in line.job_bar.facts


def test_stop_cancels_the_job_that_is_shown(line: StatusLine, session: Session) -> None:
    """One click; what is finished is kept by the job itself."""
    job = HandJob("Analysing images")
    session.jobs.run(job)
    (button,) = line.job_bar.findChildren(QToolButton)
    button.click()
    assert job.has_ended
    assert not line.job_bar.is_running


def test_the_saved_mark_tells_the_truth(
    qtbot: QtBot, line: StatusLine, session: Session, collection: Collection
) -> None:
    """Nothing without a project, saved after an action with the time of it, read-only where that is so."""
    assert line.saved_mark.text() == ""
    open_project(qtbot, session, collection.project)
    act(qtbot, session, lambda project: project.classes.add("Yellow")[0])
    assert line.saved_mark.text() == "All changes saved"
    assert "last at" in line.saved_mark.toolTip()
    with qtbot.waitSignal(session.closed, timeout=LONG_MS):
        session.close()
    assert line.saved_mark.text() == ""
    open_project(qtbot, session, collection.project, for_writing=False)
    assert line.saved_mark.text().startswith("Read-only")


def test_failures_are_counted_and_listed(line: StatusLine) -> None:
    """A quiet button with the count; the list can be copied."""
    bar = line.job_bar
    failures = [FileFailure(Path("a.jpg"), "cut short"), FileFailure(Path("b.jpg"), "found text")]
    bar.set_failures(failures)
    assert button(bar, "2 files could not be read").isVisible()
    bar.set_failures(failures[:1])
    failed = button(bar, "1 file could not be read")
    failed.click()
    (popup,) = bar.findChildren(FailuresPopup)
    assert popup.isVisible()
    (copy,) = popup.findChildren(QPushButton)
    copy.click()
    assert QGuiApplication.clipboard().text() == "a.jpg\tcut short"
    assert not popup.isVisible()
    bar.set_failures(())
    assert not failed.isVisible()


def test_failures_of_an_earlier_run_are_counted(
    qtbot: QtBot, line: StatusLine, session: Session, collection: Collection, tmp_path: Path
) -> None:
    """A project that is opened again knows which files could not be read, and why; closed, nobody counts them."""
    broken = write_jpeg(tmp_path / "broken.jpg")
    with Project.open(collection.project) as project:
        (image_id,) = import_images(project, [broken]).change.images_added
        project.images.record_scan([(image_id, None, "the file is empty")])
    open_project(qtbot, session, collection.project)
    assert session.state is not None
    assert session.state.failures == {image_id: "the file is empty"}
    notice = button(line.job_bar, "1 file could not be read")
    assert notice.isVisible()
    with qtbot.waitSignal(session.closed, timeout=LONG_MS):
        session.close()
    assert not notice.isVisible()


@pytest.fixture
def host(qtbot: QtBot) -> QWidget:
    """What a toast floats over."""
    host = QWidget()
    qtbot.addWidget(host)
    host.resize(600, 400)
    host.show()
    return host


def test_a_toast_offers_one_way_back(host: QWidget) -> None:
    """The button does what it says, once, and the toast goes away."""
    done: list[str] = []
    toast = Toast(host)
    toast.say("Labelled 12 images as Gull", action="Undo", on_action=lambda: done.append("undo"))
    assert toast.message == "Labelled 12 images as Gull"
    (button,) = toast.findChildren(QPushButton)
    assert button.text() == "Undo"
    button.click()
    assert (done, toast.message) == (["undo"], "")


def test_a_new_toast_takes_the_old_ones_place(host: QWidget) -> None:
    """The button of the old one is gone with it."""
    toast = Toast(host)
    toast.say("first", action="Undo", on_action=lambda: None)
    toast.say_failure("second")
    (button,) = toast.findChildren(QPushButton)
    assert toast.message == "second"
    assert not button.isVisible()


def test_a_toast_uses_the_room_of_a_window_that_has_grown(host: QWidget) -> None:
    """A long message in a narrow window takes no room from those that come when it is wide."""
    toast = Toast(host)
    host.resize(400, 300)
    toast.say("A message that is far too long for one line " * 3)
    host.resize(1200, 300)
    toast.say("A message that fits into one line of a wide window without any trouble", action="Undo")
    assert clipped(toast) == []
    toast.hide()


def test_a_toast_stays_inside_its_window(host: QWidget) -> None:
    """A long message wraps, also after the window was made smaller."""
    toast = Toast(host)
    toast.say_failure("this would make a class its own ancestor: found " + "Animal > Bird > " * 12)
    host.resize(500, 300)
    assert host.rect().contains(toast.geometry())
    assert toast.height() > 60


def test_a_toast_leaves_bars_at_the_bottom_free(host: QWidget) -> None:
    """It floats over the images alone, also when a bar below them comes later."""
    content, bar = QWidget(host), QWidget(host)
    content.setGeometry(0, 0, 600, 380)
    bar.setGeometry(0, 380, 600, 20)
    content.show()
    toast = Toast(host)
    toast.stay_within(content)
    toast.say("Undone")
    content.resize(600, 200)
    bar.setGeometry(0, 200, 600, 200)
    assert content.geometry().contains(toast.geometry())
    assert not bar.geometry().intersects(toast.geometry())


Key = Qt.Key


def mark_of(desk: Desk) -> LabelMark:
    """The words in the status line of the window."""
    (mark,) = desk.window.findChildren(LabelMark)
    return mark


def test_each_key_says_what_it_did(reviewing: Desk) -> None:
    """The class, and how many are left; also where the image left the view."""
    mark = mark_of(reviewing)
    assert mark.text == ""
    name = reviewing.best_of(reviewing.choose(3))
    reviewing.press_for_change(Key.Key_1)
    assert mark.text == f"Labelled {name}  ·  39 to review"
    reviewing.press_for_change(Key.Key_U)
    assert mark.text == "Labelled as none of the classes  ·  38 to review"


def test_undo_beside_it_takes_the_label_back(reviewing: Desk) -> None:
    """One click; then there is nothing more to say."""
    mark = mark_of(reviewing)
    image_id = reviewing.choose(3)
    reviewing.press_for_change(Key.Key_1)
    reviewing.qtbot.mouseClick(button(mark, "Undo"), Qt.MouseButton.LeftButton)
    reviewing.wait(lambda: mark.text == "")
    assert reviewing.label_of(image_id) == ""


def test_many_images_are_answered_in_the_toast(reviewing: Desk) -> None:
    """The line is about one image; it says nothing that is not so any more."""
    reviewing.choose(3)
    reviewing.press_for_change(Key.Key_1)
    reviewing.choose(0)
    reviewing.press(Key.Key_A, CONTROL)
    reviewing.press_for_change(Key.Key_U)
    assert mark_of(reviewing).text == ""


def test_it_says_what_is_done_until_predictions_are_there(
    qtbot: QtBot, session: Session, collection: Collection
) -> None:
    """Reading, with the count; then nothing. Later changes are not an opening."""
    mark = OpeningMark(session)
    qtbot.addWidget(mark)
    shown: list[str] = []
    session.state_changed.connect(lambda _state: shown.append(mark.text() if not mark.isHidden() else ""))
    open_project(qtbot, session, collection.project)
    assert shown[0] == "Reading 64 embeddings…"
    assert set(shown[1:]) <= {"Classifying…"}
    assert mark.isHidden()
