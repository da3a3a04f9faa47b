"""Texts of the suggestions about the graph, translated and localized."""

from collections.abc import Callable
from dataclasses import dataclass

from app.texts import fill, plural, shortened, tr
from app.wording import enumeration, number, probability_text
from engine.collection.graph_suggestions.pairs import Mixed, Twins
from engine.collection.graph_suggestions.parents import PlacementCheck, Stray
from engine.collection.graph_suggestions.suggestion import (
    GraphSuggestion,
    PossibleParents,
    UnderlabelledClass,
)
from engine.texts import paragraph

NameOf = Callable[[int], str]
LONGEST = 24  # characters of a class name on a button


@dataclass(frozen=True)
class SuggestionWords:
    """Texts of a card."""

    title: str  # the suggestion, a sentence without a full stop
    reason: str  # the reason, with figures
    # Labels of the buttons, most likely first; an underlabelled class can only be shown.
    choices: tuple[str, ...]
    captions: tuple[str, ...]  # caption of each strip of images
    changes_project: bool  # whether the buttons change the project rather than show something


def words_of(suggestion: GraphSuggestion, name_of: NameOf) -> SuggestionWords:
    subject = suggestion.subject
    match subject:
        case PossibleParents():
            title, reason, choices = _place(subject, name_of)
        case Stray():
            title, reason, choices = _stray(subject, name_of)
        case Twins():
            title, reason, choices = _twins(subject, name_of)
        case Mixed():
            title, reason, choices = _mixed(subject, name_of)
        case UnderlabelledClass():
            title, reason, choices = _underlabelled(subject, name_of)
    captions = _captions(suggestion, name_of)
    changes_project = not isinstance(subject, UnderlabelledClass)
    return SuggestionWords(title, reason, choices, captions, changes_project)


def _place(suggestion: PossibleParents, name_of: NameOf) -> tuple[str, str, tuple[str, ...]]:
    first = name_of(suggestion.parents[0].class_id)
    title = tr("{1} may belong under {2}", name_of(suggestion.class_id), first)
    shares = enumeration(
        tr("{1} ({2})", name_of(one.class_id), probability_text(one.score))
        for one in suggestion.parents
    )
    reason = tr("Its images look most like those of classes under {1}.", shares)
    return title, reason, tuple(_move_text(one.class_id, name_of) for one in suggestion.parents)


def _stray(stray: Stray, name_of: NameOf) -> tuple[str, str, tuple[str, ...]]:
    here, there = name_of(stray.from_parent), name_of(stray.to_parent)
    title = tr("{1} may belong under {2} instead of {3}", name_of(stray.class_id), there, here)
    reason = tr(
        "Its images look like those of classes under {1} ({2}), not like those under {3} ({4})."
    )
    reason = fill(
        reason, there, probability_text(stray.score), here, probability_text(stray.present)
    )
    return title, reason, (_move_text(stray.to_parent, name_of),)


def _twins(twins: Twins, name_of: NameOf) -> tuple[str, str, tuple[str, ...]]:
    smaller, larger = name_of(twins.class_id), name_of(twins.other_id)
    title = tr("{1} and {2} look like one class", smaller, larger)
    reason = plural(
        twins.similarity.confused,
        "Of {1} images, 1 is more like the other class than like the rest of its own.",
        "Of {1} images, {n} look more like the other class than like their own.",
        number(twins.similarity.count),
    )
    return title, reason, (tr("Merge into {1}", shortened(larger, LONGEST)),)


def _mixed(mixed: Mixed, name_of: NameOf) -> tuple[str, str, tuple[str, ...]]:
    title = tr("{1} looks like two classes", name_of(mixed.class_id))
    sizes = (number(len(kind)) for kind in mixed.kinds)
    reason = tr(
        "Its images fall into groups of {1} and {2} that look like different classes.", *sizes
    )
    return title, reason, (tr("Split into two classes"),)


def _underlabelled(found: UnderlabelledClass, name_of: NameOf) -> tuple[str, str, tuple[str, ...]]:
    title = plural(
        found.helped,
        "3 more examples of {1} would help about 1 image",
        "3 more examples of {1} would help about {n} images",
        name_of(found.class_id),
    )
    examples = plural(found.shots, "It has 1 example.", "It has {n} examples.")
    if not found.shots:
        examples = tr("It has no examples yet.")
    undecided = plural(
        len(found.undecided),
        "1 image probably belongs to it.",
        "{n} images probably belong to it.",
    )
    reason = paragraph(examples, undecided)
    return title, reason, (tr("Show the class"),)


def _move_text(parent_id: int, name_of: NameOf) -> str:
    return tr("Move under {1}", shortened(name_of(parent_id), LONGEST))


def _captions(suggestion: GraphSuggestion, name_of: NameOf) -> tuple[str, ...]:
    """Captions of the strips; two strips of one class are numbered."""
    classes = [each.class_id for each in suggestion.evidence]
    if len(classes) > 1 and len(set(classes)) == 1:
        numbered = tr("{1}, kind {2}")
        return tuple(
            fill(numbered, name_of(each), number(place))
            for place, each in enumerate(classes, start=1)
        )
    return tuple(name_of(each) for each in classes)


def more_line(count: int) -> str:
    return plural(
        count, "1 more follows when these are done.", "{n} more follow when these are done."
    )


def check_line(check: PlacementCheck) -> str:
    if not check.asked:
        return ""
    return plural(
        check.asked,
        "How reliable is this? Tested on 1 class of your graph: the correct parent is first in "
        "{1}, in the first three in {2}. By chance it would be first in {3}.",
        "How reliable is this? Tested on {n} classes of your graph: the correct parent is first in "
        "{1}, in the first three in {2}. By chance it would be first in {3}.",
        number(check.first),
        number(check.among_three),
        number(round(check.by_chance)),
    )


def dismissed_line(count: int) -> str:
    return plural(
        count, "Show 1 dismissed suggestion again", "Show {n} dismissed suggestions again"
    )
