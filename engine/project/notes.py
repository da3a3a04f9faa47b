"""Notes on images by users: stars, a flag, a comment. Nothing here is computed."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import final

from engine.errors import InputError
from engine.project.actions import Action, action
from engine.project.change import Change
from engine.project.clock import now_text, person_name, present_time, time_of, time_text
from engine.project.connection import Connection, Row
from engine.project.image_rows import check_images, plain_ids
from engine.project.records import ImageId, Note
from engine.project.schema import IMAGE_NOTE, LONGEST_TEXT
from engine.project.store import ProjectPart

MOST_STARS = 5
_COLUMNS = "SELECT image_id, stars, is_flagged, comment, who, noted_at FROM image_note"


@final
class ProjectNotes(ProjectPart):
    """The notes of a project: at most one per image; empty ones are deleted."""

    def by_image(self) -> dict[ImageId, Note]:
        """All notes by image, in ascending image id order."""
        notes = map(_note, self._connection.rows(f"{_COLUMNS} ORDER BY image_id"))
        return {note.image_id: note for note in notes}

    def of(self, image_id: ImageId) -> Note | None:
        """The note of one image, or None."""
        return _note_of(self._connection, int(image_id))

    def set_stars(self, image_ids: Iterable[ImageId], stars: int, *, who: str = "") -> Change:
        """Give images 1 to 5 stars, or take them away with 0.

        Raises:
            InputError: another number, or an image is not in the project.
        """
        if not 0 <= stars <= MOST_STARS:
            raise InputError("no such number of stars", expected="0 to 5", found=str(stars))
        ids = plain_ids(image_ids)
        called = (
            action("stars_given", images=len(ids), stars=stars)
            if stars
            else action("stars_removed", images=len(ids))
        )
        return self._edit(ids, lambda note: replace(note, stars=stars), called, who)

    def set_flagged(
        self, image_ids: Iterable[ImageId], is_flagged: bool, *, who: str = ""
    ) -> Change:
        """Set or clear the flag of images; raises `InputError` for an unknown image."""
        ids = plain_ids(image_ids)
        called = action("images_flagged" if is_flagged else "flags_removed", images=len(ids))
        return self._edit(ids, lambda note: replace(note, is_flagged=is_flagged), called, who)

    def set_comment(self, image_ids: Iterable[ImageId], comment: str, *, who: str = "") -> Change:
        """Write the comment of images, or take it away with "".

        Raises:
            InputError: the comment is too long, or an image is not in the project.
        """
        comment, ids = comment.strip(), plain_ids(image_ids)
        if len(comment) > LONGEST_TEXT:
            raise InputError(
                "the comment is too long",
                expected="at most {limit} characters",
                found=str(len(comment)),
                limit=LONGEST_TEXT,
            )
        called = action("images_commented" if comment else "comments_removed", images=len(ids))
        return self._edit(ids, lambda note: replace(note, comment=comment), called, who)

    def add_missing(self, notes: Sequence[Note]) -> Change:
        """Take over notes of others, with their names and times, of images that have none.

        Raises:
            InputError: an image is not in the project.
        """
        check_images(self._connection, [note.image_id for note in notes])
        with self._store.one_step() as step:
            missing = [
                note
                for note in notes
                if _note_of(step.connection, note.image_id) is None and not _is_empty(note)
            ]
            step.put(IMAGE_NOTE, [_row(note) for note in missing])
            step.action = action("notes_added", images=len(missing))
        return step.change

    def fill_in(self, notes: Sequence[Note]) -> Change:
        """Adopt stars, flags and comments of another copy where missing; names and times stay.

        Raises:
            InputError: an image is not in the project.
        """
        check_images(self._connection, [note.image_id for note in notes])
        with self._store.one_step() as step:
            before = {note.image_id: _note_of(step.connection, note.image_id) for note in notes}
            filled = [filled_in(before[note.image_id], note) for note in notes]
            changed = [
                note for note in filled if note != before[note.image_id] and not _is_empty(note)
            ]
            step.put(IMAGE_NOTE, map(_row, changed))
            step.action = action("notes_added", images=len(changed))
        return step.change

    def _edit(
        self, ids: Sequence[ImageId], edit: Callable[[Note], Note], called: Action, who: str
    ) -> Change:
        check_images(self._connection, ids)
        when, who = now_text(), who or person_name()
        with self._store.one_step(called, who=who) as step:
            before = {each: _note_of(step.connection, each) or _empty(each) for each in ids}
            edited = {each: edit(note) for each, note in before.items()}
            changed = [note for each, note in edited.items() if note != before[each]]
            step.delete(IMAGE_NOTE, [(note.image_id,) for note in changed if _is_empty(note)])
            step.put(
                IMAGE_NOTE,
                [(*_row(note)[:4], who, when) for note in changed if not _is_empty(note)],
            )
        return step.change


def filled_in(own: Note | None, other: Note) -> Note:
    """A note completed from another one, with its own author; the other one where there is none."""
    if own is None:
        return other
    return replace(
        own,
        stars=own.stars or other.stars,
        is_flagged=own.is_flagged or other.is_flagged,
        comment=own.comment or other.comment,
    )


def _empty(image_id: ImageId) -> Note:
    return Note(image_id, 0, False, "", "", present_time())


def _is_empty(note: Note) -> bool:
    return not (note.stars or note.is_flagged or note.comment)


def _note_of(connection: Connection, image_id: ImageId) -> Note | None:
    row = connection.row(f"{_COLUMNS} WHERE image_id = ?", (image_id,))
    return None if row is None else _note(row)


def _row(note: Note) -> Row:
    return (
        note.image_id,
        note.stars,
        int(note.is_flagged),
        note.comment,
        note.who,
        time_text(note.when),
    )


def _note(row: Row) -> Note:
    image_id, stars, is_flagged, comment, who, when = row
    return Note(image_id, stars, bool(is_flagged), comment, who, time_of(when))
