"""The keys of review: what they do to the images that are chosen."""

from collections.abc import Callable, Sequence
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
from app.review.labelling import accept, label_as, unlabel
from app.texts import fill, translate
from engine.collection.state import NO_CLASS

if TYPE_CHECKING:
    from app.session import Session
    from engine.project import Change, Project

LikeliestOf = Callable[[int], Sequence[int] | None]
"""The likeliest classes of an image, best first, where they are known already."""
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

    def go_on_from(self, image_ids: Sequence[int]) -> None:
        """Choose the image after these, where decided images leave."""

    def go_to_next(self) -> None:
        """Choose the next image."""


@final
class Labelling:
    """Acts on the chosen images.

    Args:
        session: the open project.
        images: where they are shown.
        likeliest_of: what the digits stand for.
        palette: asks for any other class.
    """

    def __init__(
        self, session: "Session", images: "ReviewedImages", likeliest_of: LikeliestOf, palette: Palette
    ) -> None:
        self._session = session
        self._images = images
        self._likeliest_of = likeliest_of
        self._palette = palette
        self._recent: list[int] = []

    def callbacks(self) -> dict[str, Callable[[], None]]:
        """Actions by name."""
        digits: dict[str, Callable[[], None]] = {
            f"label_as_{digit}": self._digit(digit) for digit in range(FIRST_DIGIT, LAST_DIGIT + 1)
        }
        return digits | {
            "accept": lambda: self._images.go_on_from(accept(self._session, self._chosen())),
            "accept_safe": lambda: self._images.go_on_from(accept(self._session, self._chosen(), safe=True)),
            "relabel": self.relabel,
            "unknown": self.say_unknown,
            "reject": self.reject,
            "remove_images": self._remove,
        }

    def label(self, image_ids: Sequence[int], class_id: int) -> None:
        """Label images, and remember the class for the palette."""
        self._recent = [class_id, *(known for known in self._recent if known != class_id)][:RECENT_KEPT]
        label_as(self._session, image_ids, class_id)
        self._images.go_on_from(image_ids)

    def label_dropped(self, image_ids: Sequence[int], class_id: int) -> None:
        """Label images that were dropped on a class; what is chosen stays."""
        self._session.act(lambda project: project.label(image_ids, class_id))

    def unlabel(self, image_ids: Sequence[int]) -> None:
        """Take labels off."""
        unlabel(self._session, image_ids)

    def say_unknown(self) -> None:
        """Label the chosen images as none of the classes."""
        chosen = self._chosen()
        label_as(self._session, chosen, None)
        self._images.go_on_from(chosen)

    def relabel(self) -> None:
        """Ask for any class; the last row makes a new one."""
        chosen = self._chosen()
        if not chosen:
            return
        self._palette.ask(
            translate("labelling", "Label as: name, part of a name, or Parent/Name"),
            self._rows_for,
            lambda choice: self._on_choice(chosen, choice),
            foot=translate("labelling", "Enter labels · Esc closes"),
        )

    def reject(self) -> None:
        """Take labels off; without any, go on to the next image."""
        chosen, state = self._chosen(), self._session.state
        if state is None or not chosen:
            return
        labelled = [image_id for image_id in chosen if state.label_class[state.position(image_id)] != NO_CLASS]
        if labelled:
            unlabel(self._session, labelled)
        else:
            self._images.go_to_next()

    def _chosen(self) -> tuple[int, ...]:
        return self._images.selected_ids

    def _digit(self, digit: int) -> Callable[[], None]:
        def work() -> None:
            image_id, chosen = self._images.current_id, self._chosen()
            if image_id is None or not chosen:
                return
            likeliest = self._likeliest_of(image_id)
            if likeliest is not None:
                self._label_as_likely(chosen, digit, likeliest)
                return
            # The person is quicker than the inspector, which still shows the image before.
            self._session.ask(
                lambda live: live.top_classes(image_id, LAST_DIGIT),
                lambda found: self._label_as_likely(chosen, digit, [scored.class_id for scored in found]),
                owner=self._palette,
            )

        return work

    def _label_as_likely(self, image_ids: Sequence[int], digit: int, likeliest: Sequence[int]) -> None:
        known = [class_id for class_id in likeliest if class_id in self._session.graph]
        if digit <= len(known):
            self.label(image_ids, known[digit - 1])

    def _remove(self) -> None:
        chosen = self._chosen()
        if chosen:
            self._session.act(lambda project: project.remove_images(chosen))

    def _rows_for(self, text: str) -> list[PaletteRow]:
        graph = self._session.graph
        current = self._images.current_id
        likeliest = None if current is None else self._likeliest_of(current)
        first = [*(likeliest or ()), *self._recent]
        rows = class_rows(graph, text, first=first)
        new = create_choice(graph, text, under=self._images.class_id)
        if new is not None:
            rows.append(create_row(new, graph.name(new.parent_id) if new.parent_id is not None else ""))
        return rows

    def _on_choice(self, image_ids: Sequence[int], choice: Choice) -> None:
        if isinstance(choice, ClassChoice):
            self.label(image_ids, choice.class_id)
        elif isinstance(choice, CreateChoice):
            self._session.act(lambda project: _create_and_label(project, choice, image_ids))
            self._images.go_on_from(image_ids)


def _create_and_label(project: "Project", choice: CreateChoice, image_ids: Sequence[int]) -> "Change":
    with project.one_step(fill(translate("labelling", "Create %1 and label images"), choice.name)) as step:
        _, class_id = project.add_class(choice.name, () if choice.parent_id is None else (choice.parent_id,))
        project.label(image_ids, class_id)
    return step.change
