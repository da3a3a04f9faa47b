"""What is said of an image's label before the project thread has answered: its card shows as much. No Qt."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from engine.collection.state import NO_CLASS, UNKNOWN, CollectionState

if TYPE_CHECKING:  # these load numpy and more; the window shows first
    from engine.project import Label


def label_shown(state: CollectionState, image_id: int, known: "Label | None") -> "Label | None":
    """The label of an image; one that is on its way to the disk was given by this person just now."""
    code = int(state.label_class[state.position(image_id)])
    if code == NO_CLASS:
        return None
    class_id = None if code == UNKNOWN else code
    if known is not None and known.class_id == class_id:
        return known
    from engine.project.clock import person_name
    from engine.project.records import Label

    return Label(image_id, class_id, person_name(), datetime.now(UTC), "")
