"""Several objects in an image: bounding boxes, further things without a box, empty images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, final

from app.actions.keys import keys_in_use
from app.actions.row import WRITE, WRITE_FOR_GOOD, Needs, Section, action
from app.boxes.logic import found_text, next_thing, shown_boxes, things_of, threshold_choices
from app.feature import Feature
from app.file_dialogs import Purpose, open_file
from app.jobs.process_job import ProcessJob
from app.texts import marked, tr
from app.wording import images, sentence
from engine.collection.state import EMPTY, NO_CLASS
from engine.file_parts import BoundingBox, FilePart, file_part
from engine.files import shown

if TYPE_CHECKING:
    from app.shell import Shell
    from engine.collection.object_detection import ThingsFound
    from engine.collection.state import CollectionState
    from engine.project import Change

ON_CARDS = WRITE | Needs.IMAGES


_on_things = partial(action, section=Section.IMAGES_THINGS, needs=WRITE_FOR_GOOD)


@final
class Boxes(Feature):
    """Draw boxes on the open image, and direct the keys of images to the current thing."""

    guide_page = "things"

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self._workspace, self._current_card = shell.workspace, shell.session.current_card
        self._view = shell.workspace.image_view
        self._current: int | None = None  # image id of the current thing
        self._owner: int | None = None  # an image of the open picture, while keys act on its things
        self._ids: Sequence[int] = ()  # ids of all images of that picture
        self._drawn: set[int] = set()  # things added since then
        self._adding = 0  # number of things being saved
        self._job: ProcessJob | None = None
        canvas = self._view.canvas
        self._session.failed.connect(self._on_failed)
        canvas.box_drawn.connect(self._on_drawn)
        canvas.box_changed.connect(self._on_changed)
        canvas.box_chosen.connect(self._on_chosen)
        canvas.zoom_changed.connect(lambda _scale: self._show())
        self._view.step_requested.connect(lambda _step: self._release())
        self._workspace.grid.current_image_changed.connect(self._on_current_changed)
        self._workspace.content.currentChanged.connect(lambda _place: self._on_page_changed())
        for news in (
            self._session.state_changed,
            self._current_card.changed,
            self._session.guesses.arrived,
        ):
            news.connect(lambda *_news: self._follow_news())

    # -- page of images, see `PageOfImages`

    @property
    def current_id(self) -> int | None:
        """Current thing, else the open image; None while a new thing is being saved."""
        thing = self._current if self._current is not None else self._owner
        return None if self._adding else thing

    def go_on_from(self, image_ids: Sequence[int]) -> None:
        """Go to the next unlabelled thing, else to the next image unless things are being drawn."""
        state, ids, decided = self._session.state, self._thing_ids(), set(image_ids)
        start = max((ids.index(each) for each in decided if each in ids), default=-1) + 1
        for image_id in (*ids[start:], *ids[:start]):
            is_open = state is not None and state.label_of(image_id) == NO_CLASS
            if is_open and image_id not in decided:
                self._choose(image_id)
                return
        if not decided & self._drawn:
            self._leave()

    def go_to_next(self) -> None:
        ids = self._thing_ids()
        place = ids.index(self._current) + 1 if self._current in ids else len(ids)
        if place < len(ids):
            self._choose(ids[place])
        else:
            self._leave()

    def look_at(self, image_id: int) -> bool:
        if image_id not in self._thing_ids():
            return False
        self._choose(image_id)
        return True

    def _leave(self) -> None:
        """Go to the next image."""
        self._workspace.step(1)
        self._release()

    # -- drawing

    def _on_drawn(self, box: BoundingBox) -> None:
        owner = self._picture
        if self._session.is_writable and owner is not None:
            self._add(owner, FilePart(box=box))

    def _add(self, owner: int, thing: FilePart) -> None:
        """Add a thing to the picture of an image."""
        state = self._session.state
        if state is None:
            return
        picture = file_part(state.source_of(owner).part).picture
        part = picture._replace(box=thing.box, thing=thing.thing).text
        self._workspace.hold()
        self._take(owner)  # the picture stays open even if its card leaves the subset to review
        self._adding += 1
        self._session.act(
            lambda project: project.images.add_parts(owner, [part]), on_done=self._on_added
        )

    def _on_failed(self, _reason: str) -> None:
        self._adding = 0

    def _on_added(self, change: Change) -> None:
        self._adding = max(0, self._adding - 1)
        if change.images_added and self._owner is not None:
            self._drawn.update(change.images_added)
            self._choose(change.images_added[-1])

    def _on_changed(self, image_id: int, box: BoundingBox) -> None:
        state = self._session.state
        if state is None or not self._session.is_writable:
            return
        part = file_part(state.source_of(image_id).part)._replace(box=box).text
        self._workspace.hold()
        self._session.act(lambda project: project.images.change_part(image_id, part))

    @action(
        "add_thing",
        marked("Add another thing"),
        "plus",
        "+",
        Section.IMAGES_THINGS,
        needs=ON_CARDS,
        on_images=True,
    )
    def add_thing(self) -> None:
        """Add a further thing without a box to the current image."""
        state, owner = self._session.state, self._workspace.active_images.current_id
        if state is None or owner is None:
            return
        if not self._workspace.is_image_open:
            self._workspace.open_image(owner)
        self._add(owner, FilePart(thing=next_thing(state, owner)))

    @action(
        "label_empty",
        marked("Empty: nothing is there"),
        "empty",
        "E",
        Section.REVIEW_NONE,
        needs=ON_CARDS,
        on_images=True,
    )
    def label_empty(self) -> None:
        """Label the chosen images as empty."""
        chosen = self._workspace.active_images.chosen_ids
        if chosen:
            self._workspace.hold()
            self._session.label(self._workspace.folds.under(chosen), EMPTY)
            self._workspace.active_images.go_on_from(chosen)
            self._shell.show_at_once()

    # -- detection

    @_on_things("find_things", marked("Find things…"), "target", "")
    def find_things(self) -> None:
        """Run a detector on all images."""
        info = self._session.info
        kinds = tr("Detectors (*.onnx);;All files (*)")
        model = open_file(self._shell, Purpose.DETECTOR, tr("Find things with a detector"), kinds)
        if model is None or info is None:
            return
        from engine.collection.object_detection import FindInProject

        request = FindInProject(
            info.path, self._session.caches.root, model, self._shell.embedding.device
        )
        job = self._job = ProcessJob(tr("Finding things with {1}", shown(model.name)), request)
        job.finished.connect(lambda found: self._on_found(model, found))
        job.failed.connect(self._session.failed)
        self._session.closed.connect(job.cancel)
        self._session.jobs.run(job)

    def _on_found(self, model: Path, found: ThingsFound) -> None:
        """Show the number of boxes for each threshold, and let the user choose."""
        choices = threshold_choices(found.counts)
        if not choices:
            self._toast.show_message(tr("Nothing was found in {1}", images(found.pictures)))
            return
        answers = [
            (text, partial(self._add_found, model, percent / 100)) for percent, text in choices
        ]
        self._workspace.notice.ask(
            found_text(found.counts, found.pictures, found.failure_count), answers
        )

    def _add_found(self, model: Path, threshold: float) -> None:
        from engine.collection.object_detection import add_known

        caches = self._session.caches
        self._session.act(
            lambda project: add_known(project, caches, model, threshold),
            on_done=lambda change: self.show_undoable(sentence(change.text)),
        )

    def stop(self) -> None:
        if self._job is not None:
            self._job.stop()

    # -- privacy

    def titles(self) -> Mapping[str, str]:
        state = self._session.state
        is_on = state is not None and bool(state.hidden)
        return {
            "hide_private": tr("Show people and vehicles")
            if is_on
            else tr("Hide people and vehicles")
        }

    @_on_things("hide_private", marked("Hide people and vehicles"), "person", "")
    def hide_private(self) -> None:
        """Hide photos (and their boxes) with detected people or vehicles, or show them again."""
        from engine.collection.hidden_images import PRIVATE, hide_categories

        state = self._session.state
        categories = () if state is None or state.hidden else PRIVATE
        self._session.act(
            lambda project: hide_categories(project, categories), on_done=self._on_hidden
        )

    def _on_hidden(self, _change: Change) -> None:
        state = self._session.state
        count = 0 if state is None else len(state.hidden)
        text = (
            tr("{1} are hidden from all views and exports.", images(count))
            if count
            else tr("Nothing is hidden.")
        )
        self.show_undoable(text)
        self._shell.needs_changed.emit()

    # -- current box

    @property
    def _picture(self) -> int | None:
        """An image of the open picture."""
        return self._workspace.open_image_id if self._owner is None else self._owner

    def _thing_ids(self) -> list[int]:
        """Ids of the boxes and further things in the open picture."""
        state = self._session.state
        owner = self._picture
        return [] if state is None or owner is None else things_of(state, owner)

    def _on_current_changed(self, image_id: int) -> None:
        """Make the thing of a new current card the current thing."""
        if self._workspace.is_image_open and self._owner is None:
            self._follow(image_id)

    def _on_page_changed(self) -> None:
        if self._workspace.is_image_open:
            self._follow(self._workspace.open_image_id)
        else:
            self._release()

    def _follow(self, image_id: int | None) -> None:
        if image_id in self._thing_ids():
            self._choose(image_id)
        self._show()

    def _on_chosen(self, image_id: int) -> None:
        if image_id >= 0 or self._current is not None:
            self._choose(image_id if image_id >= 0 else None)

    def _choose(self, image_id: int | None) -> None:
        """Direct the keys of images to a thing; None: to the open image."""
        owner = self._picture
        if owner is None:
            return
        self._take(owner)
        self._current = image_id
        looked_at = owner if image_id is None else image_id
        self._session.guesses.want([looked_at])
        self._current_card.look_at(looked_at)
        self._shell.inspector.show_image(looked_at)
        self._shell.needs_changed.emit()
        self._show()

    def _take(self, owner: int) -> None:
        """Keep a picture open, and direct the keys of images to it."""
        if self._owner is None:
            self._owner = owner
            self._workspace.active_images.take(self)

    def _release(self) -> None:
        """Direct the keys to the cards again; the open image follows them."""
        if self._owner is not None:
            self._owner = self._current = None
            self._ids, self._adding = (), 0
            self._drawn.clear()
            self._workspace.active_images.take(None)
            self._shell.needs_changed.emit()
        self._show()

    def _follow_news(self) -> None:
        """Update after images were added, removed or changed."""
        state = self._session.state
        if state is None or not self._workspace.is_image_open:
            return
        if not self._is_there(state):
            self._release()
            return
        ids = self._thing_ids()
        if self._current is not None and self._current not in ids:
            self._on_removed(ids)
        else:
            self._show()

    def _show(self) -> None:
        """Show the boxes of the open picture with their classes."""
        state, owner = self._session.state, self._picture
        if state is None or owner is None or not state.has(owner):
            return
        ids = things_of(state, owner)
        if self._owner is not None:
            self._ids = list(state.items_of_file(self._owner))
        boxes = shown_boxes(state, self._session.graph, ids)
        self._view.canvas.show_boxes(boxes, self._current, can_edit=self._session.is_writable)
        self._view.bar.show_things(
            len(ids), ids.index(self._current) + 1 if self._current in ids else 0
        )

    def _is_there(self, state: CollectionState) -> bool:
        """Whether the open picture still has an image; another one replaces a removed owner."""
        if self._owner is None:
            return self._workspace.open_image_id is not None and state.has(
                self._workspace.open_image_id
            )
        if not state.has(self._owner):
            left = next((each for each in self._ids if state.has(each)), None)
            if left is None:
                return False
            self._owner = left
        return True

    def _on_removed(self, ids: Sequence[int]) -> None:
        """Handle the removal of the current thing."""
        self._choose(None)
        if not ids:
            key = keys_in_use().text_of("label_empty")
            self._toast.show_message(
                tr("No box is left. Label the image itself, or mark it as empty ({1}).", key)
            )
