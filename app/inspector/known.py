"""What can be said of an image before the project thread has answered: its card shows as much. No Qt."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from engine.collection.state import NO_CLASS, UNKNOWN, CollectionState, ImageStatus

if TYPE_CHECKING:  # these load numpy and more; the window shows first
    from engine.collection.answers import Guess
    from engine.collection.explain import ScoredClass
    from engine.project import Label


def label_shown(state: CollectionState, place: int, guess: "Guess | None") -> "Label | None":
    """The label at a place of the state; one that is on its way to the disk was given by this person just now."""
    code = int(state.label_class[place])
    if code == NO_CLASS:
        return None
    class_id = None if code == UNKNOWN else code
    if guess is not None and guess.label is not None and guess.label.class_id == class_id:
        return guess.label
    from engine.project.clock import person_name
    from engine.project.records import Label

    return Label(int(state.image_ids[place]), class_id, person_name(), datetime.now(UTC), "")


def likeliest_on_card(state: CollectionState, place: int) -> "tuple[ScoredClass, ...]":
    """The likeliest class, as it stands on the card; the others are on their way."""
    best = int(state.best_class[place])
    if best == NO_CLASS or state.status[place] != ImageStatus.READY:
        return ()
    from engine.collection.explain import ScoredClass

    return (ScoredClass(best, float(state.best_score[place])),)
