"""The inspector: the page of the current image or class, updated in one step with the card."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtWidgets import QScrollArea, QStackedWidget, QWidget

from app.actions.keys import keys_in_use
from app.controls import fill_column, make_label, make_scroll_area
from app.images.thumbnails import Thumbnails
from app.inspector.about_file import FileFacts, ask_file
from app.inspector.class_page import ClassPage
from app.inspector.image_page import ImagePage
from app.inspector.logic import (
    ClassPageFacts,
    ImageFacts,
    class_meant,
    class_page_facts,
    digit_classes,
    image_facts,
    label_shown,
    unlabelled_of,
)
from app.inspector.page import PageRequests
from app.settings import Settings
from app.texts import tr
from app.theme.tokens import tokens
from engine.file_parts import ImageSource
from engine.graph.edits import AttributesChanged
from engine.project.camera_clocks import CLOCKS_SETTING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from app.session import Session
    from engine.collection.answers import ClassFacts
    from engine.collection.live import LiveCollection
    from engine.collection.state import CollectionState
    from engine.evaluation.policy_curve import PolicyCurve
    from engine.everyday.classifier import ScoredClass
    from engine.project import Change, Label

TOPIC = "inspector"
PICTURES_AHEAD = 3
ASK_DELAY_MS = 40
ABOUT_DELAY_MS = 60  # images that are passed quickly are not queried


@final
class Inspector(QWidget):
    """Shows one image, one class, or nothing."""

    def __init__(self, session: Session, thumbnails: Thumbnails, settings: Settings) -> None:
        super().__init__()
        self.requests = PageRequests(self)
        self._session = session
        self._thumbnails, self._settings = thumbnails, settings
        self._has_picture = True  # else the large image is visible next to it
        # Ids of the selected images.
        self.chosen_ids: Callable[[], Sequence[int]] = tuple
        self._image_id: int | None = None
        self._class_id: int | None = None
        self._asked_id: int | None = None  # class of the pending query
        self._is_outdated = False  # whether the class changed since the query
        self.image_facts: ImageFacts | None = None
        self.class_facts: ClassPageFacts | None = None
        self.setProperty("surface", "pane")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._is_rewritten = False  # whether attributes changed since the page was made
        self._chosen_in: object = None  # state of the project when the image was chosen
        self._is_complete = False  # whether all facts of the image are shown
        self._image_page: ImagePage | None = None
        self._scroll, self._image_scroll = make_scroll_area(), make_scroll_area()
        self._pages = QStackedWidget()
        for area in (self._scroll, self._image_scroll):
            # A page may have no other tab stop; a click does not take the focus from the grid.
            area.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            self._pages.addWidget(area)
        fill_column(self, self._pages)
        self._ask_timer = QTimer(self, singleShot=True, interval=ASK_DELAY_MS)
        self._ask_timer.timeout.connect(self._ask)
        self._about_id: int | None = None  # image whose file information is shown
        self._about_timer = QTimer(self, singleShot=True, interval=ABOUT_DELAY_MS)
        self._about_timer.timeout.connect(self._ask_about)
        session.state_changed.connect(self._on_state_changed)
        session.change_made.connect(self._on_change_made)
        session.guesses.arrived.connect(self._on_guesses_arrived)
        session.current_card.changed.connect(self._show_known)
        keys_in_use().changed.connect(self._show_known)
        session.closed.connect(self.clear)
        self.requests.part_opened.connect(lambda part: _scroll_to(part, self._pages))
        for saved in (
            self.requests.bar_requested,
            self.requests.attributes_changed,
            self.requests.colour_chosen,
        ):
            saved.connect(self._on_saved)
        self.clear()

    def show_image(self, image_id: int) -> None:
        """Show an image: known facts at once, the rest when it arrives."""
        self._ask_timer.stop()
        self._image_id, self._class_id, self._chosen_in = image_id, None, self._session.state
        self._show_known()

    def show_class(self, class_id: int) -> None:
        self._image_id, self._class_id = None, class_id
        self._ask_soon()

    def show_picture(self, *, is_wanted: bool) -> None:
        """Show or hide the picture, which is not needed next to the large image."""
        self._has_picture = is_wanted
        if self._image_page is not None:
            self._image_page.picture.setVisible(is_wanted)

    @property
    def is_for_class(self) -> bool:
        return self._class_id is not None

    def clear(self) -> None:
        self._image_id = self._class_id = self._about_id = self._chosen_in = None
        self._forget_question()
        self.image_facts = self.class_facts = None
        hint = make_label(
            tr("Select an image or a class to see what is known about it."), "muted", wraps=True
        )
        hint.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        space = tokens().spacing.large
        hint.setContentsMargins(space, 2 * space, space, space)
        self._put(hint)

    def is_waiting_for(self, image_id: int) -> bool:
        return self._image_id == image_id and not self._is_complete

    def top_classes_of(self, image_id: int) -> tuple[int, ...]:
        """Classes of the digit keys that a key pressed now refers to; empty for another image."""
        facts, meant = self.image_facts, self._session.current_card.meant(image_id)
        if facts is None or facts.image_id != image_id or meant is None:
            return ()
        return digit_classes(self._session.graph, meant)

    def _label_shown(self, state: CollectionState, image_id: int) -> Label | None:
        guess = self._session.guesses.of(image_id)
        known = None if guess is None else guess.label
        return label_shown(state, image_id, known, is_unsaved=self._session.is_unsaved(image_id))

    def _show_known(self) -> None:
        """Show the known facts of the image, consistent with its card."""
        current_card, image_id = self._session.current_card, self._image_id
        state = current_card.state
        if state is None or image_id is None:
            return
        ranking = current_card.ranking(image_id)
        if ranking is None:  # it was removed
            self.clear()
            return
        label = self._label_shown(state, image_id)
        self._is_complete = ranking.is_complete and (label is None or bool(label.who))
        self.class_facts = None
        self.image_facts = image_facts(
            self._session.graph,
            state,
            image_id,
            label=label,
            tops=ranking.tops,
            explanation=ranking.explanation,
        )
        if self._image_page is None:
            self._image_page = self._make_image_page()
        self._image_page.show_facts(
            self.image_facts,
            self._session.graph,
            state,
            chosen_ids=self.chosen_ids(),
            has_news=current_card.frozen.has_news,
            is_writable=self._session.is_writable,
        )
        if image_id != self._about_id:
            self._about_id = None
            self._about_timer.start()
        coming = self._session.guesses.next_ids(PICTURES_AHEAD)
        self._image_page.prepare(
            [source for each in coming if (source := self._source_of(each)) is not None]
        )
        if self._pages.currentWidget() is not self._image_scroll:
            self._pages.setCurrentWidget(self._image_scroll)

    def _source_of(self, image_id: int) -> ImageSource | None:
        state = self._session.state
        return None if state is None else state.visible_source_of(image_id)

    def _make_image_page(self) -> ImagePage:
        page = ImagePage(self._thumbnails, self.requests, self._settings)
        page.picture.setVisible(self._has_picture)
        page.row_chosen.connect(self._on_row_chosen)
        page.news_requested.connect(self._session.current_card.take_over)
        self._image_scroll.setWidget(page)
        return page

    def follow_choice(self) -> None:
        """Show the fields of the images that are selected now."""
        state = self._session.current_card.state
        if self._image_page is not None and self._image_id is not None and state is not None:
            self._image_page.show_fields(
                self.chosen_ids(), state, is_writable=self._session.is_writable
            )

    def edit_comment(self) -> None:
        """Edit the comment of the displayed image."""
        if self._image_page is not None and self._image_id is not None:
            self._image_scroll.ensureWidgetVisible(self._image_page.notes)
            self._image_page.notes.edit()

    def read_file_again(self) -> None:
        """Read the file information again: more of it is available."""
        if self._image_id is not None:
            self._about_timer.start()

    def _ask_about(self) -> None:
        image_id = self._image_id
        if image_id is not None and self._session.state is not None:
            self._session.ask(
                lambda live: ask_file(live, image_id),
                lambda facts: self._on_file_known(image_id, facts),
                owner=self,
                topic="about file",
            )

    def _on_file_known(self, image_id: int, facts: FileFacts | None) -> None:
        if image_id == self._image_id and self._image_page is not None:
            self._about_id = image_id
            self._image_page.about.show_facts(facts)

    def _on_row_chosen(self, class_id: int) -> None:
        """Label as the class of a row; just after a change, as the row shown before it."""
        image_id, facts = self._image_id, self.image_facts
        meant = None if image_id is None else self._session.current_card.meant(image_id)
        if image_id is not None and facts is not None and meant is not None:
            class_id = class_meant(self._session.graph, facts, meant, class_id)
            self.requests.label_requested.emit(image_id, class_id)

    def _on_state_changed(self, state: object) -> None:
        # Else the grid, which is updated first, has just shown the image.
        if self._chosen_in is not state:
            self._show_known()
        if self._class_id is not None:
            self._ask_soon()

    def _on_change_made(self, change: Change) -> None:
        """Rebuild the page after changed attributes: its fields may still contain undone edits."""
        if any(isinstance(edit, AttributesChanged) for edit in change.graph_edits):
            self._is_rewritten = True
        if CLOCKS_SETTING in change.settings:
            self.read_file_again()

    def _on_guesses_arrived(self) -> None:
        if not self._is_complete:
            self._show_known()

    def _ask_soon(self) -> None:
        """Query the class after a delay, which further state changes do not extend."""
        if not self._ask_timer.isActive():
            self._ask_timer.start()

    def _ask(self) -> None:
        """Query the class; while a query of it is pending, repeat it after the answer."""
        class_id = self._class_id
        if self._session.state is None or class_id is None:
            return
        self._is_outdated = class_id == self._asked_id
        if not self._is_outdated:
            self._asked_id = class_id
            self._session.ask(
                lambda live: _ask_class(live, class_id),
                lambda answer: self._on_class_answer(class_id, answer),
                owner=self,
                topic=TOPIC,
                on_failure=self._forget_question,
            )

    def _forget_question(self) -> None:
        self._asked_id, self._is_outdated = None, False

    def _on_class_answer(self, class_id: int, answer: ClassAnswer | None) -> None:
        if self._is_outdated:
            self._ask_soon()
        self._forget_question()
        state, info = self._session.state, self._session.info
        is_gone = class_id != self._class_id or class_id not in self._session.graph
        if state is None or info is None or answer is None or is_gone:
            return
        found, suggested, candidates, curve = answer
        facts = class_page_facts(
            self._session.graph,
            state,
            found,
            suggested=suggested,
            candidates=candidates,
            curve=curve,
        )
        is_shown = facts == self.class_facts and not self._is_rewritten
        if is_shown or self._is_in_hand(class_id):
            # A new page would lose the focus and a slider that is being dragged.
            return
        self.image_facts, self.class_facts, self._is_rewritten = None, facts, False
        page = ClassPage(
            facts,
            state,
            self._thumbnails,
            self.requests,
            self._settings,
            is_writable=info.is_writable,
        )
        page.candidates_accepted.connect(
            lambda image_ids: self._on_candidates_accepted(class_id, image_ids)
        )
        self._put(page)

    def _is_in_hand(self, class_id: int) -> bool:
        page, facts = self._scroll.widget(), self.class_facts
        return (
            isinstance(page, ClassPage)
            and facts is not None
            and facts.class_id == class_id
            and page.is_in_hand
        )

    def _on_saved(self, class_id: int, _value: object) -> None:
        if class_id == self._class_id:
            self._ask_soon()  # changes during the edit were not shown

    def _on_candidates_accepted(self, class_id: int, image_ids: list[int]) -> None:
        state = self._session.state
        if state is None or class_id not in self._session.graph:
            return
        if still_open := unlabelled_of(state, image_ids):
            self.requests.labels_requested.emit(still_open, class_id)

    def stop(self) -> None:
        """Save pending edits before the program ends."""
        page = self._scroll.widget()
        if isinstance(page, ClassPage):
            page.settle()
        if self._image_page is not None:
            self._image_page.notes.editor.finish()
            self._image_page.fields.finish()

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
        alike = (
            each for each in page.findChildren(type(part)) if name and each.accessibleName() == name
        )
        return next(alike, self._scroll)


def _scroll_to(part: QWidget, pages: QStackedWidget) -> None:
    """Scroll a widget into view after the layout, with its top edge visible."""

    def scroll() -> None:
        area = pages.currentWidget()
        page = area.widget() if isinstance(area, QScrollArea) else None
        if not isinstance(area, QScrollArea) or page is None or not page.isAncestorOf(part):
            return
        bar, top = area.verticalScrollBar(), part.mapTo(page, QPoint()).y()
        below = top + part.height() - area.viewport().height()
        bar.setValue(min(top, max(bar.value(), below)))

    QTimer.singleShot(0, part, scroll)


ClassAnswer = tuple["ClassFacts", tuple["ScoredClass", ...], tuple[int, ...], "PolicyCurve | None"]


def _ask_class(live: LiveCollection, class_id: int) -> ClassAnswer | None:
    """Query the facts of a class; on the project thread. None where the class was removed."""
    from engine.collection.graph_suggestions.find import suggested_parents
    from engine.evaluation.policy_curve import curve_of

    if class_id not in live.project.classes.graph:
        return None
    candidates = live.candidates(class_id)
    suggested = suggested_parents(live, class_id)
    return live.class_facts(class_id), suggested, candidates, curve_of(live, class_id)
