"""The inspector's page of one class: shots, parents, bar, candidates."""

from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QSlider, QWidget

from app.controls import make_button, make_label
from app.images.thumbnails import Thumbnails
from app.inspector.image_page import image_strip
from app.inspector.logic import ClassPageFacts, ScoreRow
from app.inspector.page import Page
from app.inspector.rows import ScoreLine
from app.inspector.wording import aliases_text, bar_text, candidates_text, counts_text, teaching_text
from app.wording import percent

if TYPE_CHECKING:
    from engine.collection.state import CollectionState

LOWEST_BAR: Final = 30
HIGHEST_BAR: Final = 99
SETTLE_MS: Final = 400
SHOTS_SHOWN: Final = 12


@final
class ClassPage(Page):
    """Everything about one class.

    Signals:
        bar_requested: new bar in 0..1, or None to take it over from above.
        deepest_requested: whether to stop at this class.
        parent_requested: parent to link.
        class_requested: show this class.
        image_requested: show this image in the grid.
        candidate_accepted: label this image as the class.
    """

    bar_requested = Signal(object)
    deepest_requested = Signal(bool)
    parent_requested = Signal(int)
    class_requested = Signal(int)
    image_requested = Signal(int)
    candidate_accepted = Signal(int)

    def __init__(
        self, facts: ClassPageFacts, state: "CollectionState", thumbnails: Thumbnails, *, is_writable: bool
    ) -> None:
        super().__init__()
        self._facts = facts
        self._state = state
        self._thumbnails = thumbnails
        self._is_writable = is_writable
        self.add(make_label(facts.name, "heading", wraps=True))
        for place in facts.places:
            self.add_text(self.tr("under %1").replace("%1", place) if place else "", "caption")
        self.add_text(aliases_text(facts), "caption")
        self.add_text(counts_text(facts), "secondary")
        self._add_shots()
        self._add_candidates()
        self._add_parents()
        self._add_bar()
        self.finish()

    def _add_shots(self) -> None:
        facts = self._facts
        self.add_section(self.tr("Shots"))
        if facts.shots:
            strip = image_strip(facts.shots[:SHOTS_SHOWN], self._state, self._thumbnails)
            strip.image_clicked.connect(self.image_requested)
            self.add(strip)
        self.add_text(teaching_text(facts))

    def _add_candidates(self) -> None:
        facts = self._facts
        if not facts.candidates:
            return
        self.add_section(self.tr("Likely images"))
        strip = image_strip(
            facts.candidates,
            self._state,
            self._thumbnails,
            tip=self.tr("Click to label as %1").replace("%1", facts.name),
        )
        strip.image_clicked.connect(self.candidate_accepted if self._is_writable else self.image_requested)
        self.add(strip)
        self.add_text(candidates_text(len(facts.candidates)), "caption")

    def _add_parents(self) -> None:
        facts = self._facts
        if facts.parents:
            self.add_section(self.tr("Parents"))
            for row in facts.parents:
                line = ScoreLine(row)
                line.chosen.connect(self.class_requested)
                self.add(line)
        if facts.suggested and not facts.parents and self._is_writable:
            self.add_section(self.tr("Suggested parents"))
            for row in facts.suggested:
                self._add_suggestion(row)

    def _add_suggestion(self, row: ScoreRow) -> None:
        holder = QWidget()
        layout = QHBoxLayout(holder)
        layout.setContentsMargins(0, 0, 0, 0)
        line = ScoreLine(row, tone="muted")
        line.chosen.connect(self.class_requested)
        layout.addWidget(line, 1)
        class_id = row.class_id
        layout.addWidget(
            make_button(self.tr("Link"), lambda: self.parent_requested.emit(class_id), variant="flat", icon_name="link")
        )
        self.add(holder)

    def _add_bar(self) -> None:
        facts = self._facts
        self.add_section(self.tr("Bar"))
        self._slider = QSlider(Qt.Orientation.Horizontal)
        self._slider.setRange(LOWEST_BAR, HIGHEST_BAR)
        self._slider.setValue(round(100 * facts.bar))
        self._slider.setEnabled(self._is_writable)
        self._slider.setAccessibleName(self.tr("Bar"))
        self._settle = QTimer(self, singleShot=True, interval=SETTLE_MS)
        self._settle.timeout.connect(lambda: self.bar_requested.emit(self._slider.value() / 100))
        self._value = make_label(percent(facts.bar), "strong")
        self._slider.valueChanged.connect(self._on_slider_moved)
        row = QWidget()
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._slider, 1)
        layout.addWidget(self._value)
        self.add(row)
        self.add_text(bar_text(facts), "caption")
        if facts.own_bar is not None and self._is_writable:
            self.add(make_button(self.tr("Inherit from above"), lambda: self.bar_requested.emit(None), variant="flat"))
        self._deepest = QCheckBox(self.tr("Never predict a class below this one"))
        self._deepest.setChecked(facts.is_deepest)
        self._deepest.setEnabled(self._is_writable)
        self._deepest.toggled.connect(self.deepest_requested)
        self.add(self._deepest)

    def _on_slider_moved(self, value: int) -> None:
        self._value.setText(percent(value / 100))
        self._settle.start()
