"""Charts of loss and accuracy during a training."""

from collections.abc import Callable, Sequence
from math import ceil, floor, log10
from typing import final

from PySide6.QtCore import QLocale, QPointF, QRectF, Qt, QTimer
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.controls import fill_column, make_label
from app.mirroring import keep_as_drawn
from app.texts import tr
from app.theme.tokens import tokens
from app.training.logic import Curve, Curves
from app.wording import clauses, percent_to_a_tenth

# Logical pixels.
HEIGHT = 150  # of a plot
TOP = 4  # margin
RIGHT = 20  # margin: half of the last number, which is centred below the end of the axis
GAP = 6  # between an axis and its numbers
TICK = 4
ACROSS = 80.0  # least distance of two ticks
ALONG = 40.0
LINE = 2.0
THIN_LINE = 1.25
DOT = 5.0
RING = 15.0
REDRAW_MS = 100
MOST_DECIMALS = 4
WIDEST_NUMBERS = ("100%", "0.0000")
PADDING_ACROSS = 0.02  # of the range of iterations, on both sides
PADDING_ALONG = 0.1
"""Margin of the value range, above and below, so that markers at 100% are not clipped."""
GRID = 0.5  # opacity


@final
class Plot(QWidget):
    """Curves over iterations, with axes.

    Args:
        number_text: text of a value with a number of decimals.
    """

    def __init__(self, number_text: Callable[[float, int], str]) -> None:
        super().__init__()
        self._number_text = number_text
        self.curves: Sequence[tuple[Curve, bool]] = ()  # with whether it is emphasised
        self.ring: tuple[float, float] | None = None  # iteration and value
        self.iterations: tuple[float, float] = (0.0, 1.0)  # of the axis
        self.values: tuple[float, float] = (0.0, 1.0)
        keep_as_drawn(self)
        self.setFixedHeight(HEIGHT)
        # The wheel scrolls the panel, wherever the pointer is.
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def show_curves(
        self,
        curves: Sequence[tuple[Curve, bool]],
        iterations: int,
        values: tuple[float, float],
        ring: tuple[float, float] | None = None,
    ) -> None:
        """Show curves, each with whether it is emphasised, and ring a point."""
        self.curves, self.ring = curves, ring
        self.iterations = _padded(0.0, iterations, PADDING_ACROSS)
        self.values = _padded(*values, PADDING_ALONG)
        self.update()

    @property
    def numbers_font(self) -> QFont:
        font = QFont(self.font())
        font.setPixelSize(tokens().sizes.caption)
        return font

    @property
    def room(self) -> QRectF:
        """The rectangle within the axes."""
        metrics = QFontMetrics(self.numbers_font)
        left = max(map(metrics.horizontalAdvance, WIDEST_NUMBERS)) + GAP + TICK
        return QRectF(self.rect()).adjusted(left, TOP, -RIGHT, -metrics.height() - GAP - TICK)

    def point_of(self, iteration: float, value: float) -> QPointF:
        room, (first, last), (low, high) = self.room, self.iterations, self.values
        x = room.left() + room.width() * (iteration - first) / (last - first)
        return QPointF(x, room.bottom() - room.height() * (value - low) / (high - low))

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setLayoutDirection(self.layoutDirection())
        painter.fillRect(self.rect(), QColor(tokens().colours.surface))
        self._paint_axes(painter)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setClipRect(self.room)
        for curve, is_emphasised in self.curves:
            self._paint_curve(painter, curve, is_emphasised=is_emphasised)
        if self.ring is not None:
            painter.setPen(QPen(QColor(tokens().colours.accent_text), LINE))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(self.point_of(*self.ring), RING / 2, RING / 2)
        painter.end()

    def _paint_axes(self, painter: QPainter) -> None:
        room, colours = self.room, tokens().colours
        axis, grid, muted = (
            QColor(colours.border),
            QColor(colours.border),
            QColor(colours.text_muted),
        )
        grid.setAlphaF(GRID)
        painter.setFont(self.numbers_font)
        height = painter.fontMetrics().height()
        numbers, decimals = ticks(*self.values, room.height() / ALONG)
        for value in numbers:
            y = round(self.point_of(0, value).y())
            painter.setPen(grid)
            painter.drawLine(QPointF(room.left(), y), QPointF(room.right(), y))
            place = QRectF(0, y - height / 2, room.left() - GAP, height)
            painter.setPen(muted)
            text = self._number_text(value, decimals)
            painter.drawText(place, Qt.AlignmentFlag.AlignRight, text)
        numbers, decimals = ticks(*self.iterations, room.width() / ACROSS)
        for iteration in numbers:
            x = round(self.point_of(iteration, 0).x())
            painter.setPen(axis)
            painter.drawLine(QPointF(x, room.bottom()), QPointF(x, room.bottom() - TICK))
            place = QRectF(x - ACROSS / 2, room.bottom() + GAP, ACROSS, height)
            painter.setPen(muted)
            text = number_text(iteration, decimals)
            painter.drawText(place, Qt.AlignmentFlag.AlignHCenter, text)
        painter.setPen(axis)
        painter.drawLine(room.bottomLeft(), room.bottomRight())
        painter.drawLine(room.topLeft(), room.bottomLeft())

    def _paint_curve(self, painter: QPainter, curve: Curve, *, is_emphasised: bool) -> None:
        colours = tokens().colours
        colour = QColor(colours.accent if is_emphasised else colours.text_muted)
        points = list(map(self.point_of, curve.iterations, curve.values))
        painter.setPen(QPen(colour, LINE if is_emphasised else THIN_LINE))
        painter.drawPolyline(QPolygonF(points))
        if is_emphasised:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            for point in points:
                painter.drawEllipse(point, DOT / 2, DOT / 2)


@final
class Chart(QWidget):
    """Two plots, one above the other, with the same iterations.

    Points arrive many times a second; redrawing is throttled to ten times a second.
    """

    def __init__(self) -> None:
        super().__init__()
        self._curves = Curves()
        self._iterations = 1
        self._kept_iteration: int | None = None
        self.loss = Plot(number_text)
        self.accuracy = Plot(share_text)
        self.validation_key = make_label(tr("•— validation"), "accent")
        layout = fill_column(self, spacing=tokens().spacing.tiny)
        layout.addLayout(
            _heading(tr("Loss"), make_label(tr("— training"), "muted"), self.validation_key)
        )
        layout.addWidget(self.loss)
        layout.addLayout(_heading(tr("Validation accuracy")))
        layout.addWidget(self.accuracy)
        iterations = make_label(tr("Iterations"), "caption")
        iterations.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        layout.addWidget(iterations)
        self._timer = QTimer(self, singleShot=True, interval=REDRAW_MS)
        self._timer.timeout.connect(self.redraw)

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
        curves, iterations = self._curves, self._iterations
        losses = ((curves.loss, False), (curves.validation_loss, True))
        self.loss.show_curves(losses, iterations, curves.loss_range())
        kept = _nearest_point(curves.accuracy, self._kept_iteration)
        accuracies = ((curves.accuracy, True),)
        self.accuracy.show_curves(accuracies, iterations, curves.accuracy_range(), kept)
        self.validation_key.setVisible(bool(curves.validation_loss.values))
        loss = [f"{tr('Loss')} {number_text(value, 3)}" for value in curves.loss.values[-1:]]
        shares = map(percent_to_a_tenth, curves.accuracy.values[-1:])
        words = [*loss, *(f"{tr('Validation accuracy')} {share}" for share in shares)]
        self.setAccessibleName(clauses(*words) or tr("Training chart"))


def _heading(title: str, *keys: QWidget) -> QHBoxLayout:
    """Title and legend of a plot."""
    row = QHBoxLayout()
    row.setSpacing(tokens().spacing.small)
    row.addWidget(make_label(title, "strong"))
    row.addStretch(1)
    for key in keys:
        row.addWidget(key)
    return row


def _padded(low: float, high: float, share: float) -> tuple[float, float]:
    """A range with a margin on both sides."""
    margin = share * (high - low)
    return low - margin, high + margin


def _nearest_point(curve: Curve, iteration: int | None) -> tuple[float, float] | None:
    """The point of a curve nearest to an iteration; None without an iteration or points."""
    points = zip(curve.iterations, curve.values, strict=True)
    if iteration is None:
        return None
    return min(points, key=lambda point: abs(point[0] - iteration), default=None)


def ticks(low: float, high: float, most: float) -> tuple[Sequence[float], int]:
    """Round values within a range, at most about `most`, and the decimals that tell them apart."""
    least = (high - low) / most
    power = 10.0 ** floor(log10(least))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least)
    numbers = range(ceil(low / step), floor(high / step) + 1)
    decimals = min(max(0, -floor(log10(step))), MOST_DECIMALS)
    return [number * step for number in numbers], decimals


def number_text(value: float, decimals: int) -> str:
    return QLocale().toString(value, "f", decimals)


def share_text(value: float, decimals: int) -> str:
    return f"{number_text(100 * value, max(0, decimals - 2))}%"
