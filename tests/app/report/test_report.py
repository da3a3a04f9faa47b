"""The report in the window, end to end: made, read, folded, followed to images, saved."""

import csv
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QFontMetrics, QPainter, QPixmap
from PySide6.QtWidgets import QApplication, QFileDialog, QPushButton, QScrollBar, QWidget

from app.report.controller import ReportFeature
from app.report.matrix import MatrixView
from app.report.matrix_look import ARROW, GAP, INDENT
from app.report.surface import ChartView
from app.report.table import ReportTableView
from app.report.view import ReportPage
from app.theme import set_scheme
from engine.events import CancelToken
from engine.graph.codes import NO_CLASS
from engine.report import make as making
from engine.report.document import BarPlot, ColumnPlot, LinePlot, ReportChart
from engine.report.figures import TruthSource
from engine.report.html import html_of
from engine.report.write import SUFFIXES
from tests.support.clipping import clipped
from tests.support.collections import Collection
from tests.support.desk import CONTROL, Desk
from tests.support.sessions import act
from tests.support.widgets import button, texts

Key = Qt.Key


def page_of(desk: Desk) -> ReportPage:
    """The page; it must be there."""
    page = desk.window.of(ReportFeature).page
    assert page is not None
    return page


def shown_page(desk: Desk) -> QWidget | None:
    """The page in the centre."""
    return desk.window.workspace.page


def opened(desk: Desk) -> ReportPage:
    """The page with a report, opened by its key."""
    desk.press(Key.Key_E, CONTROL)
    page = page_of(desk)
    assert shown_page(desk) is page
    desk.wait(lambda: page.made is not None and page.section != "")
    return page


def choose(desk: Desk, page: ReportPage, key: str) -> QWidget:
    """Click on a section's name; returns its view."""
    desk.qtbot.mouseClick(page.chips[key], Qt.MouseButton.LeftButton)
    assert page.section == key
    return page.view_of(key)


def matrix_of(desk: Desk, page: ReportPage) -> MatrixView:
    """The visible confusion matrix."""
    (matrix,) = choose(desk, page, "confusion").findChildren(MatrixView)
    QApplication.processEvents()
    return matrix


def row_called(matrix: MatrixView, name: str) -> int:
    """The row of a class."""
    return next(
        row
        for row in range(len(matrix.folded.lines))
        if matrix.text_of(row, -1).startswith(f"{name}: ")
    )


def click_cell(desk: Desk, matrix: MatrixView, row: int, column: int) -> None:
    """Click on the centre of a cell, or on a name."""
    place = matrix.scene.cell_rect(row, column).center()
    desk.qtbot.mouseClick(
        matrix.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(place.x(), place.y())
    )


@pytest.fixture
def saving(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path, str], None]:
    """Patch the file dialog to choose a file and a format."""

    def answer(path: Path, suffix: str) -> None:
        def choose_file(
            _parent: object, _title: str, _start: str, kinds: str, *_more: object
        ) -> tuple[str, str]:
            return str(path), next(kind for kind in kinds.split(";;") if f"*{suffix})" in kind)

        monkeypatch.setattr(QFileDialog, "getSaveFileName", choose_file)

    return answer


@pytest.mark.slow
def test_a_report_by_keys(reviewing: Desk) -> None:
    """One key makes it; keys walk its sections; Esc shows the grid, the key the same report."""
    page = opened(reviewing)
    assert page.made is not None
    assert page.made.report.about.source is TruthSource.HELD_OUT
    assert list(page.chips) == [
        "overview",
        "accuracy",
        "confusion",
        "classes",
        "mistakes",
        "counts",
    ]
    assert page.section == "overview"
    assert "Predictions are compared with 24 of 24 labels." in texts(page)
    page.setFocus()
    reviewing.press(Key.Key_PageDown, CONTROL)
    assert page.section == "accuracy"
    charts = page.view_of("accuracy").findChildren(ChartView)
    assert len(charts) == 3
    assert all(chart.accessibleName() and chart.accessibleDescription() for chart in charts)
    reviewing.press(Key.Key_PageUp, CONTROL)
    reviewing.press(Key.Key_PageUp, CONTROL)
    assert page.section == "counts"
    reviewing.press(Key.Key_Escape)
    assert shown_page(reviewing) is None
    assert reviewing.grid.isVisible()
    made = page.made
    reviewing.press(Key.Key_E, CONTROL)
    assert shown_page(reviewing) is page
    assert (page.made, page.section) == (made, "counts")


def test_asked_for_before_predictions_are_there(desk: Desk, collection: Collection) -> None:
    """Right after opening a project the report is deferred."""
    desk.window.session.open(collection.project)
    desk.wait(lambda: desk.window.session.state is not None)
    page = opened(desk)
    assert "accuracy" in page.chips
    assert page.made is not None
    assert page.made.report.progress.waiting == 0


@pytest.mark.slow
def test_a_cell_opens_its_images_and_back_leads_here(reviewing: Desk) -> None:
    """By mouse: a branch is folded and unfolded; a cell's images are in the grid with its title."""
    page = opened(reviewing)
    matrix = matrix_of(reviewing, page)
    red = row_called(matrix, "Red")
    lines = len(matrix.folded.lines)
    was_open = matrix.folded.lines[red].is_open
    click_cell(reviewing, matrix, red, -1)
    assert matrix.folded.lines[row_called(matrix, "Red")].is_open is not was_open
    assert len(matrix.folded.lines) == lines + (-3 if was_open else 3)
    if not was_open:
        click_cell(reviewing, matrix, red, -1)
    red = row_called(matrix, "Red")
    assert matrix.text_of(red, red) == "Red, predicted Red: 9 images"
    click_cell(reviewing, matrix, red, red)
    workspace = reviewing.window.workspace
    assert shown_page(reviewing) is None
    assert workspace.images is not None
    assert workspace.images.title == "Red, predicted Red"
    assert reviewing.grid.model().rowCount() == 9
    labels = {reviewing.label_of(image_id) for image_id in workspace.images.image_ids.tolist()}
    assert labels == {"Red disc", "Red stripes", "Red checks"}
    reviewing.press(Key.Key_Escape)
    assert shown_page(reviewing) is page
    assert page.section == "confusion"


@pytest.mark.slow
def test_the_matrix_by_keys(reviewing: Desk) -> None:
    """Arrows move, plus and minus fold, Enter opens; the accessible name is that of the cell."""
    page = opened(reviewing)
    matrix = matrix_of(reviewing, page)
    matrix.setFocus()
    reviewing.press(Key.Key_Home)
    while matrix.folded.lines[matrix.row].is_open:
        reviewing.press(Key.Key_Minus)
    closed = len(matrix.folded.lines)
    name = matrix.accessibleDescription()
    reviewing.press(Key.Key_Minus)  # it is folded already
    assert len(matrix.folded.lines) == closed
    reviewing.press(Key.Key_Plus)
    assert len(matrix.folded.lines) > closed
    assert matrix.accessibleDescription() == name
    reviewing.press(Key.Key_Down)
    reviewing.press(Key.Key_Right)
    reviewing.press(Key.Key_Right)
    assert (matrix.row, matrix.column) == (1, 1)
    assert ", predicted " in matrix.accessibleDescription()
    count = matrix.folded.cells[1, 1]
    reviewing.press(Key.Key_Return)
    assert reviewing.grid.model().rowCount() == count


@pytest.mark.slow
def test_a_row_opens_its_class(reviewing: Desk) -> None:
    """Sorted by a click on a heading; Enter opens the class."""
    page = opened(reviewing)
    tables = choose(reviewing, page, "classes").findChildren(ReportTableView)
    table = next(each for each in tables if each.accessibleName() == "Figures of each class")
    model = table.model()
    heading = table.horizontalHeader()
    place = QPoint(heading.sectionPosition(0) + 10, heading.height() // 2)
    reviewing.qtbot.mouseClick(heading.viewport(), Qt.MouseButton.LeftButton, pos=place)
    names = [model.index(row, 0).data() for row in range(model.rowCount())]
    assert names in (sorted(names), sorted(names, reverse=True))
    assert len(names) == 11
    table.setFocus()
    table.selectRow(names.index("Green stripes"))
    reviewing.press(Key.Key_Return)
    assert reviewing.window.tree.selected_class == reviewing.graph.find("Green stripes")


@pytest.mark.slow
def test_labels_since(reviewing: Desk) -> None:
    """A label makes the report stale, which it shows; a new one counts the label."""
    page = opened(reviewing)
    image_id = int(reviewing.state.image_ids[reviewing.state.label_class == NO_CLASS][0])
    reviewing.press(Key.Key_Escape)
    reviewing.window.session.label([image_id], reviewing.graph.find("Red disc"))
    reviewing.wait(lambda: page.stale.labels == 1 and reviewing.window.session.is_settled)
    reviewing.press(Key.Key_E, CONTROL)
    assert "1 new label since " in texts(page.notice)
    before = page.made
    reviewing.qtbot.mouseClick(button(page.notice, "Update"), Qt.MouseButton.LeftButton)
    reviewing.wait(lambda: page.made is not before)
    assert page.made is not None
    assert page.made.report.progress.labelled == 25
    assert not page.notice.isVisible()


@pytest.mark.slow
def test_a_truth_file_and_a_rival(
    reviewing: Desk, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Evaluated against a file instead of labels, with logistic regression, then with labels."""
    page = opened(reviewing)
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_words: (str(collection.truth), ""))
    reviewing.qtbot.mouseClick(page.truth_button, Qt.MouseButton.LeftButton)
    reviewing.wait(
        lambda: page.made is not None and page.made.report.about.source is TruthSource.FILE
    )
    assert page.truth_button.text() == "truth.csv"
    assert (
        "Predictions are compared with the truth file truth.csv, on 40 images without a label."
        in texts(page)
    )
    page.rival.showPopup()
    rows = page.rival.view()
    place = rows.visualRect(
        rows.model().index(page.rival.findText("Compare with logistic regression"), 0)
    ).center()
    reviewing.qtbot.mouseClick(rows.viewport(), Qt.MouseButton.LeftButton, pos=place)
    reviewing.wait(lambda: page.made is not None and page.made.report.comparison is not None)
    assert page.section == "compare"
    assert page.made is not None
    assert page.made.report.comparison is not None
    assert page.made.report.comparison.images == 40
    reviewing.wait(page.chips["compare"].isVisible)
    assert page.rival.currentText() == "Compare with logistic regression"
    reviewing.qtbot.mouseClick(page.labels_button, Qt.MouseButton.LeftButton)
    reviewing.wait(
        lambda: page.made is not None and page.made.report.about.source is TruthSource.HELD_OUT
    )


@pytest.mark.slow
def test_a_wrong_truth_file(
    reviewing: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error is one line, and the previous report stays."""
    page = opened(reviewing)
    wrong = tmp_path / "wrong.csv"
    wrong.write_text("person;day\n", encoding="utf-8")
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_words: (str(wrong), ""))
    reviewing.qtbot.mouseClick(page.truth_button, Qt.MouseButton.LeftButton)
    reviewing.wait(page.notice.isVisible)
    assert "were not recognised" in texts(page.notice)
    assert page.truth_button.text() == "Held-out labels"
    assert page.sections.isVisible()


@pytest.mark.slow
def test_saved_in_every_kind(
    reviewing: Desk,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    saving: Callable[[Path, str], None],
) -> None:
    """The file has the chosen format with its suffix; the toast opens its folder."""
    shown: list[QUrl] = []

    def open_url(url: QUrl) -> bool:
        shown.append(url)
        return True

    monkeypatch.setattr(QDesktopServices, "openUrl", open_url)
    page = opened(reviewing)
    for suffix in SUFFIXES:
        saving(tmp_path / "for the board", suffix)
        reviewing.qtbot.mouseClick(page.save_button, Qt.MouseButton.LeftButton)
        out = tmp_path / f"for the board{suffix}"
        message = f"Saved the report as {out.name}"
        reviewing.wait(lambda message=message: reviewing.window.toast.message == message)  # type: ignore[misc]
        assert out.stat().st_size > 1_000
    reviewing.qtbot.mouseClick(
        button(reviewing.window.toast, "Show in folder"), Qt.MouseButton.LeftButton
    )
    assert [Path(url.toLocalFile()) for url in shown] == [tmp_path]
    with (tmp_path / "for the board.csv").open(encoding="utf-8", newline="") as file:
        assert any(row["table"] == "classes" for row in csv.DictReader(file))


@pytest.mark.slow
def test_never_over_an_image(
    reviewing: Desk, collection: Collection, saving: Callable[[Path, str], None]
) -> None:
    """A path that is a link to an image of the project is rejected, and the image is unchanged."""
    page = opened(reviewing)
    shot = next(collection.shots.rglob("*.png"))
    link, before = collection.folder / "a.html", shot.read_bytes()
    link.symlink_to(shot)
    saving(link, ".html")
    reviewing.qtbot.mouseClick(page.save_button, Qt.MouseButton.LeftButton)
    reviewing.wait(
        lambda: "would overwrite an image of the project" in reviewing.window.toast.message
    )
    assert shot.read_bytes() == before


@pytest.mark.slow
def test_cancelled(reviewing: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cancelling takes effect at once; the page offers to make the report."""

    def wait_for_ever(*_given: object, cancel: CancelToken | None = None, **_more: object) -> None:
        assert cancel is not None
        cancel.wait(60)
        cancel.raise_if_cancelled()

    monkeypatch.setattr("app.report.logic.make_report", wait_for_ever)
    reviewing.press(Key.Key_E, CONTROL)
    page = page_of(reviewing)
    reviewing.wait(lambda: bool(reviewing.window.session.jobs.jobs))
    assert page.progress.isVisible()
    reviewing.qtbot.mouseClick(page.progress.cancel_button, Qt.MouseButton.LeftButton)
    assert "No report yet" in texts(page)
    monkeypatch.setattr("app.report.logic.make_report", making.make_report)
    reviewing.qtbot.mouseClick(page.again_button, Qt.MouseButton.LeftButton)
    reviewing.wait(lambda: page.made is not None)


@pytest.mark.slow
def test_too_little_to_report(desk: Desk, unread: Collection) -> None:
    """Before images are embedded: progress, counts, and why there is no accuracy."""
    desk.window.session.open(unread.project)
    desk.wait(
        lambda: desk.window.session.state is not None and not desk.window.session.state.is_list_only
    )
    if desk.window.embedding.job is not None:
        desk.window.embedding.job.cancel()
    page = opened(desk)
    assert (
        "There is nothing to compare predictions with yet: no image has an embedding yet."
        in texts(page)
    )
    assert "accuracy" not in page.chips
    assert not texts(page.notice)


@pytest.mark.slow
def test_another_project(reviewing: Desk) -> None:
    """Closing the project clears the report."""
    page = opened(reviewing)
    reviewing.window.session.close()
    reviewing.wait(lambda: reviewing.window.session.info is None)
    assert page.made is None
    assert not page.chips
    assert shown_page(reviewing) is None


@pytest.mark.slow
def test_nothing_is_clipped(reviewing: Desk) -> None:
    """Every section fits narrow and wide, light and dark."""
    page = opened(reviewing)
    for scheme, width in (("light", 1000), ("dark", 1440)):
        set_scheme(scheme)
        reviewing.window.resize(width, 800)
        for key in list(page.chips):
            choose(reviewing, page, key)
            QApplication.processEvents()
            assert not clipped(page)


def scroll_bars(widget: QWidget) -> list[QScrollBar]:
    """Visible vertical scroll bars with a range."""
    return [
        bar
        for bar in widget.findChildren(QScrollBar)
        if bar.orientation() is Qt.Orientation.Vertical and bar.isVisible() and bar.maximum() > 0
    ]


@pytest.mark.slow
@pytest.mark.parametrize("size", [(1440, 900), (1000, 640)])
def test_a_section_has_one_scroll_bar(reviewing: Desk, size: tuple[int, int]) -> None:
    """That of the page: tables and matrix have none, and the wheel over them scrolls the page."""
    reviewing.window.resize(*size)
    page = opened(reviewing)
    for key in page.chips:
        view = choose(reviewing, page, key)
        for unfold in [
            each for each in view.findChildren(QPushButton) if each.text() == "Show as a table"
        ]:
            reviewing.qtbot.mouseClick(unfold, Qt.MouseButton.LeftButton)
        QApplication.processEvents()
        assert len(scroll_bars(view)) <= 1, key
        for table in view.findChildren(ReportTableView):
            shown = [
                column
                for column in range(table.model().columnCount())
                if not table.isColumnHidden(column)
            ]
            assert 0 in shown
            assert table.viewport().height() >= table.verticalHeader().length(), (
                table.accessibleName()
            )


@pytest.mark.slow
def test_the_matrix_uses_the_page_and_names_its_axes(reviewing: Desk) -> None:
    """Names are whole, cells are large enough for a number, and the matrix does not scroll."""
    reviewing.window.resize(1440, 900)
    page = opened(reviewing)
    matrix = matrix_of(reviewing, page)
    sizes, lines = matrix.scene.sizes, len(matrix.folded.lines)
    assert sizes.side >= 26
    assert matrix.viewport().height() >= sizes.head + sizes.side * lines
    metrics = QFontMetrics(matrix.small_font)
    for row in range(lines):
        inset = min(INDENT * matrix.folded.lines[row].depth, sizes.names // 2) + ARROW + GAP
        assert metrics.horizontalAdvance(matrix.scene.name_of(row)) <= sizes.names - inset
    assert {"Predicted class", "Correct class"} <= drawn_texts(matrix)


def drawn_texts(matrix: MatrixView) -> set[str]:
    """The texts painted in a matrix."""
    written: set[str] = set()
    painter = QPainter(page_image := QPixmap(matrix.viewport().size()))
    draw = painter.drawText

    class Listening:
        def __getattr__(self, name: str) -> object:
            return getattr(painter, name)

        def drawText(self, *arguments: object) -> None:
            written.add(str(arguments[-1]))
            draw(*arguments)  # type: ignore[call-overload]

    matrix.scene.paint(Listening())  # type: ignore[arg-type]
    painter.end()
    assert not page_image.isNull()
    return written


@pytest.mark.slow
def test_figures_are_named_as_the_field_does(reviewing: Desk) -> None:
    """Predicted and correct, top level, class balance; every chart has axis titles."""
    page = opened(reviewing)
    assert page.made is not None
    document = page.made.document
    charts = [
        block
        for section in document.sections
        for block in section.blocks
        if isinstance(block, ReportChart)
    ]
    assert all(chart.x_title for chart in charts)
    assert all(chart.y_title for chart in charts if isinstance(chart, ColumnPlot | LinePlot))
    (coverage,) = [chart for chart in charts if isinstance(chart, LinePlot)]
    assert [curve.name for curve in coverage.curves] == ["predicted", "correct"]
    levels = next(chart for chart in charts if chart.title == "Accuracy by level")
    assert isinstance(levels, BarPlot)
    assert levels.bars[0].label == "Top level"
    balance = next(chart for chart in charts if chart.title == "Class balance")
    assert isinstance(balance, BarPlot)
    values = [bar.value for bar in balance.bars]
    assert values == sorted(values, reverse=True)
    assert sum(bar.part or 0 for bar in balance.bars) == 24
    assert balance.note == "The first part of each bar is labelled, the rest predicted."
    assert page.rival.itemText(0) == "No comparison"


@pytest.mark.slow
def test_a_flat_list_has_no_talk_of_levels(reviewing: Desk) -> None:
    """Without levels, accuracy, mistakes and notes mention only classes."""
    session = reviewing.window.session
    graph = reviewing.graph
    parents = [class_id for class_id in graph.roots() if graph.children(class_id)]
    act(reviewing.qtbot, session, lambda project: project.classes.remove(parents))
    reviewing.wait(lambda: len(reviewing.graph.levels()) == 1 and session.is_settled)
    page = opened(reviewing)
    assert page.made is not None
    words = " ".join(html_of(page.made.document))
    visible = re.sub(r"<(script|style).*?</\1>", "", words, flags=re.DOTALL)
    for word in ("level", "Level", "branch", "Finest", "finest", "below it", "Distance"):
        assert word not in visible, word
    assert "Accuracy of predictions" in visible
