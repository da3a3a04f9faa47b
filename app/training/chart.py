"""Charts of loss and accuracy during a training. Loads pyqtgraph: import only when first shown."""

from typing import Any, Final, final

import pyqtgraph as pg
from PySide6.QtCore import QLocale, Qt, QTimer
from PySide6.QtGui import QColor, QFont, QFontMetrics
from PySide6.QtWidgets import QApplication, QHBoxLayout, QWidget

from app.controls import fill_column, make_label
from app.mirroring import keep_as_drawn
from app.texts import tr
from app.theme import theme_of
from app.theme.tokens import tokens
from app.training.logic import Curve, Curves
from app.wording import clauses, percent_to_a_tenth

HEIGHT: Final = 150  # of a plot, in pixels
WIDEST_NUMBERS: Final = ("100%", "0.0000")
ROOM_FOR_TICKS: Final = 10  # pixels
RIM: Final = 4
# Pixels right of the axis: half of the last tick label, which is centred below the end.
ROOM_FOR_LAST_NUMBER: Final = 20
ROOM_FOR_POINTS: Final = 0.1
"""Margin of the value range, above and below, so that markers at 100% are not clipped."""
REDRAW_MS: Final = 100
LINE: Final = 2.0
THIN_LINE: Final = 1.25
DOT: Final = 5
GRID: Final = 0.5


@final
class Chart(QWidget):
    """Two plots, one above the other, with the same iterations.

    Points arrive many times a second; redrawing is throttled to ten times a second.
    """

    def __init__(self) -> None:
        super().__init__()
        self._curves = Curves()
        self._iterations = 1
        self._loss_plot = _make_plot(_NumberAxis())
        self._accuracy_plot = _make_plot(_ShareAxis())
        self._loss = self._loss_plot.plot(antialias=True)
        self._validation_loss = self._loss_plot.plot(antialias=True)
        self._accuracy = self._accuracy_plot.plot(antialias=True)
        self._kept = self._accuracy_plot.plot(antialias=True)
        self._kept_iteration: int | None = None
        layout = fill_column(self, spacing=tokens().spacing.tiny)
        self._validation_key = make_label(tr("•— validation"), "accent")
        layout.addLayout(
            _heading(tr("Loss"), make_label(tr("— training"), "muted"), self._validation_key)
        )
        layout.addWidget(self._loss_plot)
        layout.addLayout(_heading(tr("Validation accuracy")))
        layout.addWidget(self._accuracy_plot)
        iterations = make_label(tr("Iterations"), "caption")
        iterations.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        layout.addWidget(iterations)
        self._timer = QTimer(self, singleShot=True, interval=REDRAW_MS)
        self._timer.timeout.connect(self.redraw)
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        theme_of(application).changed.connect(self._dress)
        self._dress()

    def show_curves(self, curves: Curves, iterations: int) -> None:
        self._curves, self._iterations, self._kept_iteration = curves, max(1, iterations), None
        self.redraw()

    def mark_kept(self, iteration: int | None) -> None:
        self._kept_iteration = iteration
        self.redraw()

    def redraw_soon(self) -> None:
        if not self._timer.isActive():
            self._timer.start()

    def redraw(self) -> None:
        curves = self._curves
        for item, curve in (
            (self._loss, curves.loss),
            (self._validation_loss, curves.validation_loss),
            (self._accuracy, curves.accuracy),
        ):
            item.setData(curve.iterations, curve.values)
        for plot, (low, high) in (
            (self._loss_plot, curves.loss_range()),
            (self._accuracy_plot, curves.accuracy_range()),
        ):
            plot.setXRange(0, self._iterations, padding=0.02)
            plot.setYRange(low, high, padding=ROOM_FOR_POINTS)
        self._validation_key.setVisible(bool(curves.validation_loss.values))
        self._kept.setData(*_kept_point(curves.accuracy, self._kept_iteration))
        loss = [
            f"{tr('Loss')} {QLocale().toString(value, 'f', 3)}" for value in curves.loss.values[-1:]
        ]
        shares = map(percent_to_a_tenth, curves.accuracy.values[-1:])
        words = [*loss, *(f"{tr('Validation accuracy')} {share}" for share in shares)]
        self.setAccessibleName(clauses(*words) or tr("Training chart"))

    def _dress(self) -> None:
        colours = tokens().colours
        for plot in (self._loss_plot, self._accuracy_plot):
            _dress_plot(plot)
        self._loss.setPen(pg.mkPen(QColor(colours.text_muted), width=THIN_LINE))
        for item in (self._validation_loss, self._accuracy):
            item.setPen(pg.mkPen(QColor(colours.accent), width=LINE))
            item.setSymbol("o")
            item.setSymbolSize(DOT)
            item.setSymbolPen(None)
            item.setSymbolBrush(QColor(colours.accent))
        self._kept.setPen(None)
        self._kept.setSymbol("o")
        self._kept.setSymbolSize(3 * DOT)
        self._kept.setSymbolPen(pg.mkPen(QColor(colours.accent_text), width=LINE))
        self._kept.setSymbolBrush(None)


def _heading(title: str, *keys: QWidget) -> QHBoxLayout:
    """Title and legend of a plot."""
    row = QHBoxLayout()
    row.setSpacing(tokens().spacing.small)
    row.addWidget(make_label(title, "strong"))
    row.addStretch(1)
    for key in keys:
        row.addWidget(key)
    return row


def _kept_point(accuracy: Curve, iteration: int | None) -> tuple[list[float], list[float]]:
    """The point of the curve nearest to an iteration; empty without an iteration or points."""
    if iteration is None or not accuracy.values:
        return [], []
    place = min(
        range(len(accuracy.values)), key=lambda place: abs(accuracy.iterations[place] - iteration)
    )
    return [accuracy.iterations[place]], [accuracy.values[place]]


class _NumberAxis(pg.AxisItem):  # type: ignore[misc]  # the library has no types
    """Axis with localized numbers, without SI prefixes."""

    def __init__(self, side: str = "left") -> None:
        super().__init__(side)
        self.enableAutoSIPrefix(False)

    def tickStrings(self, values: list[float], _scale: float, spacing: float) -> list[str]:
        return [QLocale().toString(value, "f", _decimals(spacing)) for value in values]


class _ShareAxis(_NumberAxis):
    """Axis of shares in percent."""

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        return [
            f"{text}%"
            for text in super().tickStrings([100 * value for value in values], scale, 100 * spacing)
        ]


def _decimals(spacing: float) -> int:
    """Number of decimals that distinguish neighbouring ticks."""
    decimals = 0
    while spacing < 1 and decimals < 4:  # noqa: PLR2004 (more would not fit next to the chart)
        spacing, decimals = 10 * spacing, decimals + 1
    return decimals


def _make_plot(left: pg.AxisItem) -> Any:
    iterations = _NumberAxis("bottom")
    iterations.setStyle(hideOverlappingLabels=ROOM_FOR_LAST_NUMBER)
    plot = pg.PlotWidget(axisItems={"left": left, "bottom": iterations})
    for part in (plot, plot.getPlotItem()):
        keep_as_drawn(part)
    plot.setFixedHeight(HEIGHT)
    plot.setMenuEnabled(False)
    plot.setMouseEnabled(x=False, y=False)
    plot.hideButtons()
    plot.showGrid(x=False, y=True, alpha=GRID)
    plot.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    # The wheel scrolls the panel, wherever the pointer is.
    plot.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
    plot.disableAutoRange()
    plot.getPlotItem().layout.setContentsMargins(0, RIM, ROOM_FOR_LAST_NUMBER, 0)
    return plot


def _dress_plot(plot: Any) -> None:
    worn = tokens()
    # An opaque colour: a transparent view keeps the background of the theme it was first shown in.
    plot.setBackground(QColor(worn.colours.surface))
    font = QFont(plot.font())
    font.setPixelSize(worn.sizes.caption)
    widest = max(map(QFontMetrics(font).horizontalAdvance, WIDEST_NUMBERS))
    plot.getAxis("left").setWidth(widest + ROOM_FOR_TICKS)
    for side in ("left", "bottom"):
        axis = plot.getAxis(side)
        axis.setPen(pg.mkPen(QColor(worn.colours.border), width=1))
        axis.setTextPen(QColor(worn.colours.text_muted))
        axis.setTickFont(font)
        axis.setStyle(tickLength=-4, tickTextOffset=6, maxTickLevel=0, maxTextLevel=0)
