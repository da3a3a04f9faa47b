"""Plan for merging notes, field values, audits and excluded classes."""

from collections.abc import Iterator
from dataclasses import replace

from engine.field_renaming import paired_fields
from engine.graph.codes import NO_CLASS
from engine.image_fields import COUNT
from engine.merging.class_plan import ClassPlan
from engine.merging.image_match import ImagePairs
from engine.merging.merge_plan import CommentConflict, FieldPlan
from engine.merging.settled import is_comment_settled
from engine.project import Audit, AuditItem, ClassId, Exclusion, FieldValue, ImageId, Project
from engine.project.fields import as_ours, merged_fields
from engine.project.fork import Fork
from engine.project.notes import filled_in
from engine.project.records import Note


def plan_notes(
    ours: Project, theirs: Project, images: ImagePairs, fork: Fork | None
) -> tuple[tuple[Note, ...], tuple[CommentConflict, ...], int]:
    """Plan to merge stars, flags and comments.

    Returns:
        Their notes, of which what is missing is merged; open conflicts of comments; and the number
        of images with different stars.
    """
    our_notes = ours.notes.by_image()
    coming: dict[ImageId, Note] = {}
    conflicts: list[CommentConflict] = []
    different_stars = 0
    for their_id, note in theirs.notes.by_image().items():
        our_id = images.pairs.get(their_id)
        if our_id is None or (fork is not None and fork.was_here(our_id, their_id, note)):
            continue
        own, other = our_notes.get(our_id), replace(note, image_id=our_id)
        if filled_in(own, other) != own:
            coming[our_id] = other
        if own is None:
            continue
        different_stars += bool(own.stars and other.stars and own.stars != other.stars)
        is_conflict = own.comment and other.comment and own.comment != other.comment
        if is_conflict and not is_comment_settled(ours, other):
            path = ours.images.record(our_id).path
            is_update = fork is not None and fork.was_there(our_id, their_id, own)
            conflicts.append(CommentConflict(our_id, path, own, other, is_update))
    return tuple(coming[each] for each in sorted(coming)), tuple(conflicts), different_stars


def plan_fields(ours: Project, theirs: Project, images: ImagePairs, fork: Fork | None) -> FieldPlan:
    """Plan to merge missing values of fields, with the definitions that they need."""
    our_values, their_fields = ours.fields.values(), theirs.fields.defined
    together = (COUNT, *merged_fields(ours.fields.defined, their_fields))
    pairs = paired_fields(together, (COUNT, *their_fields))
    coming: list[FieldValue] = []
    kept = 0
    for each in theirs.fields.all():
        our_id = images.pairs.get(each.image_id)
        if our_id is None or (fork is not None and fork.was_here(our_id, each.image_id, each)):
            continue
        own = as_ours(pairs, each._replace(image_id=our_id))
        here = None if own is None else our_values.get(our_id, {}).get(own.field)
        if own is not None and here is None:
            coming.append(own)
        kept += own is None or here not in {None, own.value}
    names = {each.field for each in coming}
    needed = tuple(each for each in their_fields if pairs[each.search_name][0].name in names)
    return FieldPlan(tuple(sorted(coming)), needed, kept)


def plan_audits(
    ours: Project, theirs: Project, images: ImagePairs, classes: ClassPlan
) -> tuple[Audit, ...]:
    """Their new or larger audits with our images and classes.

    Images without a match are left out. A claimed class without a match cannot be judged.
    """
    sizes = {(audit.drawn_at, audit.who): audit.size for audit in ours.audits.all()}
    news = [
        each for each in theirs.audits.all() if each.size > sizes.get((each.drawn_at, each.who), 0)
    ]
    coming = [replace(audit, items=list(_items(audit, images, classes))) for audit in news]
    return tuple(audit for audit in coming if audit.items)


def _items(audit: Audit, images: ImagePairs, classes: ClassPlan) -> Iterator[AuditItem]:
    def our_class(class_id: ClassId | None) -> ClassId | None:
        return None if class_id is None else classes.pairs.get(class_id, NO_CLASS)

    for item in audit.items:
        if item.image_id in images.pairs:
            yield replace(
                item,
                image_id=images.pairs[item.image_id],
                class_id=our_class(item.class_id),
                safe_class_id=our_class(item.safe_class_id),
            )


def plan_exclusions(
    ours: Project, theirs: Project, images: ImagePairs, classes: ClassPlan
) -> tuple[Exclusion, ...]:
    """Their excluded classes with our images and classes, except known ones and our labels."""
    labels = ours.labels.table()
    known = {*ours.exclusions.pairs(), *zip(labels.image_ids, labels.class_ids, strict=True)}
    here = [
        each._replace(image_id=images.pairs[each.image_id], class_id=classes.pairs[each.class_id])
        for each in theirs.exclusions.all()
        if each.image_id in images.pairs and each.class_id in classes.pairs
    ]
    return tuple(each for each in here if each[:2] not in known)
