"""Labelling actions, images dropped on a class, hints below the images, and texts of review."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject

from app.actions.keys import keys_in_use
from app.palette.logic import CreateChoice, PaletteRow, class_rows, create_choice, create_row
from app.palette.view import Palette
from app.session.subsets import Subset
from app.texts import marked, plural, shortened, tr
from app.wording import images, number, sentence
from engine.collection.state import BOXED, EMPTY, NO_CLASS, UNKNOWN, CollectionState, ImageStatus
from engine.project.actions import action
from engine.project.labels import has_replaced
from engine.texts import paragraph, translated

if TYPE_CHECKING:
    from app.session import Session
    from app.settings import Settings
    from app.status.notice import Notice
    from app.status.toast import Toast
    from app.workspace.folds import CardFolds
    from engine.collection.live import LiveCollection
    from engine.collection.recommendations import Recommendation
    from engine.everyday.unseen import ClassesSeen
    from engine.graph.category_graph import CategoryGraph
    from engine.project import Change, Project


_WITHOUT_CLASS = {
    UNKNOWN: marked("none of the classes"),
    EMPTY: marked("empty", about="an image"),
}


def nothing_to_accept(graph: CategoryGraph, state: CollectionState, place: int) -> str:
    """Why an image cannot be accepted; "" if its card has no class, so that one can be chosen."""
    label = int(state.label_class[place])
    if label == BOXED:
        return tr("Its boxes are classified in its place: open it to label them.")
    if label != NO_CLASS:
        return tr("This image is labelled already: {1}.", label_text(graph, label))
    if state.status[place] == ImageStatus.FAILED:
        return tr("Nothing to accept: this file could not be read.")
    return ""


def label_text(graph: CategoryGraph, code: int) -> str:
    """Name of a label's class, or text of a label without a class."""
    if code in _WITHOUT_CLASS:
        return tr(_WITHOUT_CLASS[code])
    return graph.shown_name(code) if code in graph else tr("a removed class")


def no_such_digit(digit: int, *, is_complete: bool) -> str:
    if not is_complete:
        return tr(
            "Prediction {1} is not shown yet. Press the key again in a moment.", number(digit)
        )
    nothing, key = (
        tr("No class has the key {1} for this image.", _digit_key(digit)),
        keys_in_use().text_of("relabel"),
    )
    return paragraph(nothing, tr("Press {1} to label it as any class.", key)) if key else nothing


def no_such_key(digit: int) -> str:
    nothing = tr("No class has the key {1}.", keys_in_use().text_of_class(digit))
    return paragraph(
        nothing, tr("Right-click a class and choose “Key for labelling…” to give it one.")
    )


def _digit_key(digit: int) -> str:
    return keys_in_use().text_of(f"label_as_{digit}") or str(digit)


def create_and_label(project: Project, choice: CreateChoice, image_ids: Sequence[int]) -> Change:
    """Create a class with its first labels, in one action."""
    with project.history.one_step() as step:
        _, class_id = project.classes.add(choice.name, choice.parents)
        arguments = project.labels.set(image_ids, class_id).action.arguments
        replaced = {name: arguments[name] for name in arguments.keys() - {"class", "images"}}
        step.action = action("class_created", choice.name, images=len(image_ids), **replaced)
    return step.change


@final
class FoldedDecisions(QObject):
    """Apply decisions on a folded card to all its images; other labels are kept and reported."""

    def __init__(self, folds: CardFolds, session: Session, toast: Toast) -> None:
        super().__init__(toast)
        self._folds = folds
        self._session = session
        self._toast = toast
        self._kept = 0
        session.change_made.connect(self._on_change_made)

    def meant(self, image_ids: Sequence[int]) -> tuple[int, ...]:
        """Images affected by a decision on cards."""
        meant, self._kept = self._folds.meant(image_ids)
        return meant

    def groups_meant(self, groups: Mapping[int, Sequence[int]]) -> dict[int, tuple[int, ...]]:
        """Images affected by decisions, by class; each image is in one class."""
        found, kept, seen = dict[int, tuple[int, ...]](), 0, set[int]()
        for class_id, image_ids in groups.items():
            meant = tuple(image_id for image_id in self.meant(image_ids) if image_id not in seen)
            found[class_id], kept = meant, kept + self._kept
            seen.update(meant)
        self._kept = kept
        return found

    def _on_change_made(self, change: Change) -> None:
        """Add to the message of a change."""
        kept, self._kept = self._kept, 0
        if not change.labelled or change.kind != "done":
            return
        added = sentence(kept_text(kept)) if kept else _other_thing_hint(change)
        if added:
            text = paragraph(sentence(change.text), added)
            self._toast.show_message(text, action=tr("Undo"), on_action=self._session.undo)


def _other_thing_hint(change: Change) -> str:
    """Hint on adding another thing, after a label was replaced."""
    key = keys_in_use().text_of("add_thing")
    is_meant = bool(key) and len(change.labelled) == 1 and has_replaced(change)
    return tr("Press {1} for another thing in the image.", key) if is_meant else ""


def kept_text(count: int) -> str:
    return plural(count, "1 image keeps its other label", "{n} images keep their other labels")


@final
class DroppedImages:
    """Label dropped images; the selection is kept."""

    def __init__(self, session: Session, palette: Palette) -> None:
        self._session = session
        self._palette = palette

    def take(self, target: int | Subset | None, image_ids: Sequence[int]) -> None:
        """Label images dropped on a class or subset; None: ask for a new class."""
        if target is None:
            self._ask_name(image_ids)
        elif target is Subset.TO_REVIEW:
            self._session.unlabel(image_ids)
        else:
            self._session.label(image_ids, None if isinstance(target, Subset) else target)

    def _ask_name(self, image_ids: Sequence[int]) -> None:
        self._palette.ask(
            tr("Name of the new class with {1}", images(len(image_ids))),
            self._rows_for,
            lambda choice: self._on_choice(image_ids, choice),
            footer=tr("Parent/Name puts it under a class"),
        )

    def _rows_for(self, text: str) -> list[PaletteRow]:
        """Row of the new class, then existing classes that match."""
        if not text.strip():
            return []
        graph = self._session.graph
        new, known = create_choice(graph, text, under=None), class_rows(graph, text)
        return known if new is None else [create_row(graph, new), *known]

    def _on_choice(self, image_ids: Sequence[int], choice: int | CreateChoice) -> None:
        if isinstance(choice, int):
            self._session.label(image_ids, choice)
        else:
            self._session.act(lambda project: create_and_label(project, choice, image_ids))


HINT = "keys"  # key in the settings
LAST_DIGIT = 9  # of the class keys


def key_hint() -> str:
    """Text about the review keys in use."""
    in_use = keys_in_use()
    accept, unknown = in_use.text_of("accept"), in_use.text_of("unknown")
    first, last = in_use.text_of("label_as_1"), in_use.text_of(f"label_as_{LAST_DIGIT}")
    parts = [
        tr("{1} accepts the class on a card.", accept) if accept else "",
        tr("{1} to {2} choose another.", first, last) if first and last else "",
        tr("{1} means none of them.", unknown) if unknown else "",
    ]
    return paragraph(*parts)


@final
class KeyHint(QObject):
    """Hint shown at the first prediction, hidden by the first label; `leave` moves the focus."""

    def __init__(
        self, session: Session, settings: Settings, notice: Notice, leave: Callable[[], None]
    ) -> None:
        super().__init__(notice)
        self._session = session
        self._settings = settings
        self._notice = notice
        self._leave = leave
        self._is_due = not settings.was_shown(HINT)
        session.state_changed.connect(self._on_state_changed)
        session.change_made.connect(self._on_change_made)
        session.closed.connect(notice.hide)

    def _on_state_changed(self, state: CollectionState | None) -> None:
        if not self._is_due or not self._session.is_writable or state is None:
            return
        if ((state.label_class == NO_CLASS) & (state.best_class != NO_CLASS)).any():
            self._is_due = False
            self._settings.remember_shown(HINT)
            self._notice.ask(
                key_hint(),
                [(tr("Got it"), self._leave)],
            )

    def _on_change_made(self, change: Change) -> None:
        if change.labelled and not change.images_added:
            self._notice.hide()


TOPIC = "class to label next"
LONGEST_NAME = 40  # maximum length of a class name


@final
class ClassGuide(QObject):
    """Notice from the first label until all classes have examples, or until dismissed.

    Args:
        show_class: opens a class.
        is_free: whether no other notice is shown.
    """

    def __init__(
        self,
        session: Session,
        notice: Notice,
        show_class: Callable[[int], object],
        is_free: Callable[[], bool],
    ) -> None:
        super().__init__(notice)
        self._session = session
        self._notice = notice
        self._show_class = show_class
        self._is_free = is_free
        self._shown: Recommendation | None = None
        self._is_dismissed = False
        session.state_changed.connect(self.look)
        session.closed.connect(self._on_closed)

    def look(self) -> None:
        """Update the class to label next."""
        state, info = self._session.state, self._session.info
        is_dismissed = self._was_dismissed()
        if state is None or info is None or state.unseen is None:
            self._hide()
            return
        is_shown = self._shown is not None and _counts(self._shown.unseen) == _counts(state.unseen)
        is_wanted = info.is_writable and self._is_free() and not is_dismissed
        if is_wanted and not is_shown:
            self._session.ask(_next_class, self._on_next_class, owner=self, topic=TOPIC)

    def _on_next_class(self, found: Recommendation | None) -> None:
        graph = self._session.graph
        if self._was_dismissed() or not self._is_free():
            return
        if found is None or found.class_ids[0] not in graph:
            self._hide()
            return
        class_id = found.class_ids[0]
        words = found.text(lambda each: shortened(graph.shown_name(each), LONGEST_NAME))
        self._shown = found
        self._notice.ask(translated(words), [(tr("Show the class"), lambda: self._open(class_id))])

    def _was_dismissed(self) -> bool:
        self._is_dismissed |= self._shown is not None and self._notice.isHidden()
        return self._is_dismissed

    def _open(self, class_id: int) -> None:
        self._notice.show()  # answering hides it
        if class_id in self._session.graph:
            self._show_class(class_id)

    def _hide(self) -> None:
        self._shown = None
        self._notice.hide()

    def _on_closed(self) -> None:
        self._hide()
        self._is_dismissed = False


def _counts(unseen: ClassesSeen | None) -> tuple[int, int] | None:
    return None if unseen is None else (unseen.seen, unseen.unseen)


def _next_class(live: LiveCollection) -> Recommendation | None:
    from engine.collection.recommendations import next_class_of

    return next_class_of(live)
