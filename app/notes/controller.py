"""Notes on images: stars, flag and comment; saved immediately and undoable."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, final

from app.actions.row import WRITE, Needs, Section, action
from app.feature import Feature
from app.texts import marked, tr
from app.wording import enumeration, image_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from app.shell import Shell
    from engine.project import Change, Project
    from engine.project.records import Note

ON_CARDS = WRITE | Needs.IMAGES
RATING = Section.REVIEW_RATING
MOST_NAMED = 2  # images named in a message


@final
class Notes(Feature):
    """Actions on the selected images."""

    guide_page: ClassVar[str] = "finding#stars-flags-and-comments"

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self._images = shell.workspace
        requests = shell.inspector.requests
        requests.stars_chosen.connect(lambda image_id, stars: self._set_stars((image_id,), stars))
        requests.flag_chosen.connect(lambda image_id, is_on: self._set_flagged((image_id,), is_on))
        requests.comment_written.connect(self._write_comment)

    def _chosen(self) -> Sequence[int]:
        return self._images.active_images.meant_ids

    def _notes(self, image_ids: Sequence[int]) -> list[Note | None]:
        state = self._session.state
        return [None if state is None else state.notes.get(image_id) for image_id in image_ids]

    @action(
        "flag",
        marked("Flag (toggle)"),
        "flag",
        "F",
        Section.REVIEW_NOTES,
        needs=ON_CARDS,
        on_images=True,
    )
    def flag(self) -> None:
        """Flag the selected images, or remove the flags if all are flagged."""
        chosen = self._chosen()
        are_flagged = all(note is not None and note.is_flagged for note in self._notes(chosen))
        self._set_flagged(chosen, not are_flagged)

    @action(
        "stars_1",
        marked("1 star"),
        "star",
        "Ctrl+1",
        RATING,
        needs=ON_CARDS,
        given=(1,),
        on_images=True,
    )
    @action(
        "stars_2",
        marked("2 stars"),
        "star",
        "Ctrl+2",
        RATING,
        needs=ON_CARDS,
        given=(2,),
        on_images=True,
    )
    @action(
        "stars_3",
        marked("3 stars"),
        "star",
        "Ctrl+3",
        RATING,
        needs=ON_CARDS,
        given=(3,),
        on_images=True,
    )
    @action(
        "stars_4",
        marked("4 stars"),
        "star",
        "Ctrl+4",
        RATING,
        needs=ON_CARDS,
        given=(4,),
        on_images=True,
    )
    @action(
        "stars_5",
        marked("5 stars"),
        "star",
        "Ctrl+5",
        RATING,
        needs=ON_CARDS,
        given=(5,),
        on_images=True,
    )
    def give_stars(self, stars: int) -> None:
        """Set the stars of the selected images, or remove them if all have that number."""
        chosen = self._chosen()
        have_them = all(note is not None and note.stars == stars for note in self._notes(chosen))
        self._set_stars(chosen, 0 if have_them else stars)

    @action(
        "comment",
        marked("Comment on the image"),
        "comment",
        "N",
        Section.REVIEW_FIELDS,
        needs=ON_CARDS,
        on_images=True,
    )
    def comment(self) -> None:
        """Edit the comment in the inspector."""
        current = self._images.active_images.current_id
        if current is None:
            return
        self._images.hold()
        if self._shell.side.isHidden():
            self._shell.panes.toggle_right()
        panel = self._shell.side.currentWidget()
        if panel is not None and panel is not self._shell.inspector:
            self._shell.side.close_panel(panel)
        self._shell.inspector.show_image(current)
        self._shell.inspector.edit_comment()

    def _set_stars(self, image_ids: Sequence[int], stars: int) -> None:
        if image_ids:
            self._note(image_ids, lambda project: project.notes.set_stars(image_ids, stars))

    def _set_flagged(self, image_ids: Sequence[int], is_flagged: bool) -> None:
        if image_ids:
            self._note(image_ids, lambda project: project.notes.set_flagged(image_ids, is_flagged))

    def _note(self, image_ids: Sequence[int], write: Callable[[Project], Change]) -> None:
        """Write a note; if it applies to just labelled images that are not current, name them."""
        self._images.hold()
        names = (
            self._names_of(image_ids)
            if tuple(image_ids) == self._images.active_images.decided_ids
            else ""
        )

        def on_done(change: Change) -> None:
            text = tr("{1}, just labelled: {2}", change.text, names)
            self.show_undoable(text)

        self._session.act(write, on_done=on_done) if names else self._session.act(write)

    def _names_of(self, image_ids: Sequence[int]) -> str:
        state = self._session.state
        sources = (
            []
            if state is None
            else [state.visible_source_of(each) for each in image_ids[: MOST_NAMED + 1]]
        )
        names = [image_name(source) for source in sources if source is not None]
        return enumeration([*names[:MOST_NAMED], *["…"] * (len(names) > MOST_NAMED)])

    def _write_comment(self, image_id: int, text: str) -> None:
        self._images.hold()
        self._session.act(lambda project: project.notes.set_comment((image_id,), text))
