"""View of the "Performance" panel: device, learning from unlabelled images, recommendations."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import zip_longest
from typing import final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QRadioButton,
    QSizePolicy,
    QWidget,
)

from app.computing.logic import CollectionFacts, Survey, is_choosable, listed_devices
from app.computing.wording import collection_line, device_facts, device_title, survey_note
from app.controls import (
    fill_column,
    fill_row,
    make_button,
    make_flowing_label,
    make_hint,
    make_label,
    make_notice_column,
    make_separator,
)
from app.palette.overlay import ScrollingCard
from app.texts import breakable, plain_button, tr
from app.theme.tokens import tokens
from app.wording import sentence
from engine.runtime.devices.facts import AUTO

WIDTH = 520
MOST_RECOMMENDED = 2  # number of rows


@final
class RecommendationRow(QFrame):
    """Text of a recommendation and a button for its action."""

    def __init__(self, on_click: Callable[[], None]) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self._text = make_flowing_label("")
        self.button = make_button("", on_click, variant="flat")
        spacing = tokens().spacing
        row = fill_row(self, self._text, self.button)
        row.setContentsMargins(spacing.medium, spacing.small, spacing.small, spacing.small)
        row.setStretch(0, 1)

    def show_words(self, text: str, action: str) -> None:
        self._text.setText(text)
        self.button.setText(plain_button(action))
        self.button.setAccessibleDescription(text)

    @property
    def text(self) -> str:
        return "" if self.isHidden() else self._text.text()


@final
class ComputingPanel(ScrollingCard):
    """Card over the window; Esc or a click outside closes it."""

    device_chosen = Signal(str)  # short name of the device
    look_requested = Signal()
    collection_switched = Signal(bool)
    recommendation_taken = Signal(int)  # index of the row

    def __init__(self, host: QWidget) -> None:
        super().__init__(host, WIDTH, tr("Performance"))
        self._chosen = AUTO
        self.buttons = {device: QRadioButton(device_title(device)) for device in listed_devices()}
        self._facts = {device: _below("") for device in self.buttons}
        self.notice = QFrame()
        self._notice_text = make_flowing_label("", "warning")
        make_notice_column(self.notice, "warning").addWidget(self._notice_text)
        self._note = make_flowing_label("", "caption")
        self.look_button = make_button(tr("Check again"), self.look_requested.emit, variant="flat")
        self.switch = QCheckBox(tr("Learn from unlabelled images too"))
        self._line = _below("")
        self.recommendations = tuple(
            RecommendationRow(partial(self.recommendation_taken.emit, place))
            for place in range(MOST_RECOMMENDED)
        )
        self._collection = self._make_collection()
        self._fill_body()
        self.switch.clicked.connect(self.collection_switched)
        self.show_device(AUTO)
        self.show_survey(None)
        self.show_notice("")
        self.show_collection(None, can_switch=False)
        self.show_recommendations(())

    def _fill_body(self) -> None:
        spacing = tokens().spacing
        column = fill_column(self.body, self.notice, make_label(tr("Device"), "section"))
        column.setContentsMargins(spacing.large, spacing.small, spacing.large, spacing.small)
        group = QButtonGroup(self)
        for device, button in self.buttons.items():
            group.addButton(button)
            button.toggled.connect(
                lambda is_on, device=device: self._on_toggled(device, is_on=is_on)
            )
            column.addWidget(button)
            column.addWidget(self._facts[device])
        footer = QHBoxLayout()
        footer.addWidget(self._note, 1)
        footer.addWidget(self.look_button, 0, Qt.AlignmentFlag.AlignTop)
        column.addLayout(footer)
        column.addWidget(self._collection)
        column.addStretch(1)

    def _make_collection(self) -> QWidget:
        part = QWidget()
        hint = _below(
            tr("Unlabelled images, and images labelled with a broader class, refine the model.")
        )
        section = make_label(tr("Learning"), "section")
        fill_column(
            part, make_separator(), section, self.switch, hint, self._line, *self.recommendations
        )
        return part

    def show_device(self, device: str) -> None:
        self._chosen = device
        self.buttons[device].setChecked(True)

    def show_survey(
        self, survey: Survey | None, *, error: str = "", is_looking: bool = False
    ) -> None:
        """Show the devices; those that do not work are disabled, with the reason."""
        for device, button in self.buttons.items():
            facts = device_facts(device, survey)
            button.setText(device_title(device, survey))
            button.setEnabled(device == self._chosen or is_choosable(device, survey))
            button.setAccessibleDescription(facts)
            self._facts[device].setText(breakable(facts))
            self._facts[device].setVisible(bool(facts))
        self._note.setText(survey_note(survey, error, is_looking=is_looking))
        self.look_button.setVisible(not is_looking)
        self._settle()

    def show_notice(self, notice: str) -> None:
        self._notice_text.setText(breakable(sentence(notice)))
        self.notice.setVisible(bool(notice))
        self._settle()

    def show_collection(self, facts: CollectionFacts | None, *, can_switch: bool) -> None:
        """Show the project's setting and its evaluation; hidden without a project."""
        self._collection.setVisible(facts is not None)
        if facts is not None:
            self.switch.setChecked(facts.is_on)
            self.switch.setEnabled(can_switch)
            self._line.setText(collection_line(facts))
            self.switch.setAccessibleDescription(self._line.text())
        self._settle()

    def show_recommendations(self, recommendations: Sequence[tuple[str, str]]) -> None:
        """Show recommendations as pairs of text and button label."""
        for row, words in zip_longest(self.recommendations, recommendations):
            row.setVisible(words is not None)
            if words is not None:
                row.show_words(*words)
        self._settle()

    def facts_of(self, device: str) -> str:
        return self.buttons[device].accessibleDescription()

    @property
    def note(self) -> str:
        return self._note.text()

    @property
    def collection_line(self) -> str:
        return "" if self._collection.isHidden() else self._line.text()

    def _on_toggled(self, device: str, *, is_on: bool) -> None:
        if is_on and device != self._chosen:
            self._chosen = device
            self.device_chosen.emit(device)


def _below(text: str) -> QLabel:
    """Hint with no more height than its text needs at the given width."""
    label = make_hint(text)
    policy = label.sizePolicy()
    policy.setVerticalPolicy(QSizePolicy.Policy.Preferred)
    label.setSizePolicy(policy)
    return label
