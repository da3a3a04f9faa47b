"""The things in an image: boxes that are drawn on it, further things without a box, and empty images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, final

from app.actions.row import WRITE, Needs, Section, action
from app.boxes.logic import next_thing, shown_boxes, things_of
from app.feature import Feature
from app.texts import marked
from engine.collection.state import EMPTY, NO_CLASS
from engine.file_parts import BoundingBox, FilePart, file_part

if TYPE_CHECKING:
    from app.shell import Shell
    from engine.project import Change

ON_CARDS: Final = WRITE | Needs.IMAGES


@final
class Boxes(Feature):
    """Draws boxes on the open image, and lets the keys of images act on the one that is chosen."""

    guide_page = "labelling#boxes"

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self._workspace, self._eye = shell.workspace, shell.session.eye
        self._view = shell.workspace.image_view
        self._current: int | None = None  # image id of the box that is worked on
        self._is_taken = False
        canvas = self._view.canvas
        canvas.box_drawn.connect(self._on_drawn)
        canvas.box_changed.connect(self._on_changed)
        canvas.box_chosen.connect(self._on_chosen)
        canvas.zoom_changed.connect(lambda _scale: self._show())
        self._workspace.grid.current_image_changed.connect(self._on_current_changed)
        self._workspace.content.currentChanged.connect(lambda _place: self._on_page_changed())
        for news in (self._session.state_changed, self._eye.changed, self._session.guesses.arrived):
            news.connect(lambda *_news: self._show())

    # -- as a page of images, see `PageOfImages`

    @property
    def current_id(self) -> int | None:
        """The box that is worked on, else the open image."""
        return self._current if self._current is not None else self._workspace.grid.current_id

    def go_on_from(self, image_ids: Sequence[int]) -> None:
        """Go on to the next box without a label, else to the next image."""
        state, decided = self._session.state, set(image_ids)
        ids = self._box_ids()
        start = max((ids.index(each) for each in decided if each in ids), default=-1) + 1
        for image_id in (*ids[start:], *ids[:start]):
            if state is not None and image_id not in decided:
                place = state.position(image_id)
                if state.label_class[place] == NO_CLASS:
                    self._choose(image_id)
                    return
        self._choose(None)
        self._workspace.step(1)

    def go_to_next(self) -> None:
        ids = self._box_ids()
        place = ids.index(self._current) + 1 if self._current in ids else len(ids)
        if place < len(ids):
            self._choose(ids[place])
        else:
            self._choose(None)
            self._workspace.step(1)

    def look_at(self, image_id: int) -> bool:
        if image_id not in self._box_ids():
            return False
        self._choose(image_id)
        return True

    # -- drawing

    def _on_drawn(self, box: BoundingBox) -> None:
        if self._is_writable and (owner := self._workspace.grid.current_id) is not None:
            self._add(owner, FilePart(box=box))

    def _add(self, owner: int, thing: FilePart) -> None:
        """Add a thing to the picture that an image is, or is in."""
        state = self._session.state
        if state is None:
            return
        picture = file_part(state.source_of(owner).part).picture
        part = picture._replace(box=thing.box, thing=thing.thing).text
        self._workspace.hold()
        self._session.act(lambda project: project.images.add_parts(owner, [part]), on_done=self._on_added)

    def _on_added(self, change: Change) -> None:
        if change.images_added and self._workspace.is_image_open:
            self._choose(change.images_added[-1])

    def _on_changed(self, image_id: int, box: BoundingBox) -> None:
        state = self._session.state
        if state is None or not self._is_writable:
            return
        part = file_part(state.source_of(image_id).part)._replace(box=box).text
        self._workspace.hold()
        self._session.act(lambda project: project.images.change_part(image_id, part))

    @action("add_thing", marked("Another thing in the image"), "add", "+", Section.REVIEW_ACCEPT,
            needs=ON_CARDS, on_images=True)  # fmt: skip
    def add_thing(self) -> None:
        """Add a further thing without a box to the current image, for a label of its own."""
        state, owner = self._session.state, self._workspace.in_hand.current_id
        if state is None or owner is None:
            return
        if not self._workspace.is_image_open:
            self._workspace.open_image(owner)
        self._add(owner, FilePart(thing=next_thing(state, owner)))

    @action("label_empty", marked("Empty: nothing is there"), "unknown", "E", Section.REVIEW_ACCEPT,
            needs=ON_CARDS, on_images=True)  # fmt: skip
    def label_empty(self) -> None:
        """Label the chosen images as empty."""
        chosen = self._workspace.in_hand.chosen_ids
        if chosen:
            self._workspace.hold()
            self._session.label(self._workspace.folds.under(chosen), EMPTY)
            self._workspace.in_hand.go_on_from(chosen)
            self._shell.show_at_once()

    # -- which box is worked on

    @property
    def _is_writable(self) -> bool:
        info = self._session.info
        return info is not None and info.is_writable

    def _box_ids(self) -> list[int]:
        """The boxes of the open picture, and further things in it."""
        state, owner = self._session.state, self._workspace.grid.current_id
        return [] if state is None or owner is None else things_of(state, owner)

    def _on_current_changed(self, image_id: int) -> None:
        """Another card is current: a box is worked on at once."""
        if self._workspace.is_image_open:
            self._follow(image_id)

    def _on_page_changed(self) -> None:
        if self._workspace.is_image_open:
            self._follow(self._workspace.grid.current_id or -1)
        else:
            self._choose(None)

    def _follow(self, image_id: int) -> None:
        self._choose(image_id if image_id in self._box_ids() else None)

    def _on_chosen(self, image_id: int) -> None:
        self._choose(image_id if image_id >= 0 else None)

    def _choose(self, image_id: int | None) -> None:
        """Let the keys of images act on a box; None for the open image."""
        was, self._current = self._current, image_id
        if image_id is None:
            if self._is_taken:
                self._is_taken = False
                self._workspace.in_hand.take(None)
        else:
            self._is_taken = True
            self._workspace.in_hand.take(self)
            self._session.guesses.want([image_id])
            self._eye.look_at(image_id)
            self._shell.inspector.show_image(image_id)
        if was != image_id:
            self._shell.needs_changed.emit()
        self._show()

    def _show(self) -> None:
        """Show the boxes of the open picture with their classes."""
        state, owner = self._session.state, self._workspace.grid.current_id
        if state is None or owner is None or not self._workspace.is_image_open:
            return
        ids = self._box_ids()
        if self._current is not None and self._current not in ids:
            self._choose(None)
            return
        boxes = shown_boxes(state, self._session.graph, ids)
        self._view.canvas.show_boxes(boxes, self._current, can_edit=self._is_writable)
        self._view.bar.show_things(len(ids), ids.index(self._current) + 1 if self._current in ids else 0)
