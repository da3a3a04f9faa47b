"""The right pane: shows the page of what is chosen; an image's in the same step as the grid's frame."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import Qt, QTimer, Signal, SignalInstance
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from app.controls import make_label, make_scroll_area
from app.images.thumbnails import Thumbnails
from app.inspector.class_page import ClassPage
from app.inspector.image_page import ImagePage
from app.inspector.logic import ClassPageFacts, ImageFacts, class_page_facts, digit_rows, image_facts, label_shown
from app.signal_types import either
from app.texts import tr
from app.theme.tokens import tokens
from engine.collection.state import NO_CLASS
from engine.graph.edits import AttributesChanged

if TYPE_CHECKING:
    from app.session import Session
    from engine.collection.explain import ClassFacts
    from engine.collection.live import LiveCollection
    from engine.collection.policy_curve import PolicyCurve
    from engine.everyday.classifier import ScoredClass
    from engine.project import Change

TOPIC: Final = "inspector"
PICTURES_AHEAD: Final = 3
ASK_DELAY_MS: Final = 40


@final
class Inspector(QWidget):
    """Shows one image, one class, or nothing."""

    label_requested = Signal(int, int)  # image id, class id
    labels_requested = Signal(tuple, int)  # image ids, class id
    unlabel_requested = Signal(int)  # image id
    bar_requested = Signal(int, either(float | None))  # class id, bar in 0..1 or None
    deepest_requested = Signal(int, bool)  # class id, whether to stop there
    parent_requested = Signal(int, int)  # class id, parent to link
    parent_wanted = Signal(int)  # class id that is to get another parent, still to be chosen
    unlink_requested = Signal(int, int)  # class id, parent to take it away from
    attributes_changed = Signal(int, dict)  # class id, other values by attribute
    colour_chosen = Signal(int, str)  # class id, `#rrggbb` or ""
    class_requested = Signal(int)  # show this class
    image_requested = Signal(int)

    def __init__(self, session: Session, thumbnails: Thumbnails, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._thumbnails = thumbnails
        self._image_id: int | None = None
        self._class_id: int | None = None
        self.image_facts: ImageFacts | None = None
        self.class_facts: ClassPageFacts | None = None
        self.setProperty("surface", "pane")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._is_rewritten = False  # whether attributes changed since the page was made
        self._is_complete = False  # whether all is known of the image that is shown
        self._image_page: ImagePage | None = None
        self._scroll, self._image_scroll = make_scroll_area(), make_scroll_area()
        self._pages = QStackedWidget()
        for area in (self._scroll, self._image_scroll):
            # By Tab, for a page may hold nothing else that takes the keyboard; a click leaves it to the grid.
            area.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            self._pages.addWidget(area)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._pages)
        self._ask_timer = QTimer(self, singleShot=True, interval=ASK_DELAY_MS)
        self._ask_timer.timeout.connect(self._ask)
        session.state_changed.connect(self._on_state_changed)
        session.change_made.connect(self._on_change_made)
        session.guesses.arrived.connect(self._on_guesses_arrived)
        session.eye.changed.connect(self._on_ranking_changed)
        session.closed.connect(self.clear)
        self.clear()

    def show_image(self, image_id: int) -> None:
        """Show an image: what is known at once, the rest when it arrives."""
        self._ask_timer.stop()
        self._image_id, self._class_id = image_id, None
        self._show_known()

    def show_class(self, class_id: int) -> None:
        self._image_id, self._class_id = None, class_id
        self._ask_timer.start()

    @property
    def is_for_class(self) -> bool:
        return self._class_id is not None

    def clear(self) -> None:
        self._image_id = self._class_id = None
        self.image_facts = self.class_facts = None
        hint = make_label(tr("Select an image or a class to see what is known about it."), "muted", wraps=True)
        hint.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        space = tokens().spacing.large
        hint.setContentsMargins(space, 2 * space, space, space)
        self._put(hint)

    def is_waiting_for(self, image_id: int) -> bool:
        return self._image_id == image_id and not self._is_complete

    def likeliest_of(self, image_id: int) -> tuple[int, ...]:
        """Classes of the digit keys as shown, or as they were within the reaction time; empty for another image."""
        facts, meant = self.image_facts, self._session.eye.meant(image_id)
        if facts is None or facts.image_id != image_id or meant is None:
            return ()
        return tuple(row.class_id for row in digit_rows(self._session.graph, meant.tops, is_unknown=meant.is_unknown))

    # -- an image

    def _show_known(self) -> None:
        """Show what is known of the image, consistent with its card."""
        eye, image_id = self._session.eye, self._image_id
        state = eye.state
        if state is None or image_id is None:
            return
        ranking = eye.ranking(image_id)
        if ranking is None:  # it was removed
            self.clear()
            return
        self._is_complete = ranking.is_complete
        self.class_facts = None
        self.image_facts = image_facts(
            self._session.graph, state, image_id, label=label_shown(state, image_id, ranking.label), tops=ranking.tops,
            explanation=ranking.explanation,
        )  # fmt: skip
        if self._image_page is None:
            self._image_page = self._make_image_page()
        self._image_page.show_facts(self.image_facts, self._session.graph, state, has_news=eye.frozen.has_news)
        coming = self._session.guesses.next_ids(PICTURES_AHEAD)
        self._image_page.prepare([path for each in coming if (path := self._path_of(each)) is not None])
        if self._pages.currentWidget() is not self._image_scroll:
            self._pages.setCurrentWidget(self._image_scroll)

    def _path_of(self, image_id: int) -> Path | None:
        try:
            return None if self._session.state is None else self._session.state.path_of(image_id)
        except KeyError:  # it was removed
            return None

    def _make_image_page(self) -> ImagePage:
        page = ImagePage(self._thumbnails)
        page.label_requested.connect(self._on_row_chosen)
        page.unlabel_requested.connect(lambda: self._with_image(self.unlabel_requested))
        page.class_requested.connect(self.class_requested)
        page.image_requested.connect(self.image_requested)
        page.news_requested.connect(self._session.eye.take_over)
        self._image_scroll.setWidget(page)
        return page

    def _on_row_chosen(self, class_id: int) -> None:
        """A row that changed within the reaction time means its predecessor, as its key does."""
        image_id, facts = self._image_id, self.image_facts
        meant = None if image_id is None else self._session.eye.meant(image_id)
        if image_id is None or facts is None or meant is None:
            return
        shown = [row.class_id for row in facts.rows]
        before = list(self.likeliest_of(image_id))
        if meant.headline != meant.best_class:
            before.insert(0, meant.headline)
        place = shown.index(class_id) if class_id in shown else len(before)
        self.label_requested.emit(image_id, before[place] if place < len(before) else class_id)

    def _with_image(self, signal: SignalInstance, *values: int) -> None:
        if self._image_id is not None:
            signal.emit(self._image_id, *values)

    # -- a class

    def _on_state_changed(self, _state: object) -> None:
        if self._image_id is not None:
            self._show_known()
        elif self._class_id is not None:
            self._ask_timer.start()

    def _on_change_made(self, change: Change) -> None:
        """Rebuild the page: undone edits may still stand in its fields, and the facts would not differ."""
        if any(isinstance(edit, AttributesChanged) for edit in change.graph_edits):
            self._is_rewritten = True

    def _on_guesses_arrived(self) -> None:
        if not self._is_complete and self._image_id is not None:
            self._show_known()

    def _on_ranking_changed(self) -> None:
        if self._image_id is not None:
            self._show_known()

    def _ask(self) -> None:
        class_id = self._class_id
        if self._session.state is not None and class_id is not None:
            self._session.ask(
                lambda live: _ask_class(live, class_id),
                lambda answer: self._on_class_answer(class_id, answer), owner=self, topic=TOPIC,
            )  # fmt: skip

    def _on_class_answer(self, class_id: int, answer: ClassAnswer | None) -> None:
        state, info = self._session.state, self._session.info
        if state is None or info is None or class_id != self._class_id or answer is None:
            return
        if class_id not in self._session.graph:
            return
        found, suggested, candidates, curve = answer
        facts = class_page_facts(
            self._session.graph, state, found, suggested=suggested, candidates=candidates, curve=curve
        )
        is_shown = facts == self.class_facts and not self._is_rewritten
        if is_shown or self._is_in_hand(class_id):
            return  # a page made anew would lose the keyboard, and a slider in a person's hand
        self.image_facts, self.class_facts, self._is_rewritten = None, facts, False
        page = ClassPage(facts, state, self._thumbnails, is_writable=info.is_writable)
        page.bar_requested.connect(lambda bar: self._on_bar_requested(class_id, bar))
        page.deepest_requested.connect(lambda is_deepest: self.deepest_requested.emit(class_id, is_deepest))
        page.parent_requested.connect(lambda parent: self.parent_requested.emit(class_id, parent))
        page.parent_wanted.connect(lambda: self.parent_wanted.emit(class_id))
        page.unlink_requested.connect(lambda parent: self.unlink_requested.emit(class_id, parent))
        page.candidates_accepted.connect(lambda image_ids: self._on_candidates_accepted(class_id, image_ids))
        page.class_requested.connect(self.class_requested)
        page.image_requested.connect(self.image_requested)
        for written, signal in (
            (page.attributes_changed, self.attributes_changed),
            (page.colour_chosen, self.colour_chosen),
        ):
            written.connect(partial(self._on_written, signal, class_id))
        self._put(page)

    def _is_in_hand(self, class_id: int) -> bool:
        page, facts = self._scroll.widget(), self.class_facts
        return isinstance(page, ClassPage) and facts is not None and facts.class_id == class_id and page.is_in_hand

    def _on_written(self, signal: SignalInstance, class_id: int, value: object) -> None:
        signal.emit(class_id, value)
        if class_id == self._class_id:
            self._ask_timer.start()  # what came while it was in a person's hand was not shown

    def _on_candidates_accepted(self, class_id: int, image_ids: list[int]) -> None:
        state = self._session.state
        if state is None or class_id not in self._session.graph:  # why the page goes away
            return
        label_of = dict(zip(state.image_ids.tolist(), state.label_class.tolist(), strict=True))
        still_open = [image_id for image_id in image_ids if label_of.get(image_id) == NO_CLASS]
        if still_open:
            self.labels_requested.emit(still_open, class_id)

    def _on_bar_requested(self, class_id: int, bar: float | None) -> None:
        self.bar_requested.emit(class_id, bar)
        if class_id == self._class_id:
            self._ask_timer.start()  # what came while it was in a person's hand was not shown

    def stop(self) -> None:
        """Save pending edits before the program ends."""
        page = self._scroll.widget()
        if isinstance(page, ClassPage):
            page.settle()

    def _put(self, widget: QWidget) -> None:
        place, focused = self._scroll.verticalScrollBar().value(), self._scroll.focusWidget()
        has_keyboard = focused is not None and focused.hasFocus()
        before = self._scroll.takeWidget()
        if isinstance(before, ClassPage):
            before.settle()
        is_same_kind = type(widget) is type(before)
        self._scroll.setWidget(widget)
        widget.show()
        if before is not None:
            before.deleteLater()
        self._pages.setCurrentWidget(self._scroll)
        if is_same_kind:
            self._scroll.verticalScrollBar().setValue(place)
        if has_keyboard and focused is not None:
            self._find_alike(widget, focused).setFocus()

    def _find_alike(self, page: QWidget, part: QWidget) -> QWidget:
        """The widget with the same accessible name on the new page; the scroll area without one."""
        name = part.accessibleName()
        alike = (each for each in page.findChildren(type(part)) if name and each.accessibleName() == name)
        return next(alike, self._scroll)


ClassAnswer = tuple["ClassFacts", tuple["ScoredClass", ...], tuple[int, ...], "PolicyCurve | None"]


def _ask_class(live: LiveCollection, class_id: int) -> ClassAnswer | None:
    """On the project thread; None when the class was removed."""
    from engine.collection.graph_suggestions.find import suggested_parents
    from engine.collection.policy_curve import curve_of

    if class_id not in live.project.classes.graph:
        return None
    candidates = live.candidates(class_id)
    suggested = suggested_parents(live, class_id)
    return live.class_facts(class_id), suggested, candidates, curve_of(live, class_id)
