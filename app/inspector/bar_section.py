"""The confidence that a class needs: a slider, what it would do on images that were held out, and where to stop."""

from typing import Final, final

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QSlider, QWidget

from app.controls import make_button, make_label
from app.inspector.bar_chart import BarChart
from app.inspector.logic import ClassPageFacts
from app.inspector.page import Page
from app.inspector.wording import bar_text, bar_value_text, curve_text
from app.signal_types import either
from app.texts import tr
from app.theme.tokens import tokens

LOWEST_BAR: Final = 30
HIGHEST_BAR: Final = 99
SETTLE_MS: Final = 400


@final
class BarSection(QObject):
    """The confidence needed of one class, at the foot of its page."""

    bar_requested = Signal(either(float | None))  # confidence needed in 0..1, or None to inherit it
    deepest_requested = Signal(bool)

    def __init__(self, page: Page, facts: ClassPageFacts, *, is_writable: bool) -> None:
        super().__init__(page)
        self._facts = facts
        self._slider = QSlider(Qt.Orientation.Horizontal)
        self._slider.setRange(LOWEST_BAR, HIGHEST_BAR)
        self._slider.setValue(round(100 * facts.bar))
        self._slider.setEnabled(is_writable)
        self._slider.setAccessibleName(tr("Confidence needed"))
        self._settle = QTimer(self, singleShot=True, interval=SETTLE_MS)
        self._settle.timeout.connect(self._request_bar)
        self._value = make_label(bar_value_text(facts.bar, is_inherited=facts.own_bar is None), "strong")
        page.add_section(tr("Confidence needed"))
        page.add(self._make_key())
        if facts.curve is not None:
            page.add(BarChart(facts.curve, self._slider))
        page.add(self._slider)
        self._caption = page.add_text("", "caption")
        self._say_what_it_does()
        page.add_text(bar_text(facts), "caption")
        if facts.own_bar is not None and is_writable:
            page.add_button(make_button(tr("Inherit again"), lambda: self.bar_requested.emit(None), variant="flat"))
        page.add(self._make_deepest(is_writable=is_writable))
        self._slider.valueChanged.connect(self._on_slider_moved)
        self._slider.sliderReleased.connect(self._settle.start)

    def _make_key(self) -> QWidget:
        key = QWidget()
        row = QHBoxLayout(key)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(tokens().spacing.small)
        if self._facts.curve is not None:
            row.addWidget(make_label(tr("— named"), "muted"))
            row.addWidget(make_label(tr("— right"), "accent"))
        row.addStretch(1)
        row.addWidget(self._value)
        return key

    def _make_deepest(self, *, is_writable: bool) -> QCheckBox:
        deepest = QCheckBox(tr("Stop at this class"))
        deepest.setAccessibleName(deepest.text())
        deepest.setToolTip(tr("No image is predicted as a class below this one."))
        deepest.setChecked(self._facts.attributes.is_deepest)
        deepest.setEnabled(is_writable)
        deepest.toggled.connect(self.deepest_requested)
        return deepest

    @property
    def is_in_hand(self) -> bool:
        """Whether a person is still choosing the confidence: it was not asked for yet."""
        return self._slider.isSliderDown() or self._settle.isActive()

    def settle(self) -> None:
        """Ask for the confidence that was chosen last, before the page goes away."""
        if self._settle.isActive():
            self._settle.stop()
            self._request_bar()

    def _request_bar(self) -> None:
        self.bar_requested.emit(self._slider.value() / 100)

    def _on_slider_moved(self, value: int) -> None:
        self._value.setText(bar_value_text(value / 100, is_inherited=False))
        self._say_what_it_does()
        if not self._slider.isSliderDown():  # nothing is settled in the middle of a drag
            self._settle.start()

    def _say_what_it_does(self) -> None:
        if self._facts.curve is not None:
            self._caption.show_text(curve_text(self._facts.curve, self._slider.value() / 100))
