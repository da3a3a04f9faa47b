"""Review by group: one answer for a screen of similar images."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from functools import partial
from typing import TYPE_CHECKING, ClassVar, final

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QWidget

from app.actions.row import WRITE, Section, action
from app.feature import Feature
from app.group_review.naming import Naming
from app.group_review.view import DIGITS, KEYS
from app.texts import marked, tr
from app.workspace.visits import Describes
from engine.collection.state import EMPTY, NO_CLASS, UNKNOWN, CollectionState

if TYPE_CHECKING:
    from app.actions.page_keys import PageKeys
    from app.group_review.logic import Review
    from app.group_review.making import QueueMaker
    from app.group_review.view import GroupPage
    from app.shell import Shell
    from engine.collection.review_groups import ReviewQueue
    from engine.project import Change

PREPARED_GROUPS = 2  # groups whose thumbnails are loaded ahead
FEWEST_AHEAD = 20  # number of complete groups below which more are computed


@final
class GroupReview(Feature):
    """Controller of the page and its answers."""

    guide_page = "labelling#group-by-group"
    page_keys: ClassVar[tuple[PageKeys, ...]] = (KEYS,)

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self._page: GroupPage | None = None
        self._maker: QueueMaker | None = None
        self._review: Review | None = None
        self._queue: ReviewQueue | None = None
        self._naming = Naming(self._session, self._palette, self._on_named, self._on_created)
        self._is_impossible = False
        session = self._session
        session.state_changed.connect(self._on_state_changed)
        session.fitting_changed.connect(self._on_fitting_changed)
        session.change_made.connect(self._on_change_made)
        session.graph_changed.connect(lambda _edits: self._redraw())
        session.closed.connect(self._on_closed)
        shell.workspace.page_left.connect(self._on_page_left)

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
        page = self._made_page()
        if self.is_open:
            page.setFocus()
            return
        self._is_impossible = False
        self._session.prepare_review_groups(is_wanted=True)
        self._shell.workspace.show_page(
            page, tr("Review by group"), Describes.NOTHING, rests_grid=True
        )
        assert self._maker is not None, "made with the page"
        self._maker.make_soon(is_awaited=True)
        self._redraw()

    @property
    def is_open(self) -> bool:
        return self._page is not None and self._shell.workspace.page is self._page

    @property
    def page(self) -> GroupPage | None:
        """None before it is first opened."""
        return self._page

    @property
    def maker(self) -> QueueMaker | None:
        """Creates queues; None before the page is first opened."""
        return self._maker

    @property
    def review(self) -> Review | None:
        """State of the review; None before the page is first opened."""
        return self._review

    def stop(self) -> None:
        if self._maker is not None:
            self._maker.stop()
        if self._page is not None:
            self._page.stop()

    def _made_page(self) -> GroupPage:
        if self._page is None:
            from app.group_review.logic import Review
            from app.group_review.making import QueueMaker
            from app.group_review.view import GroupPage
            from engine.collection.review_groups import ReviewMemory

            review = self._review = Review(ReviewMemory())
            self._maker = QueueMaker(self._session, lambda: review.memory, self)
            self._maker.made.connect(self._on_made)
            self._maker.impossible.connect(self._on_impossible)
            page = self._page = GroupPage(self._thumbnails)
            page.acts = {name: partial(self.do, act) for name, act in self._acts().items()}
            page.takes_undo = self._takes_undo
            page.undo_requested.connect(self._take_back)
            page.cards.toggled.connect(self._on_toggled)
            self.link_guide_page(page)
        return self._page

    def _acts(self) -> Mapping[str, Callable[..., object]]:
        page = self._page
        assert page is not None, "it has the keys"
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

    def _on_page_left(self, page: QWidget) -> None:
        if page is self._page and self._review is not None and self._maker is not None:
            self._maker.forget()
            self._review.leave()
            self._session.prepare_review_groups(is_wanted=False)
            self._shell.workspace.grid.publish_current()

    def _on_closed(self) -> None:
        if self._review is not None:
            from engine.collection.review_groups import ReviewMemory

            self._review.leave()
            self._review.decisions.clear()
            self._review.memory = ReviewMemory()
            self._queue = None
            self._naming.forget()

    # -- the queue

    def _on_fitting_changed(self, is_running: bool) -> None:
        if self.is_open and self._maker is not None and self._review is not None and not is_running:
            self._maker.make_soon(is_awaited=self._review.current is None)

    def _on_impossible(self) -> None:
        self._is_impossible = not self._session.is_fitting
        self._redraw()

    def _on_made(self, queue: ReviewQueue) -> None:
        review = self._review
        if not self.is_open or review is None or self._page is None:
            return
        self._queue, self._is_impossible = queue, False
        had_group = review.current is not None
        review.take(queue, _decided(self._session.state, review))
        self._redraw(is_other_group=not had_group)
        QTimer.singleShot(0, self._page, self._look_ahead)  # cancelled if the window closes

    def _look_ahead(self) -> None:
        from app.group_review.shown import cards_of

        review, state = self._review, self._session.state
        if (
            not self.is_open
            or state is None
            or review is None
            or self._page is None
            or self._maker is None
        ):
            return
        for group in reversed(review.ahead[:PREPARED_GROUPS]):
            self._page.cards.prepare(cards_of(state, self._session.graph, group))
        if self._queue is not None and len(review.ahead) < FEWEST_AHEAD:
            self._maker.make_more(self._queue)

    # -- external events

    def _on_state_changed(self, _state: CollectionState | None) -> None:
        if self.is_open and (self._review is None or self._review.current is None):
            self._redraw()

    def _on_change_made(self, change: Change) -> None:
        review, state = self._review, self._session.state
        if not self.is_open or review is None or state is None:
            return
        listed = [image_id for image_id in change.labelled if _is_listed(state, image_id)]
        labels = {image_id: int(state.label_class[state.position(image_id)]) for image_id in listed}
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
        from app.group_review.logic import majority_of

        group = None if self._review is None else self._review.current
        class_id = NO_CLASS if group is None else majority_of(group) if every else group.class_id
        if class_id != NO_CLASS:
            self._label(class_id, every=every)
        elif group is not None:
            self._toast.show_message(
                tr("No class is proposed for these images. Press a digit, or R to name one.")
            )

    def _accept_coarse(self) -> None:
        group = None if self._review is None else self._review.current
        if group is not None and group.coarse_id == NO_CLASS:
            self._toast.show_message(tr("No broader class is likely for these images."))
        elif group is not None:
            self._label(group.coarse_id)

    def _label_as_digit(self, digit: int) -> None:
        group = None if self._review is None else self._review.current
        if group is not None and digit <= len(group.tops):
            self._label(group.tops[digit - 1].class_id)
        elif group is not None:
            self._toast.show_message(
                tr("No class has the key %1 for this group. Press R to name any class.", str(digit))
            )

    def _label(self, code: int, *, every: bool = False) -> None:
        review, graph = self._review, self._session.graph
        if (
            review is None
            or review.current is None
            or (code not in {UNKNOWN, EMPTY} and code not in graph)
        ):
            return
        children = graph.children(code) if code in graph else ()
        decision = review.label(code, children=children, every=every)
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
            self._naming.remember(code)
        self._session.label(ids, code, is_bulk=len(ids) > 1, left_out=decision.others)
        self._show_next()

    def _dismiss(self) -> None:
        review = self._review
        if review is None or review.current is None:
            return
        if (decision := review.dismiss()) is None:
            self._pass_over()
            return
        self._session.exclude(decision.image_ids, decision.group.class_id)
        self._show_next(makes_queue=True)

    def _pass_over(self) -> None:
        if self._review is not None and self._review.pass_over() is not None:
            self._show_next(makes_queue=self._review.current is None)

    def _show_next(self, *, makes_queue: bool = False) -> None:
        """Paint the next group before the next key event."""
        if makes_queue and self._maker is not None:
            self._maker.make_soon()
        self._redraw(is_other_group=True)
        if self._page is not None:
            self._page.show_at_once()
            QTimer.singleShot(0, self._page, self._look_ahead)

    # -- undo

    def _takes_undo(self) -> bool:
        """Whether the last answer changed nothing in the project, so the page itself undoes it."""
        from app.group_review.logic import AnswerKind

        decisions = [] if self._review is None else self._review.decisions
        return bool(decisions) and decisions[-1].kind is AnswerKind.PASSED

    def _take_back(self) -> None:
        if self._review is not None:
            self._review.take_back()
            self._redraw(is_other_group=True)

    # -- toggling

    def _on_toggled(self, image_id: int) -> None:
        if self._review is not None:
            self._review.toggle(image_id)
            self._redraw()

    def _toggle_current(self) -> None:
        current = None if self._page is None else self._page.cards.current_id
        if current is not None:
            self._on_toggled(current)

    def _toggle_all(self) -> None:
        if self._review is not None and self._review.current is not None:
            self._review.toggle_all()
            self._redraw()

    # -- the palette

    def _relabel(self) -> None:
        review, group = self._review, None if self._review is None else self._review.current
        if review is None or group is None or not review.ticked:
            return
        tops = [top.class_id for top in group.tops]
        self._naming.ask(review.ticked, tops, lambda: self.is_open and review.current is group)

    def _on_named(self, class_id: int) -> None:
        if self._page is not None:
            self._page.setFocus()
        self.do(self._label, class_id)

    def _on_created(self, change: Change) -> None:
        """Remember the new class; the group is left by `_on_change_made`."""
        if self._page is not None:
            self._page.setFocus()
        state = self._session.state  # the next fit creates a queue
        if state is not None and change.labelled and _is_listed(state, change.labelled[0]):
            self._naming.remember(int(state.label_class[state.position(change.labelled[0])]))

    # -- drawing

    def _redraw(self, *, is_other_group: bool = False) -> None:
        if not self.is_open or self._page is None or self._review is None:
            return
        from app.group_review.shown import empty_words, words_of

        state, group = self._session.state, self._review.current
        if state is None or group is None:
            is_working = self._maker is not None and (
                self._maker.is_busy or self._session.is_fitting
            )
            reasons = {"is_working": is_working, "is_impossible": self._is_impossible}
            self._page.show_empty(empty_words(state, self._review, **reasons))
            return
        words = words_of(state, self._session.graph, self._review)
        self._page.show_group(words, is_other_group=is_other_group)


def _is_listed(state: CollectionState, image_id: int) -> bool:
    try:
        state.position(image_id)
    except KeyError:
        return False
    return True


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
