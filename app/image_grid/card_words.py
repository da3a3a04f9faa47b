"""Texts of a card: label or prediction, score, and the image's note."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path, PurePath
from typing import final

from app.texts import plural, tr
from app.wording import clauses, enumeration, probability_text, short_reason
from engine.collection.state import BOXED, EMPTY, NO_CLASS, UNKNOWN, CollectionState, ImageStatus
from engine.file_parts import BoundingBox, ImageSource


class Mark(Enum):
    """Kind of a card's title."""

    LABELLED = auto()
    SURE = auto()
    COARSE = auto()
    GUESS = auto()
    UNKNOWN = auto()
    LABELLED_UNKNOWN = auto()
    WAITING = auto()
    FAILED = auto()
    MISSING = auto()
    NOTHING = auto()


# Mark, title, detail and score of a card without any prediction.
_NOTHING_KNOWN = (Mark.NOTHING, "", "", "")


@dataclass(frozen=True)
class Card:
    """Everything a card shows."""

    image_id: int
    source: ImageSource
    mark: Mark  # kind of `title`
    title: str  # the label or prediction
    detail: str  # second line, muted
    score: str  # right of the title; "" for none
    is_missing: bool = False  # whether the file was not found
    stars: int = 0
    is_flagged: bool = False
    has_comment: bool = False
    stack: int = 0  # number of images on a folded card; 0 for a single image
    # Badge on the picture: number of images, or position in an unfolded fold.
    chip: str = ""
    is_replaced: bool = False  # whether the file now has another photo than the labelled one
    boxes: tuple[BoundingBox, ...] = ()  # boxes in the picture
    label_key: int = 0  # digit key of the predicted class; 0 for none

    @property
    def path(self) -> Path:
        """Path of the file."""
        return self.source.path


def stack_text(card: Card) -> str:
    """Number of images on a folded card, for screen readers."""
    return plural(card.stack, "stands for {n} image", "stands for {n} images") if card.stack else ""


def noted_text(card: Card) -> str:
    """Stars, flag and comment, for screen readers."""
    stars = plural(card.stars, "1 star", "{n} stars") if card.stars else ""
    flag = tr("flagged") if card.is_flagged else ""
    comment = tr("with a comment") if card.has_comment else ""
    return clauses(stars, flag, comment)


@final
class CardWords:
    """Texts of cards; names and keys of classes come from callables."""

    def __init__(
        self, name_of: Callable[[int], str], key_of: Callable[[int], int] = lambda _class_id: 0
    ) -> None:
        self._name_of, self._key_of = name_of, key_of

    def key_of(self, state: CollectionState, place: int) -> int:
        """Digit key of the class that a card proposes first; 0 for none."""
        best, safe = int(state.best_class[place]), int(state.safe_class[place])
        is_open = state.is_unlabelled[place] and best != NO_CLASS
        headline = best if safe == NO_CLASS or state.is_unknown[place] else safe
        return self._key_of(headline) if is_open else 0

    def of(self, state: CollectionState, place: int) -> tuple[Mark, str, str, str]:
        """Mark, title, detail and score of the image at a position of the state."""
        label = int(state.label_class[place])
        if label == UNKNOWN:
            return Mark.LABELLED_UNKNOWN, tr("None of the classes"), "", ""
        if label == EMPTY:
            return Mark.LABELLED_UNKNOWN, tr("Empty"), "", ""
        if label == BOXED:
            return Mark.NOTHING, self._things_text(state, place), "", ""
        if label != NO_CLASS:
            return Mark.LABELLED, self._class_title(label), "", ""
        return self._machine_words(state, place)

    def _things_text(self, state: CollectionState, place: int) -> str:
        """`2 boxes`, or the classes of labelled boxes: `Fox, Badger`."""
        image_id = int(state.image_ids[place])
        places = [
            state.position(each) for each in state.items_of_file(image_id) if each != image_id
        ]
        labels = dict.fromkeys(int(state.label_class[each]) for each in places)
        names = [self._name_of(each) for each in labels if each >= 0]
        return enumeration(names) if names else plural(len(places), "1 box", "{n} boxes")

    def _machine_words(self, state: CollectionState, place: int) -> tuple[Mark, str, str, str]:
        if state.status[place] == ImageStatus.FAILED:
            name = PurePath(state.paths[place]).name
            return (
                Mark.FAILED,
                name,
                short_reason(state.failures.get(int(state.image_ids[place]), ""), name),
                "",
            )
        if state.status[place] == ImageStatus.WAITING:
            is_known = not state.is_list_only
            return (
                (Mark.WAITING, tr("Waiting", about="an image"), "", "")
                if is_known
                else _NOTHING_KNOWN
            )
        return self._prediction(state, place)

    def _prediction(self, state: CollectionState, place: int) -> tuple[Mark, str, str, str]:
        best, safe = int(state.best_class[place]), int(state.safe_class[place])
        if best == NO_CLASS:
            # With labels, predictions are being computed.
            return (
                _NOTHING_KNOWN
                if state.shot_counts
                else (Mark.NOTHING, tr("No prediction yet"), "", "")
            )
        score = probability_text(float(state.best_score[place]))
        guess = tr("{1}?", self._class_title(best))
        if state.is_unknown[place]:
            return Mark.UNKNOWN, guess, tr("may be something else"), score
        if safe == best:
            return Mark.SURE, self._class_title(best), "", score
        if safe != NO_CLASS:
            return (
                Mark.COARSE,
                self._class_title(safe),
                f"{guess} {score}",
                probability_text(float(state.safe_score[place])),
            )
        return Mark.GUESS, guess, tr("not sure"), score

    def _class_title(self, class_id: int) -> str:
        """A class name; in quotes if it equals a term of the program."""
        name = self._name_of(class_id)
        own_words = {tr("Unknown").casefold(), tr("None of the classes").casefold()}
        return tr("“{1}”", name) if name.casefold() in own_words else name
