"""The bar below the grid while several images are selected: accept, label or unlabel all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, final

import numpy as np
from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QCheckBox, QSpinBox, QToolButton, QWidget

from app.controls import (
    ElidedLabel,
    dress_number_box,
    fill_column,
    fill_row,
    make_button,
    make_icon_button,
    make_label,
    make_separator,
)
from app.key_names import ENTER_KEYS
from app.settings import ACCEPT_ABOVE_LEAST, ACCEPT_ABOVE_MOST, Settings
from app.texts import plural, tr
from app.theme.tokens import tokens
from app.wording import in_sentences, number, percent_sign, seen_text
from engine.arrays import Integers, no_integers
from engine.collection.state import NO_CLASS, CollectionState, ImageStatus
from engine.everyday.scores import with_error_odds

if TYPE_CHECKING:
    from app.session import Session
    from engine.everyday.unseen import ClassesSeen
    from engine.graph.category_graph import CategoryGraph


def selected_text(count: int) -> str:
    return plural(count, "1 selected", "{n} selected")


def errors_tip(*, is_audited: bool) -> str:
    """Tooltip: how the number of errors is estimated."""
    if is_audited:
        return tr("By the probabilities of these predictions and the images checked at random")
    return tr("The sum of the probabilities of error of these predictions")


def errors_text(expected: float) -> str:
    """`about 5 errors`; at least `fewer than 1 error`."""
    return (
        plural(round(expected), "about 1 error", "about {n} errors")
        if expected >= 1
        else tr("fewer than 1 error")
    )


_FIELD_WIDTH = 62  # two digits, a space in some languages, and the percent sign
_DONE_KEYS = ENTER_KEYS | {Qt.Key.Key_Escape}


@final
class ThresholdBox(QWidget):
    """`- 80% +`: clicked, typed, or stepped with arrow keys and wheel."""

    changed = Signal(int)  # threshold in percent
    left = Signal()  # Enter or Esc

    def __init__(self, percent: int) -> None:
        super().__init__()
        self._field = dress_number_box(QSpinBox())
        self._field.setRange(ACCEPT_ABOVE_LEAST, ACCEPT_ABOVE_MOST)
        self._field.setSuffix(percent_sign())
        self._field.setValue(percent)
        self._field.setFixedWidth(_FIELD_WIDTH)
        self._field.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._field.setAccessibleName(tr("Accept predictions above"))
        self._field.valueChanged.connect(self.changed)
        self._field.installEventFilter(self)
        lower = self._make_step("minus", tr("Lower: accept more images"), -1)
        higher = self._make_step("plus", tr("Higher: fewer errors"), 1)
        self._steps = (lower, higher)
        fill_row(self, lower, self._field, higher, spacing=tokens().spacing.hair)

    def _make_step(self, icon_name: str, tip: str, step: int) -> QToolButton:
        button = make_icon_button(icon_name, tip, lambda: self._field.stepBy(step))
        button.setAutoRepeat(True)
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        return button

    @property
    def percent(self) -> int:
        return self._field.value()

    def wanted_width(self, *, is_slim: bool) -> int:
        steps = sum(button.sizeHint().width() + tokens().spacing.hair for button in self._steps)
        return _FIELD_WIDTH + (0 if is_slim else steps)

    def set_slim(self, is_slim: bool) -> None:
        for button in self._steps:
            button.setVisible(not is_slim)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if (
            isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.KeyPress
            and event.key() in _DONE_KEYS
        ):
            self._field.interpretText()
            self.left.emit()
            return True
        return super().eventFilter(watched, event)


class Acceptable(NamedTuple):
    """The effect of accepting predictions."""

    groups: Mapping[int, Sequence[int]]  # images by their new class
    expected_errors: float  # sum of error probabilities, corrected by an audit
    # Images above the threshold that may show none of the classes, accepted or not.
    unknown_count: int
    guess_count: int  # unlabelled images with a prediction of any probability

    @property
    def image_count(self) -> int:
        return sum(map(len, self.groups.values()))


def acceptable(
    state: CollectionState,
    image_ids: Sequence[int],
    threshold: float,
    *,
    with_unknown: bool = False,
) -> Acceptable:
    """Find unlabelled images whose most likely class is more probable than the threshold.

    Args:
        state: predictions and labels.
        image_ids: the selection; order is kept within a class.
        threshold: probability, in [0, 1].
        with_unknown: whether to include images that may show none of the classes.
    """
    places = _places(state, np.array(image_ids, dtype=np.int64))
    scores = state.best_score[places].astype(np.float64)
    is_guess = (state.label_class[places] == NO_CLASS) & (state.best_class[places] != NO_CLASS)
    is_guess &= state.status[places] == ImageStatus.READY
    is_sure = is_guess & (scores > threshold)
    is_unknown = state.is_unknown[places]
    fits = is_sure if with_unknown else is_sure & ~is_unknown
    unknown_count = int(np.count_nonzero(is_sure & is_unknown))
    guess_count = int(np.count_nonzero(is_guess))
    places, scores = places[fits], scores[fits]
    by_class = np.argsort(state.best_class[places], kind="stable")
    class_ids, starts = np.unique(state.best_class[places][by_class], return_index=True)
    parts = np.split(state.image_ids[places][by_class], starts[1:])
    groups = {
        class_id: part.tolist() for class_id, part in zip(class_ids.tolist(), parts, strict=False)
    }
    errors = float((1 - with_error_odds(scores, state.error_odds)).sum())
    return Acceptable(groups, errors, unknown_count, guess_count)


def nothing_sure_text(found: Acceptable, unseen: ClassesSeen | None, graph: CategoryGraph) -> str:
    """The reason why no prediction can be accepted; "" where some can.

    `3 of 505 classes have examples. Nothing here is sure ...`
    """
    if unseen is None or found.image_count or not found.guess_count:
        return ""
    wanted = tr("Nothing here is sure enough yet: label more classes.")
    return in_sentences(seen_text(unseen, graph), wanted)


def labelled_count(state: CollectionState, image_ids: Sequence[int]) -> int:
    places = _places(state, np.array(image_ids, dtype=np.int64))
    return int(np.count_nonzero(state.is_labelled[places]))


def _places(state: CollectionState, image_ids: Integers) -> Integers:
    """Indices of the images that are in the state."""
    if not len(state.image_ids):
        return no_integers()
    places = np.minimum(np.searchsorted(state.image_ids, image_ids), len(state.image_ids) - 1)
    return places[state.image_ids[places] == image_ids]


Parts = tuple[QWidget, ...]
Line = tuple[Parts, Parts]  # widgets at the start and at the end of a line
FEWEST = 2  # minimum number of selected images


@final
class SelectionBar(QWidget):
    """`186 selected · Accept 170 above 80% · about 5 errors · Label as… · Remove label · ✕`."""

    action_requested = Signal(str)  # name of an action
    left = Signal()  # the focus returns to the images
    dismissed = Signal()  # reduce the selection to one image

    def __init__(self, session: Session, settings: Settings) -> None:
        super().__init__()
        self._session = session
        self._settings = settings
        self._selected: Sequence[int] = ()
        self._left_out: set[QWidget] = set()
        self._way = -1
        self.setObjectName("selectionBar")
        self.setAccessibleName(tr("Selected images"))
        self.setProperty("surface", "pane")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._count = make_label("", "strong")
        self._accept = make_button("", lambda: self._ask_for("accept"), variant="primary")
        self._above = make_label(tr("above"), "secondary")
        self._threshold = ThresholdBox(settings.accept_above)
        self._errors = ElidedLabel("secondary", takes_rest=False)  # or why nothing can be accepted
        self._include = QCheckBox()
        self._include.setToolTip(tr("Images that may show none of the classes"))
        self._include.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._include.toggled.connect(self._look)
        self._label = make_button(tr("Label as…"), lambda: self._ask_for("relabel"), variant="flat")
        self._unlabel = make_button(
            tr("Remove label"), lambda: self._ask_for("reject"), variant="flat"
        )
        self._close = make_icon_button(
            "close", tr("Select one image only (Esc)"), self.dismissed.emit
        )
        self._rows = [fill_row(None) for _row in range(3)]
        self._line_up()
        self._arrange()
        self._threshold.changed.connect(self._on_threshold_changed)
        self._threshold.left.connect(self.left)
        self._soon = QTimer(self, singleShot=True, interval=0)
        self._soon.timeout.connect(self._look)
        session.state_changed.connect(self._on_state_changed)
        session.current_card.changed.connect(self._soon.start)
        self.hide()

    def _line_up(self) -> None:
        spacing = tokens().spacing
        margins = (spacing.medium, spacing.small, spacing.small, spacing.small)
        inner = fill_column(None, *self._rows, spacing=spacing.tiny, margins=margins)
        fill_column(self, make_separator(), inner, spacing=0)
        for part in (self._accept, self._label, self._unlabel, self._close):
            # A click does not take the focus from the images.
            part.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    @property
    def includes_unknown(self) -> bool:
        return self._include.isVisible() and self._include.isChecked()

    def show_selected(self, image_ids: Sequence[int]) -> None:
        self._selected = image_ids
        self._soon.start()

    def _on_state_changed(self, _state: CollectionState | None) -> None:
        self._soon.start()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Update at the end of a rubber-band selection."""
        if event.type() == QEvent.Type.MouseButtonRelease:
            self._soon.start()
        return super().eventFilter(watched, event)

    def _look(self) -> None:
        # The predictions as cards show them, and as Enter accepts them.
        state, count = (self._session.current_card.state, len(self._selected))
        if QApplication.mouseButtons() and count >= FEWEST and not self.isVisible():
            return  # cards must not move under a rubber band
        if state is None or count < FEWEST:
            self._include.setChecked(False)
            self.hide()
            return
        with_unknown = self._include.isChecked()
        found = acceptable(
            state, self._selected, self._settings.accept_above / 100, with_unknown=with_unknown
        )
        self._count.setText(selected_text(count))
        self._accept.setText(tr("Accept {1}", number(found.image_count)))
        is_any = found.image_count > 0
        reason = nothing_sure_text(found, state.unseen, self._session.graph)
        self._accept.setEnabled(is_any)
        self._accept.setAccessibleDescription(reason)
        tip = "" if reason else errors_tip(is_audited=state.error_odds != 1)
        self._errors.show_text(reason or errors_text(found.expected_errors), tip=tip)
        self._include.setText(
            plural(found.unknown_count, "Include 1 unknown", "Include {n} unknown")
        )
        self._show_part(self._errors, is_shown=is_any or bool(reason))
        self._show_part(self._include, is_shown=found.unknown_count > 0)
        self._show_part(self._unlabel, is_shown=labelled_count(state, self._selected) > 0)
        self._arrange()
        self.show()

    def _show_part(self, part: QWidget, *, is_shown: bool) -> None:
        part.setVisible(is_shown)
        (self._left_out.discard if is_shown else self._left_out.add)(part)

    def _on_threshold_changed(self, percent: int) -> None:
        self._settings.accept_above = percent
        self._soon.start()

    def _ask_for(self, name: str) -> None:
        self.left.emit()
        self.action_requested.emit(name)

    # -- layout: one to three lines, by the width

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self._arrange()

    def _arrange(self) -> None:
        accepting: Parts = (self._accept, self._above, self._threshold, self._errors, self._include)
        labelling: Parts = (self._label, self._unlabel)
        ways: tuple[tuple[Line, ...], ...] = (
            (((self._count, *accepting), (*labelling, self._close)),),
            (((self._count,), (*labelling, self._close)), (accepting, ())),
            (((self._count,), (self._close,)), (accepting, ()), (labelling, ())),
        )
        fitting = (
            number
            for number, way in enumerate(ways)
            if all(self._fits(line, number > 0) for line in way)
        )
        number = next(fitting, len(ways) - 1)
        if number != self._way:
            self._way = number
            self._threshold.set_slim(number > 0)
            self._fill(ways[number])

    def _fits(self, line: Line, is_slim: bool) -> bool:
        spacing = tokens().spacing
        shown = [part for part in (*line[0], *line[1]) if part not in self._left_out]
        widths = [
            part.wanted_width(is_slim=is_slim)
            if isinstance(part, ThresholdBox)
            else part.sizeHint().width()
            for part in shown
        ]
        return sum(widths) + spacing.small * len(shown) + 2 * spacing.medium <= self.width()

    def _fill(self, way: Sequence[Line]) -> None:
        for row in self._rows:
            while row.count():
                row.takeAt(0)
        for row, (first, last) in zip(self._rows, way, strict=False):
            for part in first:
                row.addWidget(part)
            row.addStretch(1)
            for part in last:
                row.addWidget(part)
