"""Settings of a class: its minimum confidence, with a curve on held-out images, and its limits."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, QPointF, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QFontMetrics, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QCheckBox, QSizePolicy, QSlider, QWidget

from app.controls import make_button, make_label, make_row
from app.inspector.logic import ClassPageFacts
from app.inspector.page import Page, PageRequests
from app.inspector.wording import bar_text, bar_value_text, curve_text
from app.mirroring import keep_as_drawn
from app.painting import colour_of, font_of, set_colours, smooth_painter
from app.texts import plain_tip, tr
from app.theme.tokens import tokens
from app.wording import percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from engine.evaluation.policy_curve import PolicyCurve, PolicyPoint


# Logical pixels: enough to see a few percent, and at most two strips of thumbnails.
PLOT_HEIGHT = 84
# Half of a slider's handle, so that its centre is above the same confidence in the chart.
HANDLE_INSET = 9
LINE = 2.0
VEIL = 36  # opacity of the confidence band of the precision, of 255
GRIP = 4.0  # radius of the dots where the threshold crosses the curves
SHARES = (0.0, 0.5, 1.0)  # positions of the grid lines behind the curves


@final
class BarChart(QWidget):
    """Coverage and precision by minimum confidence; dragging in it moves the slider."""

    def __init__(self, curve: PolicyCurve, slider: QSlider) -> None:
        super().__init__()
        self._curve = curve
        self._slider = slider
        keep_as_drawn(self)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(PLOT_HEIGHT + self._footer)
        if slider.isEnabled():
            self.setCursor(Qt.CursorShape.SizeHorCursor)
        slider.valueChanged.connect(lambda _value: self.update())
        self.setAccessibleName(
            tr("Images predicted, and predicted correctly, by minimum confidence")
        )

    def sizeHint(self) -> QSize:
        return QSize(220, PLOT_HEIGHT + self._footer)

    # -- mouse

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self._slider.isEnabled():
            self._slider.setSliderDown(True)
            self._drag_to(event.position().x())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._slider.isSliderDown():
            self._drag_to(event.position().x())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._slider.setSliderDown(False)

    def _drag_to(self, x: float) -> None:
        low, high = self._slider.minimum(), self._slider.maximum()
        share = (x - HANDLE_INSET) / max(1.0, self.width() - 2 * HANDLE_INSET)
        self._slider.setValue(round(low + min(1.0, max(0.0, share)) * (high - low)))

    # -- painting

    @property
    def _footer(self) -> int:
        return QFontMetrics(font_of("caption")).height() + tokens().spacing.tiny

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = smooth_painter(self)
        painter.setLayoutDirection(self.layoutDirection())
        self._paint_grid(painter)
        self._paint_band(painter)
        points = self._curve.points
        coverage = [(point.bar, self._curve.coverage(point)) for point in points]
        precision = [(point.bar, point.precision) for point in points if point.named]
        self._paint_line(painter, coverage, "text_muted")
        self._paint_line(painter, precision, "accent_text")
        self._paint_bar(painter)
        self._paint_ends(painter)
        painter.end()

    def _paint_grid(self, painter: QPainter) -> None:
        painter.setPen(colour_of("hairline"))
        for share in SHARES:
            y = self._y(share)
            painter.drawLine(QPointF(HANDLE_INSET, y), QPointF(self.width() - HANDLE_INSET, y))

    def _paint_band(self, painter: QPainter) -> None:
        named = [point for point in self._curve.points if point.named]
        if not named:
            return
        bounds = [(point.bar, *point.precision_interval) for point in named]
        upper = [QPointF(self._x(bar), self._y(high)) for bar, _, high in bounds]
        lower = [QPointF(self._x(bar), self._y(low)) for bar, low, _ in reversed(bounds)]
        veil = colour_of("accent_text")
        veil.setAlpha(VEIL)
        set_colours(painter, veil)
        painter.drawPolygon(QPolygonF([*upper, *lower]))

    def _paint_line(
        self, painter: QPainter, shares: Sequence[tuple[float, float]], colour: str
    ) -> None:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        line, ends = Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap
        painter.setPen(QPen(colour_of(colour), LINE, line, ends))
        painter.drawPolyline(
            QPolygonF([QPointF(self._x(bar), self._y(share)) for bar, share in shares])
        )

    def _paint_bar(self, painter: QPainter) -> None:
        point, x = self._point, self._x(self._slider.value() / 100)
        painter.setPen(colour_of("text_secondary"))
        painter.drawLine(QPointF(x, self._y(1.0)), QPointF(x, self._y(0.0)))
        set_colours(painter, "text_muted", edge="surface", width=LINE)
        painter.drawEllipse(QPointF(x, self._y(self._curve.coverage(point))), GRIP, GRIP)
        if point.named:
            painter.setBrush(colour_of("accent_text"))
            painter.drawEllipse(QPointF(x, self._y(point.precision)), GRIP, GRIP)

    def _paint_ends(self, painter: QPainter) -> None:
        painter.setFont(font_of("caption"))
        painter.setPen(colour_of("text_muted"))
        room = QRectF(HANDLE_INSET, PLOT_HEIGHT, self.width() - 2 * HANDLE_INSET, self._footer)
        for value, side in (
            (self._slider.minimum(), Qt.AlignmentFlag.AlignLeft),
            (self._slider.maximum(), Qt.AlignmentFlag.AlignRight),
        ):
            painter.drawText(room, side | Qt.AlignmentFlag.AlignBottom, percent(value / 100))

    @property
    def _point(self) -> PolicyPoint:
        return self._curve.at(self._slider.value() / 100)

    def _x(self, bar: float) -> float:
        low, high = self._slider.minimum() / 100, self._slider.maximum() / 100
        return HANDLE_INSET + (bar - low) / (high - low) * (self.width() - 2 * HANDLE_INSET)

    def _y(self, share: float) -> float:
        rim = GRIP + 1
        return rim + (1 - share) * (PLOT_HEIGHT - 2 * rim)


LOWEST_BAR = 30
HIGHEST_BAR = 99
SETTLE_MS = 400


@final
class BarSection(QObject):
    """The minimum confidence of one class, and whether classes below or above it are predicted."""

    def __init__(
        self, page: Page, facts: ClassPageFacts, requests: PageRequests, *, is_writable: bool
    ) -> None:
        super().__init__(page)
        self._facts = facts
        self._requests = requests
        self._slider = QSlider(Qt.Orientation.Horizontal)
        keep_as_drawn(self._slider)  # it is the axis of the chart
        self._slider.setRange(LOWEST_BAR, HIGHEST_BAR)
        self._slider.setValue(round(100 * facts.bar))
        self._slider.setEnabled(is_writable)
        self._slider.setAccessibleName(tr("Minimum confidence"))
        self._settle = QTimer(self, singleShot=True, interval=SETTLE_MS)
        self._settle.timeout.connect(self._request_chosen)
        self._value = make_label(
            bar_value_text(facts.bar, is_inherited=facts.own_bar is None), "strong"
        )
        page.add_section(tr("Minimum confidence"))
        page.add(self._value)
        if facts.curve is not None:
            page.add(self._make_key())
            page.add(BarChart(facts.curve, self._slider))
        page.add(self._slider)
        self._caption = page.add_text("", "caption")
        self._describe_effect()
        page.add_text(bar_text(facts), "caption")
        if facts.own_bar is not None and is_writable:
            page.add_button(
                make_button(tr("Inherit again"), lambda: self._request_bar(None), variant="flat")
            )
        for box in self._limits(is_writable=is_writable):
            page.add(box)
        self._slider.valueChanged.connect(self._on_slider_moved)
        self._slider.sliderReleased.connect(self._settle.start)

    def _make_key(self) -> QWidget:
        predicted, correct = tr("— predicted"), tr("— correct")
        return make_row(make_label(predicted, "muted"), make_label(correct, "accent"), None)

    def _limits(self, *, is_writable: bool) -> Iterator[QCheckBox]:
        """Check boxes of the limits: predict nothing below this class, nothing above it."""
        facts, requests = self._facts, self._requests
        for text, tip, is_on, requested in (
            (
                tr("Don't predict subclasses"),
                tr("No image is predicted as a class below this one."),
                facts.attributes.is_deepest,
                requests.deepest_requested,
            ),
            (
                tr("Don't predict broader classes"),
                tr("No image is predicted as a class above this one."),
                facts.attributes.is_broadest,
                requests.broadest_requested,
            ),
        ):
            box = QCheckBox(text)
            box.setAccessibleName(text)
            box.setToolTip(plain_tip(tip))
            box.setChecked(is_on)
            box.setEnabled(is_writable)
            box.toggled.connect(partial(requested.emit, facts.class_id))
            yield box

    @property
    def is_in_hand(self) -> bool:
        """Whether a value is being chosen that was not requested yet."""
        return self._slider.isSliderDown() or self._settle.isActive()

    def settle(self) -> None:
        """Request a pending value before the page is closed."""
        if self._settle.isActive():
            self._settle.stop()
            self._request_chosen()

    def _request_chosen(self) -> None:
        self._request_bar(self._slider.value() / 100)

    def _request_bar(self, bar: float | None) -> None:
        self._requests.bar_requested.emit(self._facts.class_id, bar)

    def _on_slider_moved(self, value: int) -> None:
        self._value.setText(bar_value_text(value / 100, is_inherited=False))
        self._describe_effect()
        if not self._slider.isSliderDown():  # no request in the middle of a drag
            self._settle.start()

    def _describe_effect(self) -> None:
        if self._facts.curve is not None:
            self._caption.show_text(curve_text(self._facts.curve, self._slider.value() / 100))
