"""The keys of review: each means the card and the class that are on the screen when it goes down.

A label shows at once and the next card with it, painted before the next key is heard; predictions follow behind.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, final

from app.palette.logic import (
    Choice,
    ClassChoice,
    CreateChoice,
    PaletteRow,
    class_rows,
    create_choice,
    create_row,
)
from app.palette.view import Palette
from app.review.labelling import create_and_label, label_groups
from app.review.wording import no_such_digit, none_sure_enough, nothing_to_accept
from app.session.frozen_ranking import Ranking
from app.texts import tr
from app.workspace.bulk import acceptable
from engine.collection.state import NO_CLASS

if TYPE_CHECKING:
    from app.session import Session
    from engine.collection.state import CollectionState

RECENT_KEPT = 8
FIRST_DIGIT, LAST_DIGIT = 1, 9


class ReviewedImages(Protocol):
    """Where the images under review are shown."""

    @property
    def selected_ids(self) -> tuple[int, ...]:
        """The chosen images."""

    @property
    def current_id(self) -> int | None:
        """The image with the focus."""

    @property
    def class_id(self) -> int | None:
        """The class whose images are shown; None for a view of all."""

    def hold(self) -> None:
        """Keep the order of the cards: somebody works on them."""

    def go_on_from(self, image_ids: Sequence[int]) -> None:
        """Choose the image after these."""

    def go_to_next(self) -> None:
        """Choose the next image."""


@dataclass(frozen=True)
class Screen:
    """What labelling needs of the window.

    Attributes:
        shown_classes: what the digits stand for, for an image: best first, as it is drawn.
        threshold: what a prediction must pass to be accepted among many.
        includes_unknown: whether images that perhaps show none of the classes are accepted among many, too.
        paint: paints what changed, now.
        undisturbed: a context within which nothing else computes.
        say: tells the person in one line why nothing happens.
    """

    shown_classes: Callable[[int], tuple[int, ...]]
    threshold: Callable[[], float]
    includes_unknown: Callable[[], bool]
    paint: Callable[[], None]
    undisturbed: Callable[[], AbstractContextManager[None]]
    say: Callable[[str], None]


@final
class Labelling:
    """Acts on the chosen images.

    Args:
        session: the open project.
        images: where they are shown.
        screen: what else is shown.
        palette: asks for any other class.
    """

    def __init__(self, session: "Session", images: ReviewedImages, screen: Screen, palette: Palette) -> None:
        self._session = session
        self._images = images
        self._screen = screen
        self._palette = palette
        self._recent: list[int] = []

    def callbacks(self) -> dict[str, Callable[[], None]]:
        digits: dict[str, Callable[[], None]] = {
            f"label_as_{digit}": self._digit(digit) for digit in range(FIRST_DIGIT, LAST_DIGIT + 1)
        }
        acts = digits | {
            "accept": self._accept,
            "accept_likeliest": self._accept_likeliest,
            "relabel": self.relabel,
            "unknown": self.say_unknown,
            "reject": self.reject,
            "remove_images": self._remove,
        }
        return {name: self._undisturbed(act) for name, act in acts.items()}

    def _undisturbed(self, act: Callable[[], None]) -> Callable[[], None]:
        def work() -> None:
            self._session.eye.hold_still()
            with self._screen.undisturbed():
                act()

        return work

    def label(self, image_ids: Sequence[int], class_id: int) -> None:
        """Label images, remember the class for the palette, and go on to the next card."""
        self._recent = [class_id, *(known for known in self._recent if known != class_id)][:RECENT_KEPT]
        self._label_and_go_on({class_id: image_ids})

    def label_in_place(self, image_ids: Sequence[int], class_id: int) -> None:
        """Label images without going on; what is chosen stays."""
        self._images.hold()
        self._session.label(image_ids, class_id)

    def unlabel(self, image_ids: Sequence[int]) -> None:
        self._images.hold()
        self._session.unlabel(image_ids)

    def say_unknown(self) -> None:
        """Label the chosen images as none of the classes."""
        chosen = self._chosen()
        if chosen:
            self._images.hold()
            self._session.label(chosen, None)
            self._go_on_from(chosen)

    def _label_and_go_on(self, groups: Mapping[int, Sequence[int]]) -> None:
        self._images.hold()
        self._go_on_from(label_groups(self._session, groups))

    def _go_on_from(self, image_ids: Sequence[int]) -> None:
        self._images.go_on_from(image_ids)
        self._screen.paint()

    # -- accepting

    def _accept(self) -> None:
        """Label the current image as its card says, or of many chosen ones those that are sure enough."""
        chosen, state = self._chosen(), self._session.eye.state
        if state is None or not chosen:
            return
        if len(chosen) > 1:
            self._accept_many(chosen, state)
        else:
            self._accept_each(chosen, state, lambda ranking: ranking.headline)

    def _accept_many(self, chosen: Sequence[int], state: "CollectionState") -> None:
        includes_unknown = self._screen.includes_unknown()
        found = acceptable(state, chosen, self._screen.threshold(), with_unknown=includes_unknown)
        if found.groups:
            self._label_and_go_on(found.groups)
        else:
            self._screen.say(none_sure_enough(len(chosen), self._screen.threshold()))

    def _accept_likeliest(self) -> None:
        """Label each chosen image as its likeliest class, also where the card names a broader one."""
        chosen, state = self._chosen(), self._session.eye.state
        if state is not None and chosen:
            self._accept_each(chosen, state, lambda ranking: ranking.best_class)

    def _accept_each(self, chosen: Sequence[int], state: "CollectionState", class_of: Callable[[Ranking], int]) -> None:
        groups: dict[int, list[int]] = {}
        for image_id in chosen:
            meant = self._session.eye.meant(image_id)
            is_open = state.label_class[state.position(image_id)] == NO_CLASS
            if meant is not None and is_open and class_of(meant) in self._session.graph:
                groups.setdefault(class_of(meant), []).append(image_id)
        if groups:
            self._label_and_go_on(groups)
        else:
            self._screen.say(nothing_to_accept(self._session.graph, state, state.position(chosen[0])))

    def relabel(self) -> None:
        """Ask for any class; the last row makes a new one."""
        chosen = self._chosen()
        if not chosen:
            return
        self._palette.ask(
            tr("Label as: name, part of a name, or Parent/Name"),
            self._rows_for,
            lambda choice: self._on_choice(chosen, choice),
            foot=tr("Enter labels · Esc closes"),
        )

    def reject(self) -> None:
        """Take labels off; without any, go on to the next image."""
        chosen, state = self._chosen(), self._session.state
        if state is None or not chosen:
            return
        labelled = [image_id for image_id in chosen if state.label_class[state.position(image_id)] != NO_CLASS]
        if labelled:
            self.unlabel(labelled)
        else:
            self._images.hold()
            self._images.go_to_next()
        self._screen.paint()

    def _chosen(self) -> tuple[int, ...]:
        """The chosen images; the one with the frame where none is."""
        current = self._images.current_id
        return self._images.selected_ids or (() if current is None else (current,))

    # -- digits

    def _digit(self, digit: int) -> Callable[[], None]:
        def work() -> None:
            image_id = self._images.current_id
            if image_id is None:
                return
            class_ids = self._screen.shown_classes(image_id)
            if digit <= len(class_ids):
                self.label(self._chosen(), class_ids[digit - 1])
            else:
                ranking = self._session.eye.ranking(image_id)
                is_complete = ranking is None or ranking.is_empty or ranking.is_complete
                self._screen.say(no_such_digit(digit, is_complete=is_complete))

        return work

    def _remove(self) -> None:
        chosen = self._chosen()
        if chosen:
            self._images.hold()
            self._session.act(lambda project: project.images.remove(chosen))

    def _rows_for(self, text: str) -> list[PaletteRow]:
        graph = self._session.graph
        current = self._images.current_id
        likeliest = () if current is None else self._screen.shown_classes(current)
        first = [*likeliest, *self._recent]
        rows = class_rows(graph, text, first=first)
        new = create_choice(graph, text, under=self._images.class_id)
        if new is not None:
            rows.append(create_row(new, graph.name(new.parent_id) if new.parent_id is not None else ""))
        return rows

    def _on_choice(self, image_ids: Sequence[int], choice: Choice) -> None:
        if isinstance(choice, ClassChoice):
            self.label(image_ids, choice.class_id)
        elif isinstance(choice, CreateChoice):
            self._images.hold()
            self._session.act(
                lambda project: create_and_label(project, choice, image_ids),
                on_done=lambda _change: self._images.go_on_from(image_ids),
            )
