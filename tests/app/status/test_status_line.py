"""The status bar: the running job, the saved mark, toasts."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QApplication,
    QLabel,
    QListWidget,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.palette.overlay import ScrollingCard
from app.session import Session
from app.session.embedding import Embedding
from app.status.job_bar import FailuresPopup
from app.status.status_line import LabelMark, OpeningMark, StatusLine
from app.status.toast import Toast
from app.wording import SEPARATOR
from engine.collection.importing.import_images import import_images
from engine.events import Progress
from engine.files import FileFailure
from engine.project import Project
from tests.app.jobs.test_job import HandJob
from tests.support.clipping import clipped
from tests.support.collections import Collection
from tests.support.desk import CONTROL, SHIFT, Desk
from tests.support.images import write_jpeg
from tests.support.sessions import LONG_MS, act, changed_by, open_project
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
    """Title and figures of the running job; then of the next one; then nothing."""
    first, second = HandJob("Analysing images"), HandJob("Training")
    session.jobs.run(first)
    session.jobs.run(second)
    assert line.job_bar.is_running
    first._report(Progress(3, 8))  # noqa: SLF001 (reports as a child process would)
    second._report(Progress(7, 7))  # noqa: SLF001 (reports as a child process would)
    assert line.job_bar.facts.startswith("3 ")
    first.succeed()
    assert "Training" in texts(line.job_bar)
    assert line.job_bar.facts == ""
    second.fail()
    assert not line.job_bar.is_running


def test_one_estimate_is_shown_after_a_drop(line: StatusLine, session: Session) -> None:
    """Adding shows its progress but no time left: embedding follows, and estimates the rest."""
    adding, analysing = HandJob("Adding images"), HandJob("Analysing images")
    adding.is_followed = True
    session.jobs.run(adding)
    adding._report(Progress(3, 8, seconds_left=5.0))  # noqa: SLF001 (reports as a child process would)
    assert line.job_bar.facts == "3 of 8"
    adding.succeed()
    session.jobs.run(analysing)
    analysing._report(Progress(3, 8, seconds_left=90.0))  # noqa: SLF001 (reports as a child process would)
    assert "left" in line.job_bar.facts


@pytest.mark.parametrize("width", [1400, 900, 640, 480])
def test_b9_facts_of_a_job_are_left_out_whole(
    line: StatusLine, session: Session, width: int
) -> None:
    """None is clipped; the time left is dropped last."""
    job = HandJob("Refining predictions")
    session.jobs.run(job)
    job._report(Progress(101, 300, "images", 5.3, 35.0, "CPU"))  # noqa: SLF001 (reports as a child process would)
    line.resize(width, line.sizeHint().height())
    QApplication.processEvents()
    facts = line.job_bar.shown_facts
    assert facts.endswith("left")
    assert set(facts.split(SEPARATOR)) <= set(line.job_bar.facts.split(SEPARATOR))
    assert (len(facts) == len(line.job_bar.facts)) == (width >= 900)
    job.succeed()


def test_stop_cancels_the_job_that_is_shown(line: StatusLine, session: Session) -> None:
    """One click; the job stores what is finished."""
    job = HandJob("Analysing images")
    session.jobs.run(job)
    (button,) = line.job_bar.findChildren(QToolButton)
    button.click()
    assert job.has_ended
    assert not line.job_bar.is_running


@pytest.mark.slow
def test_the_saved_mark_tells_the_truth(
    qtbot: QtBot, line: StatusLine, session: Session, collection: Collection
) -> None:
    """The mark is hidden without a project, has the time of saving, or says read-only."""
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
    """A button with the number; the list can be copied."""
    bar = line.job_bar
    reason = "cut short: expected more. Add it again"
    failures = [FileFailure(Path("a.jpg"), reason), FileFailure(Path("b.jpg"), "found text")]
    bar.set_failures(failures)
    assert button(bar, "2 files could not be read").isVisible()
    bar.set_failures(failures[:1])
    failed = button(bar, "1 file could not be read")
    failed.click()
    (popup,) = bar.findChildren(FailuresPopup)
    assert popup.isVisible()
    (listed,) = popup.findChildren(QListWidget)
    assert listed.item(0).text() == "a.jpg\nCut short"
    (copy,) = popup.findChildren(QPushButton)
    copy.click()
    assert QGuiApplication.clipboard().text() == f"a.jpg\t{reason}"
    assert not popup.isVisible()
    bar.set_failures(())
    assert not failed.isVisible()


def test_failures_of_an_earlier_run_are_counted(
    qtbot: QtBot, line: StatusLine, session: Session, collection: Collection, tmp_path: Path
) -> None:
    """A reopened project lists its unreadable files and reasons; closing clears them."""
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
    """The parent of a toast."""
    host = QWidget()
    qtbot.addWidget(host)
    host.resize(600, 400)
    host.show()
    return host


def test_a_toast_offers_one_way_back(host: QWidget) -> None:
    """The button calls its function once, and hides the toast."""
    done: list[str] = []
    toast = Toast(host)
    toast.show_message(
        "Labelled 12 images as Gull", action="Undo", on_action=lambda: done.append("undo")
    )
    assert toast.message == "Labelled 12 images as Gull"
    (button,) = toast.findChildren(QPushButton)
    assert button.text() == "Undo"
    button.click()
    assert (done, toast.message) == (["undo"], "")


def test_a_new_toast_takes_the_old_ones_place(host: QWidget) -> None:
    """The button of the old one is removed with it."""
    toast = Toast(host)
    toast.show_message("first", action="Undo", on_action=lambda: None)
    toast.report_failure("second")
    (button,) = toast.findChildren(QPushButton)
    assert toast.message == "second"
    assert not button.isVisible()


def test_a_toast_uses_the_room_of_a_window_that_has_grown(host: QWidget) -> None:
    """A long message in a narrow window does not limit later ones in a wide window."""
    toast = Toast(host)
    host.resize(400, 300)
    toast.show_message("A message that is far too long for one line " * 3)
    host.resize(1200, 300)
    toast.show_message(
        "A message that fits into one line of a wide window without any trouble", action="Undo"
    )
    assert clipped(toast) == []
    toast.hide()


def test_a_toast_stays_inside_its_window(host: QWidget) -> None:
    """A long message wraps, also after the window was made smaller."""
    toast = Toast(host)
    toast.report_failure(
        "this would make a class its own ancestor: found " + "Animal > Bird > " * 12
    )
    host.resize(500, 300)
    assert host.rect().contains(toast.geometry())
    assert toast.height() > 40


def test_a_toast_lies_in_the_band_at_the_bottom(host: QWidget) -> None:
    """The toast follows the status bar, which becomes higher for a long message."""
    band = QLabel("All changes saved")
    band.setMargin(12)
    column = QVBoxLayout(host)
    column.setContentsMargins(0, 0, 0, 0)
    column.addStretch(1)
    column.addWidget(band)
    host.layout().activate()  # type: ignore[union-attr]
    toast = Toast(host)
    toast.cover(band)
    toast.show_message("Undone")
    assert band.geometry().contains(toast.geometry())
    host.resize(600, 300)
    host.layout().activate()  # type: ignore[union-attr]
    assert band.geometry().contains(toast.geometry())


Key = Qt.Key


def mark_of(desk: Desk) -> LabelMark:
    """The label mark in the status bar."""
    (mark,) = desk.window.findChildren(LabelMark)
    return mark


@pytest.mark.slow
def test_each_key_says_what_it_did(reviewing: Desk) -> None:
    """The mark has the class and the number left, also if the image left the view."""
    mark = mark_of(reviewing)
    assert mark.text == ""
    name = reviewing.best_of(reviewing.choose(3))
    reviewing.press_for_change(Key.Key_1)
    assert mark.text == f"Labelled {name}  ·  39 to review"
    reviewing.press_for_change(Key.Key_U)
    assert mark.text == "Labelled as none of the classes  ·  38 to review"


@pytest.mark.slow
def test_undo_beside_it_takes_the_label_back(reviewing: Desk) -> None:
    """One click removes the label and clears the mark."""
    mark = mark_of(reviewing)
    image_id = reviewing.choose(3)
    reviewing.press_for_change(Key.Key_1)
    reviewing.qtbot.mouseClick(button(mark, "Undo"), Qt.MouseButton.LeftButton)
    reviewing.wait(lambda: mark.text == "")
    assert reviewing.label_of(image_id) == ""


@pytest.mark.slow
def test_many_images_are_answered_in_the_toast(reviewing: Desk) -> None:
    """The mark is about a single image, and is cleared."""
    reviewing.choose(3)
    reviewing.press_for_change(Key.Key_1)
    reviewing.choose(0)
    reviewing.press(Key.Key_A, CONTROL)
    reviewing.press_for_change(Key.Key_U)
    assert mark_of(reviewing).text == ""


def covers_a_card(desk: Desk) -> bool:
    """Whether the toast overlaps the grid."""
    toast, viewport = desk.window.toast, desk.grid.viewport()
    place = QRect(toast.mapToGlobal(QPoint()), toast.size())
    return place.intersects(QRect(viewport.mapToGlobal(QPoint()), viewport.size()))


@pytest.mark.slow
@pytest.mark.parametrize("size", [(1440, 900), (1000, 640)])
def test_b9_a_message_covers_no_card(reviewing: Desk, size: tuple[int, int]) -> None:
    """A short message and one of several lines: the status bar grows."""
    reviewing.window.resize(*size)
    reviewing.choose(0)
    reviewing.press(Key.Key_Right, SHIFT)
    reviewing.press_for_change(Key.Key_U)
    toast, line = reviewing.window.toast, reviewing.window.status_line
    assert toast.message.startswith("Labelled ")
    height = line.height()
    assert not covers_a_card(reviewing)
    toast.report_failure(
        "this would make a class its own ancestor: found " + "Animal > Bird > " * 30
    )
    reviewing.wait(lambda: line.height() > height)
    reviewing.wait(lambda: not covers_a_card(reviewing))
    assert clipped(toast) == []
    toast.hide()
    reviewing.wait(lambda: line.height() == height)


@pytest.mark.slow
@pytest.mark.parametrize("size", [(1440, 900), (1000, 640)])
def test_b9_a_message_covers_no_open_card(reviewing: Desk, size: tuple[int, int]) -> None:
    """A card over the window ends above the status bar, also at its maximum height."""
    reviewing.window.resize(*size)
    reviewing.choose(0)
    reviewing.press(Key.Key_A, CONTROL)
    reviewing.press_for_change(Key.Key_U)
    reviewing.press(Key.Key_Comma, CONTROL)
    (card,) = (each for each in reviewing.window.findChildren(ScrollingCard) if each.isVisible())
    panel = QRect(card.panel.mapToGlobal(QPoint()), card.panel.size())
    toast = reviewing.window.toast
    assert toast.message
    assert not panel.intersects(QRect(toast.mapToGlobal(QPoint()), toast.size()))


@pytest.mark.slow
def test_b9_the_last_thing_that_happened_is_shown(reviewing: Desk) -> None:
    """A label of a single image ends the toast about several."""
    reviewing.choose(0)
    reviewing.press(Key.Key_Right, SHIFT)
    reviewing.press_for_change(Key.Key_U)
    toast = reviewing.window.toast
    assert toast.message == "Labelled 2 images as none of the classes"
    reviewing.choose(3)
    reviewing.press_for_change(Key.Key_1)
    assert toast.message == ""
    assert mark_of(reviewing).text.startswith("Labelled ")
    toast.show_message("No class has the key 9 for this image.")
    reviewing.press_for_change(Key.Key_1)
    assert toast.message == ""
    toast.report_failure("The disk is full")
    reviewing.press_for_change(Key.Key_1)
    assert toast.message == "The disk is full"
    toast.hide()


@pytest.mark.slow
def test_b9_an_overwritten_label_of_another_person_is_reported(
    desk: Desk, collection: Collection
) -> None:
    """The message has class and annotator; one click restores the label."""
    desk.open(collection.project)
    image_id = desk.choose(0)
    top, second = (desk.window.inspector.top_classes_of(image_id)[place] for place in (0, 1))
    act(
        desk.qtbot,
        desk.window.session,
        lambda project: project.labels.set([image_id], second, who="Ada"),
    )
    desk.grid.select_image(image_id)
    desk.choose(desk.grid.currentIndex().row())
    desk.press_for_change(Key.Key_1)
    graph, toast = desk.graph, desk.window.toast
    assert desk.label_of(image_id) == graph.name(top)
    report = f"Labelled 1 image as {graph.name(top)} (was {graph.name(second)}, by Ada)."
    desk.wait(lambda: toast.message.startswith(report))
    changed_by(desk.qtbot, desk.window.session, lambda: desk.click(button(toast, "Undo")))
    assert desk.label_of(image_id) == graph.name(second)


def test_it_says_what_is_done_until_predictions_are_there(
    qtbot: QtBot, session: Session, collection: Collection
) -> None:
    """Reading with a count, then nothing. Later changes do not show it again."""
    mark = OpeningMark(session)
    qtbot.addWidget(mark)
    shown: list[str] = []
    session.state_changed.connect(
        lambda _state: shown.append(mark.text() if not mark.isHidden() else "")
    )
    open_project(qtbot, session, collection.project)
    assert shown[0] == "Reading 64 embeddings…"
    assert set(shown[1:]) <= {"Classifying…"}
    assert mark.isHidden()
