"""What comes in of another project's fields: values where ours are missing, and the fields that they are of."""

from dataclasses import dataclass

from engine.field_renaming import paired_fields
from engine.image_fields import COUNT, ImageField
from engine.merging.image_match import ImagePairs
from engine.project import FieldValue, Project
from engine.project.fields import as_ours, merged_fields
from engine.project.fork import Fork


@dataclass(frozen=True)
class FieldPlan:
    """Values that come in, and those that differ."""

    values: tuple[FieldValue, ...] = ()  # of images of ours
    fields: tuple[ImageField, ...] = ()  # theirs that these need
    kept: int = 0  # values that differ, or that our field does not take: ours stay


def plan_fields(ours: Project, theirs: Project, images: ImagePairs, fork: Fork | None) -> FieldPlan:
    """Plan what comes in of their values; nothing of ours is replaced."""
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
