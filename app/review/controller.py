"""The keys of review: what they do to the images that are chosen."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, final

from app.palette.logic import Choice, ClassChoice, CreateChoice, PaletteRow, class_ids_for, create_choice, place_of
from app.palette.view import Palette
from app.review.labelling import accept, label_as, unlabel
from app.texts import fill, translate
from engine.collection.state import NO_CLASS

if TYPE_CHECKING:
    from app.inspector.view import Inspector
    from app.session import Session
    from app.workspace.view import Workspace
    from engine.project import Change, Project

RECENT_KEPT = 8
FIRST_DIGIT, LAST_DIGIT = 1, 9


@final
class Labelling:
    """Acts on the grid's selection."""

    def __init__(self, session: "Session", workspace: "Workspace", inspector: "Inspector", palette: Palette) -> None:
        self._session = session
        self._workspace = workspace
        self._inspector = inspector
        self._palette = palette
        self._recent: list[int] = []
        inspector.label_requested.connect(lambda image_id, class_id: self.label((image_id,), class_id))
        inspector.unlabel_requested.connect(lambda image_id: unlabel(session, (image_id,)))

    def callbacks(self) -> dict[str, Callable[[], None]]:
        """Actions by name."""
        digits: dict[str, Callable[[], None]] = {
            f"label_as_{digit}": self._digit(digit) for digit in range(FIRST_DIGIT, LAST_DIGIT + 1)
        }
        return digits | {
            "accept": lambda: self._workspace.go_on_from(accept(self._session, self._chosen())),
            "accept_safe": lambda: self._workspace.go_on_from(accept(self._session, self._chosen(), safe=True)),
            "relabel": self.relabel,
            "unknown": self.say_unknown,
            "reject": self.reject,
            "remove_images": self._remove,
        }

    def label(self, image_ids: Sequence[int], class_id: int) -> None:
        """Label images, and remember the class for the palette."""
        self._recent = [class_id, *(known for known in self._recent if known != class_id)][:RECENT_KEPT]
        label_as(self._session, image_ids, class_id)
        self._workspace.go_on_from(image_ids)

    def say_unknown(self) -> None:
        """Label the chosen images as none of the classes."""
        chosen = self._chosen()
        label_as(self._session, chosen, None)
        self._workspace.go_on_from(chosen)

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
            self._workspace.grid.select_row(self._workspace.grid.currentIndex().row() + 1)

    def _chosen(self) -> tuple[int, ...]:
        return self._workspace.grid.selected_ids

    def _digit(self, digit: int) -> Callable[[], None]:
        def work() -> None:
            image_id, chosen = self._workspace.grid.current_id, self._chosen()
            if image_id is None or not chosen:
                return
            likeliest = self._inspector.likeliest_of(image_id)
            if likeliest is not None:
                self._label_as_likely(chosen, digit, likeliest)
                return
            # The person is quicker than the inspector, which still shows the image before.
            self._session.ask(
                lambda live: live.top_classes(image_id, LAST_DIGIT),
                lambda found: self._label_as_likely(chosen, digit, [scored.class_id for scored in found]),
                owner=self._workspace,
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
        current = self._workspace.grid.current_id
        likeliest = None if current is None else self._inspector.likeliest_of(current)
        first = [*(likeliest or ()), *self._recent]
        rows = [
            PaletteRow(graph.name(class_id), place_of(graph, class_id), "", "class", ClassChoice(class_id))
            for class_id in class_ids_for(graph, text, first=first)
        ]
        new = create_choice(graph, text, under=self._workspace.class_id)
        if new is not None:
            rows.append(create_row(new, graph.name(new.parent_id) if new.parent_id is not None else ""))
        return rows

    def _on_choice(self, image_ids: Sequence[int], choice: Choice) -> None:
        if isinstance(choice, ClassChoice):
            self.label(image_ids, choice.class_id)
        elif isinstance(choice, CreateChoice):
            self._session.act(lambda project: _create_and_label(project, choice, image_ids))
            self._workspace.go_on_from(image_ids)


def create_row(choice: CreateChoice, parent_name: str) -> PaletteRow:
    """The palette's last row: the class that typing would make."""
    title = fill(translate("labelling", "Create “%1”"), choice.name)
    where = (
        fill(translate("labelling", "under %1"), parent_name) if parent_name else translate("labelling", "top level")
    )
    return PaletteRow(title, where, "", "class_new", choice)


def _create_and_label(project: "Project", choice: CreateChoice, image_ids: Sequence[int]) -> "Change":
    with project.one_step(fill(translate("labelling", "Create %1 and label images"), choice.name)) as step:
        _, class_id = project.add_class(choice.name, () if choice.parent_id is None else (choice.parent_id,))
        project.label(image_ids, class_id)
    return step.change
