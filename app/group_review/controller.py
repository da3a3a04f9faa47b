"""Review by group: one answer for a screen of similar images."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from functools import partial
from typing import TYPE_CHECKING, ClassVar, final

from PySide6.QtCore import QTimer

from app.actions.row import WRITE, Section, action
from app.feature import PageFeature
from app.group_review.logic import AnswerKind, Review, majority_of
from app.group_review.making import QueueMaker
from app.group_review.shown import cards_of, empty_words, words_of
from app.group_review.view import DIGITS, KEYS, GroupPage
from app.palette.logic import CreateChoice, create_with_labels, label_rows
from app.texts import marked, tr
from app.wording import images
from app.workspace.visits import Describes
from engine.collection.review_groups import ReviewMemory
from engine.collection.state import EMPTY, NO_CLASS, UNKNOWN, CollectionState

if TYPE_CHECKING:
    from app.actions.page_keys import PageKeys
    from app.shell import Shell
    from engine.collection.review_groups import ReviewQueue
    from engine.project import Change

PREPARED_GROUPS = 2  # groups whose thumbnails are loaded ahead
RECENT_KEPT = 8  # named classes listed first in the palette
FEWEST_AHEAD = 20  # number of complete groups below which more are computed


@final
class GroupReview(PageFeature[GroupPage]):
    """Controller of the page and its answers.

    Attributes:
        maker: computes queues.
        review: state of the review.
    """

    guide_page = "labelling#group-by-group"
    page_keys: ClassVar[tuple[PageKeys, ...]] = (KEYS,)

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self.review = Review(ReviewMemory())
        self.maker = QueueMaker(self._session, lambda: self.review.memory, self)
        self.maker.made.connect(self._on_made)
        self.maker.impossible.connect(self._on_impossible)
        self._queue: ReviewQueue | None = None
        self._recent: list[int] = []  # named classes, newest first
        self._is_impossible = False
        session = self._session
        session.state_changed.connect(self._on_state_changed)
        session.fitting_changed.connect(self._on_fitting_changed)
        session.change_made.connect(self._on_change_made)
        session.graph_changed.connect(lambda _edits: self._redraw())
        session.closed.connect(self._on_closed)

    # -- the page

    @action(
        "group_review",
        marked("Review by group"),
        "images",
        "Ctrl+R",
        Section.REVIEW_PAGES,
        needs=WRITE,
    )
    def open(self) -> None:
        page = self.made_page()
        if self.is_page_shown:
            page.setFocus()
            return
        self._is_impossible = False
        self._session.prepare_review_groups(is_wanted=True)
        self._shell.workspace.show_page(
            page, tr("Review by group"), Describes.NOTHING, rests_grid=True
        )
        self.maker.make_soon(is_awaited=True)
        self._redraw()

    def stop(self) -> None:
        self.maker.stop()
        if self.page is not None:
            self.page.stop()

    def make_page(self) -> GroupPage:
        page = GroupPage(self._thumbnails)
        page.acts = {name: partial(self.do, act) for name, act in self._acts(page).items()}
        page.takes_undo = self._takes_undo
        page.undo_requested.connect(self._take_back)
        page.cards.toggled.connect(self._on_toggled)
        return page

    def _acts(self, page: GroupPage) -> Mapping[str, Callable[..., object]]:
        digits = {
            f"class_{digit}": partial(self._label_as_digit, digit) for digit in range(1, DIGITS + 1)
        }
        return {
            "accept": self._accept,
            "accept_coarse": self._accept_coarse,
            "relabel": self._relabel,
            "majority": partial(self._accept, every=True),
            "dismiss": self._dismiss,
            "unknown": partial(self._label, UNKNOWN),
            "empty": partial(self._label, EMPTY),
            "next": self._pass_over,
            "toggle": self._toggle_current,
            "toggle_all": self._toggle_all,
            "look": page.look,
            **digits,
        }

    def leave_page(self) -> None:
        self.maker.forget()
        self.review.leave()
        self._session.prepare_review_groups(is_wanted=False)
        self._shell.workspace.grid.publish_current()

    def _on_closed(self) -> None:
        self.review.leave()
        self.review.decisions.clear()
        self.review.memory = ReviewMemory()
        self._queue = None
        self._recent.clear()

    # -- the queue

    def _on_fitting_changed(self, is_running: bool) -> None:
        if self.is_page_shown and not is_running:
            self.maker.make_soon(is_awaited=self.review.current is None)

    def _on_impossible(self) -> None:
        self._is_impossible = not self._session.is_fitting
        self._redraw()

    def _on_made(self, queue: ReviewQueue) -> None:
        if not self.is_page_shown:
            return
        self._queue, self._is_impossible = queue, False
        had_group = self.review.current is not None
        self.review.take(queue, _decided(self._session.state, self.review))
        self._redraw(is_other_group=not had_group)
        self._look_ahead_soon()

    def _look_ahead_soon(self) -> None:
        QTimer.singleShot(0, self.made_page(), self._look_ahead)  # cancelled if the window closes

    def _look_ahead(self) -> None:
        state, ahead = self._session.state, self.review.ahead
        if not self.is_page_shown or state is None:
            return
        for group in reversed(ahead[:PREPARED_GROUPS]):
            self.made_page().cards.prepare(cards_of(state, self._session.graph, group))
        if self._queue is not None and len(ahead) < FEWEST_AHEAD:
            self.maker.make_more(self._queue)

    # -- external events

    def _on_state_changed(self, _state: CollectionState | None) -> None:
        if self.review.current is None:
            self._redraw()

    def _on_change_made(self, change: Change) -> None:
        review, state = self.review, self._session.state
        if not self.is_page_shown or state is None:
            return
        labels = {each: state.label_of(each) for each in change.labelled if state.has(each)}
        if review.is_taken_back_by(labels, change.excluded if change.kind == "undone" else ()):
            review.take_back()
            self._redraw(is_other_group=True)
            return
        removed = set(change.images_removed)
        branches = review.memory.branches
        gone = {
            i for i, code in labels.items() if code != NO_CLASS and branches.get(i) != code
        } | removed
        if review.drop(gone):
            self._redraw(is_other_group=review.current is None)

    # -- answers

    def do(self, act: Callable[..., object], *given: object) -> None:
        """Perform an action while background computation is paused."""
        with self._shell.undisturbed():
            act(*given)

    def _accept(self, *, every: bool = False) -> None:
        group = self.review.current
        class_id = NO_CLASS if group is None else majority_of(group) if every else group.class_id
        if class_id != NO_CLASS:
            self._label(class_id, every=every)
        elif group is not None:
            self._toast.show_message(
                tr("No class is proposed for these images. Press a digit, or R to name one.")
            )

    def _accept_coarse(self) -> None:
        group = self.review.current
        if group is not None and group.coarse_id == NO_CLASS:
            self._toast.show_message(tr("No broader class is likely for these images."))
        elif group is not None:
            self._label(group.coarse_id)

    def _label_as_digit(self, digit: int) -> None:
        group = self.review.current
        if group is not None and digit <= len(group.tops):
            self._label(group.tops[digit - 1].class_id)
        elif group is not None:
            self._toast.show_message(
                tr(
                    "No class has the key {1} for this group. Press R to name any class.",
                    str(digit),
                )
            )

    def _label(self, code: int, *, every: bool = False) -> None:
        graph = self._session.graph
        if self.review.current is None or (code not in {UNKNOWN, EMPTY} and code not in graph):
            return
        children = graph.children(code) if code in graph else ()
        decision = self.review.label(code, children=children, every=every)
        if decision is None:
            self._toast.show_message(
                tr(
                    "All images of this group are left out. Put some back, or press E for "
                    "the next group."
                )
            )
            return
        ids = decision.image_ids
        if code in graph:
            self._remember(code)
        self._session.label(ids, code, is_bulk=len(ids) > 1, left_out=decision.others)
        self._show_next()

    def _dismiss(self) -> None:
        if self.review.current is None:
            return
        if (decision := self.review.dismiss()) is None:
            self._pass_over()
            return
        self._session.exclude(decision.image_ids, decision.group.class_id)
        self._show_next(makes_queue=True)

    def _pass_over(self) -> None:
        if self.review.pass_over() is not None:
            self._show_next(makes_queue=self.review.current is None)

    def _show_next(self, *, makes_queue: bool = False) -> None:
        """Paint the next group before the next key event."""
        if makes_queue:
            self.maker.make_soon()
        self._redraw(is_other_group=True)
        self.made_page().repaint()
        self._look_ahead_soon()

    # -- undo

    def _takes_undo(self) -> bool:
        """Whether the last answer changed nothing in the project, so the page itself undoes it."""
        decisions = self.review.decisions
        return bool(decisions) and decisions[-1].kind is AnswerKind.PASSED

    def _take_back(self) -> None:
        self.review.take_back()
        self._redraw(is_other_group=True)

    # -- toggling

    def _on_toggled(self, image_id: int) -> None:
        self.review.toggle(image_id)
        self._redraw()

    def _toggle_current(self) -> None:
        current = self.made_page().cards.current_id
        if current is not None:
            self._on_toggled(current)

    def _toggle_all(self) -> None:
        if self.review.current is not None:
            self.review.toggle_all()
            self._redraw()

    # -- the palette

    def _relabel(self) -> None:
        group, ticked, session = self.review.current, self.review.ticked, self._session
        if group is None or not ticked:
            return
        first = [*(top.class_id for top in group.tops), *self._recent]

        def on_choice(choice: object) -> None:
            if not self.is_page_shown or self.review.current is not group:
                return
            if isinstance(choice, int):
                self.made_page().setFocus()
                self.do(self._label, choice)
            elif isinstance(choice, CreateChoice):
                session.act(
                    lambda project: create_with_labels(project, choice, ticked),
                    on_done=self._on_created,
                )

        self._palette.ask(
            tr("Label {1} as: name, part of a name, or Parent/Name", images(len(ticked))),
            lambda text: label_rows(
                session.graph, text, first=first, is_locked=session.marks.is_locked
            ),
            on_choice,
        )

    def _remember(self, class_id: int) -> None:
        others = [known for known in self._recent if known != class_id]
        self._recent = [class_id, *others][:RECENT_KEPT]

    def _on_created(self, change: Change) -> None:
        """Remember the new class; the group is left by `_on_change_made`."""
        self.made_page().setFocus()
        state = self._session.state  # the next fit creates a queue
        if state is not None and change.labelled and state.has(change.labelled[0]):
            self._remember(state.label_of(change.labelled[0]))

    # -- drawing

    def _redraw(self, *, is_other_group: bool = False) -> None:
        if not self.is_page_shown:
            return
        page, state, review = self.made_page(), self._session.state, self.review
        if state is None or review.current is None:
            is_working = self.maker.is_busy or self._session.is_fitting
            page.show_empty(
                empty_words(state, review, is_working=is_working, is_impossible=self._is_impossible)
            )
            return
        words = words_of(state, self._session.graph, review)
        page.show_group(words, is_other_group=is_other_group)


def _decided(state: CollectionState | None, review: Review) -> AbstractSet[int]:
    """Images with a label that no group asks about."""
    if state is None:
        return set()
    is_labelled = state.is_labelled
    codes = zip(
        state.image_ids[is_labelled].tolist(), state.label_class[is_labelled].tolist(), strict=True
    )
    return state.hidden | {
        image_id for image_id, code in codes if review.memory.branches.get(image_id) != code
    }
