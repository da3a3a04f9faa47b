"""The training chart: curves, colour scheme, and lazy import of its library."""

import subprocess
import sys

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QImage
from pytestqt.qtbot import QtBot

from app.theme import set_scheme
from app.theme.tokens import tokens
from app.training.chart import DOT, LINE, Chart, _decimals
from app.training.logic import Curves
from engine.training.curve import TrainingPoint


def curves(count: int) -> Curves:
    """A falling loss and a rising accuracy."""
    found = Curves()
    for number in range(count):
        found.add(
            TrainingPoint(10 * number, 2.0 / (1 + number), 2.2 / (1 + number), 0.5 + 0.04 * number)
        )
    return found


@pytest.fixture
def chart(qtbot: QtBot) -> Chart:
    """A visible chart with five points of 40 iterations."""
    chart = Chart()
    qtbot.addWidget(chart)
    chart.resize(320, chart.sizeHint().height())
    chart.show_curves(curves(5), 40)
    chart.show()
    return chart


def has_colour(image: QImage, colour: str) -> bool:
    """Whether a pixel has about this colour."""
    wanted = QColor(colour)
    return any(
        abs(found.red() - wanted.red())
        + abs(found.green() - wanted.green())
        + abs(found.blue() - wanted.blue())
        < 12
        for found in (
            image.pixelColor(x, y) for x in range(image.width()) for y in range(image.height())
        )
    )


def test_all_curves_are_drawn(chart: Chart) -> None:
    """The whole run is visible, and the axes cover every value."""
    assert chart._loss.getData()[1].tolist() == [2.0 / (1 + number) for number in range(5)]  # noqa: SLF001 (curves are read from the plotting library)
    assert chart._validation_loss.getData()[0].tolist() == [0, 10, 20, 30, 40]  # noqa: SLF001 (curves are read from the plotting library)
    (left, right), (low, high) = chart._accuracy_plot.viewRange()  # noqa: SLF001 (curves are read from the plotting library)
    assert (left <= 0, 40 <= right < 50) == (True, True)
    assert (low <= 0.5, high >= 0.66) == (True, True)
    assert "66.0%" in chart.accessibleName()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_lines_wear_the_look(chart: Chart, scheme: str) -> None:
    """Curves are repainted when the colour scheme changes."""
    set_scheme(scheme)
    chart.redraw()
    image = chart.grab().toImage()
    assert has_colour(image, tokens().colours.accent)
    assert has_colour(image, tokens().colours.text_muted)
    set_scheme("system")


def test_the_plots_stand_on_the_pane(chart: Chart) -> None:
    """Their background is that of the panel, also after a change of the colour scheme."""
    for scheme in ("light", "dark", "light"):
        set_scheme(scheme)
        image = chart.grab().toImage()
        for plot in (chart._loss_plot, chart._accuracy_plot):  # noqa: SLF001 (curves are read from the plotting library)
            corner = plot.geometry().bottomRight()
            assert image.pixelColor(corner).name() == tokens().colours.surface
    set_scheme("system")


def test_the_key_names_only_what_is_drawn(chart: Chart) -> None:
    """Training a backbone has no validation loss."""
    assert chart._validation_key.isVisible()  # noqa: SLF001 (curves are read from the plotting library)
    without = Curves()
    without.add(TrainingPoint(0, 2.0, None, 0.5))
    chart.show_curves(without, 40)
    assert not chart._validation_key.isVisible()  # noqa: SLF001 (curves are read from the plotting library)


def test_the_kept_state_is_ringed(chart: Chart) -> None:
    """The nearest point of the curve; a new run has no ring."""
    chart.mark_kept(28)
    assert chart._kept.getData()[0].tolist() == [30]  # noqa: SLF001 (curves are read from the plotting library)
    chart.show_curves(curves(2), 40)
    assert chart._kept.getData()[0] is None or len(chart._kept.getData()[0]) == 0  # noqa: SLF001 (curves are read from the plotting library)


def test_a_point_at_a_hundred_percent_is_not_clipped(chart: Chart) -> None:
    """The ring around the best point is whole at the top of the plot."""
    best = Curves()
    for iteration, accuracy in ((0, 0.0), (20, 1.0), (40, 1.0)):
        best.add(TrainingPoint(iteration, 1.0, 1.0, accuracy))
    chart.show_curves(best, 40)
    chart.mark_kept(40)
    box = chart._accuracy_plot.getViewBox()  # noqa: SLF001 (the plotting library has the positions)
    reach = 3 * DOT / 2 + LINE
    assert box.mapFromView(QPointF(40, 1.0)).y() >= reach
    assert box.mapFromView(QPointF(0, 0.0)).y() <= box.height() - reach


def test_the_wheel_reaches_the_panel_below(chart: Chart) -> None:
    """The plots ignore the mouse, so that the panel scrolls."""
    for plot in (chart._loss_plot, chart._accuracy_plot):  # noqa: SLF001 (curves are read from the plotting library)
        assert plot.testAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        assert plot.focusPolicy() is Qt.FocusPolicy.NoFocus


def test_every_number_of_an_axis_fits(chart: Chart) -> None:
    """The widest share and the smallest loss fit next to the plot."""
    for plot, values, spacing, texts in (
        (chart._accuracy_plot, [0.0, 0.55, 1.0], 0.05, ["0%", "55%", "100%"]),  # noqa: SLF001 (curves are read from the plotting library)
        (chart._loss_plot, [0.0, 0.0001], 0.0001, ["0.0000", "0.0001"]),  # noqa: SLF001 (curves are read from the plotting library)
    ):
        axis = plot.getAxis("left")
        assert axis.tickStrings(values, 1.0, spacing) == texts
        metrics = QFontMetrics(axis.style["tickFont"])
        assert max(map(metrics.horizontalAdvance, texts)) < axis.width()


@pytest.mark.parametrize(
    ("spacing", "decimals"), [(200, 0), (1, 0), (0.5, 1), (0.05, 2), (1e-9, 4)]
)
def test_neighbouring_numbers_differ(spacing: float, decimals: int) -> None:
    """Labels have as many decimals as needed, but no more than fit."""
    assert _decimals(spacing) == decimals


@pytest.mark.slow
def test_the_window_starts_without_the_chart() -> None:
    """Its library would delay the first paint."""
    program = "import sys, app.main_window; print('pyqtgraph' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
