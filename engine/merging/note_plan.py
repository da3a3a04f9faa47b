"""What comes in of another project's notes: stars, flags and comments where ours are missing."""

from dataclasses import dataclass, replace

from engine.merging.image_match import ImagePairs
from engine.merging.merge_plan import CommentConflict
from engine.merging.settled import is_comment_settled
from engine.project import ImageId, Project
from engine.project.fork import Fork
from engine.project.notes import filled_in
from engine.project.records import Note


@dataclass(frozen=True)
class NotePlan:
    """Notes that come in, and those that differ."""

    notes: tuple[Note, ...] = ()  # by image of ours; only what is missing of them comes in
    conflicts: tuple[CommentConflict, ...] = ()  # open ones
    kept: int = 0  # images whose stars differ: ours stay


def plan_notes(ours: Project, theirs: Project, images: ImagePairs, fork: Fork | None) -> NotePlan:
    """Plan what comes in of their notes; nothing of ours is replaced."""
    our_notes = ours.notes.by_image()
    coming: dict[ImageId, Note] = {}
    conflicts: list[CommentConflict] = []
    kept = 0
    for their_id, note in theirs.notes.by_image().items():
        our_id = images.pairs.get(their_id)
        if our_id is None or (fork is not None and fork.was_here(our_id, their_id, note)):
            continue
        own, other = our_notes.get(our_id), replace(note, image_id=our_id)
        if filled_in(own, other) != own:
            coming[our_id] = other
        if own is None:
            continue
        kept += bool(own.stars and other.stars and own.stars != other.stars)
        is_conflict = own.comment and other.comment and own.comment != other.comment
        if is_conflict and not is_comment_settled(ours, other):
            path = ours.images.record(our_id).path
            is_update = fork is not None and fork.was_there(our_id, their_id, own)
            conflicts.append(CommentConflict(our_id, path, own, other, is_update))
    return NotePlan(tuple(coming[each] for each in sorted(coming)), tuple(conflicts), kept)
