"""Review keys, which apply to the card and class on the screen when pressed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QPoint

from app.actions.keys import keys_in_use
from app.actions.row import WRITE, Method, Needs, Section, action
from app.feature import Feature
from app.palette.logic import CreateChoice, PaletteRow, label_rows
from app.review.labelling import (
    ClassGuide,
    DroppedImages,
    FoldedDecisions,
    KeyHint,
    create_and_label,
    no_such_digit,
    no_such_key,
    nothing_to_accept,
)
from app.session.current_card import Ranking
from app.status.notice import Notice
from app.texts import marked, plural, tr
from app.wording import percent
from app.workspace.selection_bar import acceptable, nothing_sure_text
from engine.collection.state import NO_CLASS
from engine.texts import paragraph

if TYPE_CHECKING:
    from app.shell import Shell
    from engine.collection.state import CollectionState

RECENT_KEPT = 8
IMAGE_MENU = (
    "accept",
    "relabel",
    "unknown",
    "reject",
    "flag",
    "comment",
    "open_image",
    "compare",
    "find_similar",
    "toggle_fold",
    "show_in_folder",
    "copy_path",
    "remove_images",
)
ON_CARDS = WRITE | Needs.IMAGES
REMOVE = ("remove_images", marked("Remove images from the project"), "delete", "Del")


action_on_cards = partial(action, section=Section.REVIEW_ACCEPT, needs=ON_CARDS, on_images=True)
action_of_none = partial(action_on_cards, section=Section.REVIEW_NONE)


def _digit(digit: int, text: str) -> Callable[[Method], Method]:
    name, section = f"label_as_{digit}", Section.REVIEW_RANKS
    return action(
        name, text, "digit", str(digit), section, needs=ON_CARDS, given=(digit,), on_images=True
    )


def _key(digit: int, text: str) -> Callable[[Method], Method]:
    name, section = f"label_with_{digit}", Section.REVIEW_CLASS_KEYS
    keys, given = f"Alt+{digit}", (digit,)
    return action(
        name,
        text,
        "digit",
        keys,
        section,
        needs=ON_CARDS,
        given=given,
        on_images=True,
        in_bar=False,
    )


@final
class Labelling(Feature):
    """Actions on the selected images."""

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self._images = shell.workspace
        self._recent: list[int] = []
        self._folded = FoldedDecisions(shell.workspace.folds, self._session, self._toast)
        requests = shell.inspector.requests
        keys, guide = Notice(tone=""), Notice(tone="")
        requests.label_requested.connect(
            lambda image_id, class_id: self.label((image_id,), class_id)
        )
        requests.labels_requested.connect(self.label_in_place)
        requests.unlabel_requested.connect(lambda image_id: self.unlabel((image_id,)))
        self._images.grid.menu_requested.connect(self._open_menu)
        self._images.image_view.menu_requested.connect(self._open_menu)
        for line in (keys, guide):
            self._images.footer.add(line)
        self._guide = ClassGuide(self._session, guide, shell.tree.select_class, keys.isHidden)
        KeyHint(self._session, self._settings, keys, self._leave_hint)
        self.dropped = DroppedImages(self._session, self._palette)
        shell.tree.requests.images_dropped.connect(self.dropped.take)

    def _leave_hint(self) -> None:
        self._images.grid.setFocus()
        self._guide.look()

    def do(self, act: Callable[..., object], *given: object) -> None:
        """Perform an action while background computation is paused."""
        self._session.current_card.freeze()
        with self._shell.undisturbed():
            act(*given)

    def _open_menu(self, place: QPoint) -> None:
        self._shell.registry.menu_of(IMAGE_MENU, self._shell).popup(place)

    def label(self, image_ids: Sequence[int], class_id: int) -> None:
        """Label images, remember the class for the palette, and go to the next card."""
        self._recent = [class_id, *(known for known in self._recent if known != class_id)][
            :RECENT_KEPT
        ]
        self._label_and_go_on({class_id: image_ids})

    def label_in_place(self, image_ids: Sequence[int], class_id: int) -> None:
        """Label images without going to the next; the selection is kept."""
        self._images.hold()
        self._session.label(image_ids, class_id)

    def unlabel(self, image_ids: Sequence[int]) -> None:
        self._images.hold()
        self._session.unlabel(image_ids)

    def _label_and_go_on(
        self, groups: Mapping[int, Sequence[int]], *, accepts: bool = False
    ) -> None:
        self._images.hold()
        meant = self._folded.groups_meant(groups)
        cards = [image_id for group in groups.values() for image_id in group]
        self._session.label_groups(meant, is_bulk=accepts and len(cards) > 1)
        self._go_on_from(cards)

    def _go_on_from(self, image_ids: Sequence[int]) -> None:
        self._images.active_images.go_on_from(image_ids)
        self._shell.show_at_once()

    # -- accepting

    @action_on_cards("accept", marked("Accept prediction"), "accept", "Return Enter")
    def accept(self) -> None:
        """Label the current image as its card shows, or ask; of several, the confident ones."""
        chosen, state = self._chosen(), self._session.current_card.state
        if state is None or not chosen:
            return
        if len(chosen) > 1:
            self._accept_many(chosen, state)
        else:
            self._accept_each(chosen, state, lambda ranking: ranking.headline)

    def _accept_many(self, chosen: Sequence[int], state: CollectionState) -> None:
        includes_unknown = self._images.selection_bar.includes_unknown
        threshold = self._settings.accept_above / 100
        chosen = self._images.folds.under(chosen)  # each image is accepted by its own prediction
        found = acceptable(state, chosen, threshold, with_unknown=includes_unknown)
        if found.groups:
            self._label_and_go_on(found.groups, accepts=True)
        else:
            text = plural(
                len(chosen),
                "The selected image has no unlabelled prediction above {1}.",
                "None of the {n} selected images has an unlabelled prediction above {1}.",
                percent(threshold),
            )
            reason = nothing_sure_text(found, state.unseen, self._session.graph)
            self._toast.show_message(paragraph(text, reason))

    @action_on_cards(
        "accept_top_class",
        marked("Accept the most likely class"),
        "accept_safe",
        "Shift+Return Shift+Enter",
    )
    def accept_top_class(self) -> None:
        """Label each selected image as its most likely class, even if cards show broader ones."""
        chosen, state = self._chosen(), self._session.current_card.state
        if state is not None and chosen:
            self._accept_each(chosen, state, lambda ranking: ranking.best_class)

    def _accept_each(
        self, chosen: Sequence[int], state: CollectionState, class_of: Callable[[Ranking], int]
    ) -> None:
        groups: dict[int, list[int]] = {}
        for image_id in chosen:
            meant = self._session.current_card.meant(image_id)
            is_open = state.label_of(image_id) == NO_CLASS
            if meant is not None and is_open and class_of(meant) in self._session.graph:
                groups.setdefault(class_of(meant), []).append(image_id)
        if groups:
            self._label_and_go_on(groups, accepts=True)
        elif reason := nothing_to_accept(self._session.graph, state, state.position(chosen[0])):
            self._toast.show_message(reason)
        else:
            self.relabel()

    @action_on_cards("relabel", marked("Label as…"), "relabel", "R")
    def relabel(self) -> None:
        chosen = self._chosen()
        if not chosen:
            return
        self._palette.ask(
            tr("Label as: name, part of a name, or Parent/Name"),
            self._rows_for,
            lambda choice: self._on_choice(chosen, choice),
        )

    @action_of_none("unknown", marked("None of the classes"), "unknown", "U")
    def mark_unknown(self) -> None:
        chosen = self._chosen()
        if chosen:
            self._images.hold()
            self._session.label(self._folded.meant(chosen), None)
            self._go_on_from(chosen)

    @action_of_none("reject", marked("Remove label"), "reject", "X")
    def reject(self) -> None:
        """Remove labels; if there are none, go to the next image."""
        chosen, state = self._chosen(), self._session.state
        if state is None or not chosen:
            return
        meant = self._folded.meant(chosen)
        labelled = [image_id for image_id in meant if state.label_of(image_id) != NO_CLASS]
        if labelled:
            self.unlabel(labelled)
        else:
            self._images.hold()
            self._images.active_images.go_to_next()
        self._shell.show_at_once()

    @action_of_none("skip", marked("Skip to the next image"), "chevron_right", "")
    def skip(self) -> None:
        """Go to the next image without a label."""
        self._images.hold()
        self._images.active_images.go_to_next()
        self._shell.show_at_once()

    def _chosen(self) -> tuple[int, ...]:
        """Selected images, else the current one."""
        return self._images.active_images.chosen_ids

    # -- digits

    @_digit(1, marked("Label as the most likely class"))
    @_digit(2, marked("Label as the 2nd most likely class"))
    @_digit(3, marked("Label as the 3rd most likely class"))
    @_digit(4, marked("Label as the 4th most likely class"))
    @_digit(5, marked("Label as the 5th most likely class"))
    @_digit(6, marked("Label as the 6th most likely class"))
    @_digit(7, marked("Label as the 7th most likely class"))
    @_digit(8, marked("Label as the 8th most likely class"))
    @_digit(9, marked("Label as the 9th most likely class"))
    def label_as(self, digit: int) -> None:
        """Label the selected images as the displayed class of a digit."""
        image_id = self._images.active_images.current_id
        if image_id is None:
            return
        class_ids = self._shell.inspector.top_classes_of(image_id)
        if digit <= len(class_ids):
            self.label(self._chosen(), class_ids[digit - 1])
        else:
            ranking = self._session.current_card.ranking(image_id)
            is_complete = ranking is None or ranking.is_empty or ranking.is_complete
            self._toast.show_message(no_such_digit(digit, is_complete=is_complete))

    @_key(1, marked("Label as the class with the 1st key"))
    @_key(2, marked("Label as the class with the 2nd key"))
    @_key(3, marked("Label as the class with the 3rd key"))
    @_key(4, marked("Label as the class with the 4th key"))
    @_key(5, marked("Label as the class with the 5th key"))
    @_key(6, marked("Label as the class with the 6th key"))
    @_key(7, marked("Label as the class with the 7th key"))
    @_key(8, marked("Label as the class with the 8th key"))
    @_key(9, marked("Label as the class with the 9th key"))
    def label_with(self, digit: int) -> None:
        """Label the selected images as the class with a key."""
        class_id, chosen = self._session.graph.class_of_key(digit), self._chosen()
        if class_id is None:
            self._toast.show_message(no_such_key(digit))
        elif chosen:
            self.label(chosen, class_id)

    @action(*REMOVE, Section.IMAGES_REMOVE, needs=ON_CARDS, on_images=True)
    def remove(self) -> None:
        chosen = self._images.folds.under(self._chosen())
        if chosen:
            self._images.hold()
            self._session.act(lambda project: project.images.remove(chosen))

    def _rows_for(self, text: str) -> list[PaletteRow]:
        graph, current = self._session.graph, self._images.active_images.current_id
        tops = () if current is None else self._shell.inspector.top_classes_of(current)
        first, is_locked = [*tops, *self._recent], self._session.marks.is_locked
        return label_rows(
            graph,
            text,
            first=first,
            under=self._images.class_id,
            is_locked=is_locked,
            key_text=keys_in_use().text_of_class,
        )

    def _on_choice(self, image_ids: Sequence[int], choice: object) -> None:
        if isinstance(choice, int):
            self.label(image_ids, choice)
        elif isinstance(choice, CreateChoice):
            self._images.hold()
            meant = self._folded.meant(image_ids)
            self._session.act(
                lambda project: create_and_label(project, choice, meant),
                on_done=lambda _change: self._images.active_images.go_on_from(image_ids),
            )
