"""The training chart: curves, axes and colour scheme."""

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QImage
from pytestqt.qtbot import QtBot

from app.theme import set_scheme
from app.theme.tokens import tokens
from app.training.chart import LINE, RING, Chart, number_text, share_text, ticks
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
    (loss, _), (validation, _) = chart.loss.curves
    assert loss.values == [2.0 / (1 + number) for number in range(5)]
    assert validation.iterations == [0, 10, 20, 30, 40]
    (left, right), (low, high) = chart.accuracy.iterations, chart.accuracy.values
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
        for plot in (chart.loss, chart.accuracy):
            corner = plot.geometry().bottomRight()
            assert image.pixelColor(corner).name() == tokens().colours.surface
    set_scheme("system")


def test_the_key_names_only_what_is_drawn(chart: Chart) -> None:
    """Training a backbone has no validation loss."""
    assert chart.validation_key.isVisible()
    without = Curves()
    without.add(TrainingPoint(0, 2.0, None, 0.5))
    chart.show_curves(without, 40)
    assert not chart.validation_key.isVisible()


def test_the_kept_state_is_ringed(chart: Chart) -> None:
    """The nearest point of the curve; a new run has no ring."""
    chart.mark_kept(28)
    ring = chart.accuracy.ring
    assert ring is not None
    assert ring == pytest.approx((30, 0.62))
    image = chart.accuracy.grab().toImage()
    top = chart.accuracy.point_of(*ring) - QPointF(0, RING / 2)
    assert image.pixelColor(top.toPoint()).name() == tokens().colours.accent_text
    chart.show_curves(curves(2), 40)
    assert chart.accuracy.ring is None


def test_a_point_at_a_hundred_percent_is_not_clipped(chart: Chart) -> None:
    """The ring around the best point is whole at the top of the plot."""
    best = Curves()
    for iteration, accuracy in ((0, 0.0), (20, 1.0), (40, 1.0)):
        best.add(TrainingPoint(iteration, 1.0, 1.0, accuracy))
    chart.show_curves(best, 40)
    plot, reach = chart.accuracy, (RING + LINE) / 2
    assert plot.point_of(40, 1.0).y() - plot.room.top() >= reach
    assert plot.room.bottom() - plot.point_of(0, 0.0).y() >= reach


def test_the_wheel_reaches_the_panel_below(chart: Chart) -> None:
    """The plots ignore the mouse, so that the panel scrolls."""
    for plot in (chart.loss, chart.accuracy):
        assert plot.testAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        assert plot.focusPolicy() is Qt.FocusPolicy.NoFocus


def test_every_number_of_an_axis_fits(chart: Chart) -> None:
    """The widest share and the smallest loss fit next to the plot."""
    metrics = QFontMetrics(chart.loss.numbers_font)
    texts = [share_text(1.0, 2), share_text(0.55, 2), number_text(0.0001, 4)]
    assert texts == ["100%", "55%", "0.0001"]
    assert max(map(metrics.horizontalAdvance, texts)) < chart.loss.room.left()


@pytest.mark.parametrize(
    ("low", "high", "numbers", "decimals"),
    [
        (0, 1000, [0, 200, 400, 600, 800, 1000], 0),
        (0.4, 5.2, [1, 2, 3, 4, 5], 0),
        (-0.2, 2.2, [0, 0.5, 1, 1.5, 2], 1),
        (0.5, 0.72, [0.5, 0.55, 0.6, 0.65, 0.7], 2),
        (0, 1e-8, [0, 2e-9, 4e-9, 6e-9, 8e-9, 1e-8], 4),
    ],
)
def test_ticks_are_round_and_differ(
    low: float, high: float, numbers: list[float], decimals: int
) -> None:
    """They have as many decimals as needed, but no more than fit."""
    found, found_decimals = ticks(low, high, 5)
    assert found == pytest.approx(numbers)
    assert found_decimals == decimals
