"""What a drop on the classes would do, in a few words."""

from app.dragging import Dragged, DraggedClass, DraggedImages
from app.session.subsets import Subset
from app.texts import fill, translate
from app.wording import images


def drop_on_class(dragged: Dragged, target: str, *, is_link: bool) -> str:
    """`Label 12 images as Oak`, `Move under Oak`, `Add Oak as a parent`."""
    if isinstance(dragged, DraggedImages):
        return fill(translate("drop", "Label %1 as %2"), images(len(dragged.image_ids)), target)
    if not isinstance(dragged, DraggedClass):
        return fill(translate("drop", "Add and label as %1"), target)
    return fill(translate("drop", "Add %1 as a parent") if is_link else translate("drop", "Move under %1"), target)


def drop_below_classes(dragged: Dragged) -> str:
    """`New class with 12 images`, `Move to the top level`."""
    if isinstance(dragged, DraggedImages):
        return fill(translate("drop", "New class with %1"), images(len(dragged.image_ids)))
    return translate("drop", "Move to the top level")


def drop_on_subset(dragged: Dragged, subset: Subset) -> str:
    """`Label 12 images as none of the classes`, `Remove the labels of 12 images`; "" where a drop means nothing."""
    if not isinstance(dragged, DraggedImages):
        return ""
    count = len(dragged.image_ids)
    if subset is Subset.UNKNOWN:
        return fill(translate("drop", "Label %1 as none of the classes"), images(count))
    if subset is Subset.TO_REVIEW:
        one, many = translate("drop", "Remove the label of %1"), translate("drop", "Remove the labels of %1")
        return fill(one if count == 1 else many, images(count))
    return ""
