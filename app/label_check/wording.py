"""Texts of the label check."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from app.placeholder import PlaceholderTexts
from app.texts import day_text, fill, plural, shortened, tr
from app.wording import enumeration, in_sentences, number, probability_text
from engine.graph.codes import UNKNOWN
from engine.review.label_check import LabelCheck, SuspectLabel, SuspectReason

if TYPE_CHECKING:
    from engine.project import Label

NameOf = Callable[[int], str]
LONGEST = 28  # maximum length of a class's name on a button
MOST_NAMED = 6  # classes
MOST_VOTES = 3  # classes with a count; the rest is "others"


def title_text(count: int) -> str:
    """Title of the page."""
    return (
        plural(count, "Check labels: 1 left", "Check labels: {n} left")
        if count
        else tr("Check labels")
    )


def command_text(count: int) -> str:
    """Title of the action in the menu."""
    return plural(count, "Check labels (1)", "Check labels ({n})") if count else tr("Check labels")


def row_texts(suspect: SuspectLabel, name_of: NameOf) -> tuple[str, str, str]:
    """Label, proposed class and probability of an error, for a row of the list."""
    return (
        name_of(suspect.label),
        tr("→ {1}", name_of(suspect.proposed)),
        probability_text(suspect.probability),
    )


def labelled_text(suspect: SuspectLabel, name_of: NameOf) -> str:
    """Heading of the images of the current label."""
    if suspect.label == UNKNOWN:
        return tr("Labelled as none of the classes")
    return tr("Labelled {1}", name_of(suspect.label))


def by_text(label: Label | None) -> str:
    """Author and date of the label; "" until it has been read."""
    if label is None:
        return ""
    day = day_text(label.when.astimezone())
    return tr("by {1}, {2}", shortened(label.who, LONGEST), day) if label.who else day


def looks_text(suspect: SuspectLabel, name_of: NameOf) -> str:
    if suspect.proposed == UNKNOWN:
        return tr("Looks like none of the classes")
    return tr("Looks like {1}", name_of(suspect.proposed))


def reason_text(suspect: SuspectLabel, name_of: NameOf) -> str:
    """Reason for the suspicion as a sentence."""
    match suspect.reason:
        case SuspectReason.TWIN:
            text = tr("Nearly the same image is labelled {1}: one of the two is wrong.")
            return fill(text, _label_of_twin(suspect, name_of))
        case SuspectReason.NEIGHBOURS:
            count = sum(votes for _class_id, votes in suspect.votes)
            if len(suspect.votes) == 1:
                return plural(
                    count,
                    "Its nearest labelled look-alike is {1}.",
                    "Its {n} nearest labelled look-alikes are all {1}.",
                    name_of(suspect.votes[0][0]),
                )
            votes = _votes_text(suspect, name_of)
            return plural(
                count,
                "Its nearest labelled look-alike: {1}.",
                "Its {n} nearest labelled look-alikes: {1}.",
                votes,
            )
        case _:
            text = tr("Without this label the model predicts {1}, {2}.")
            return fill(text, name_of(suspect.proposed), probability_text(suspect.score))


def _label_of_twin(suspect: SuspectLabel, name_of: NameOf) -> str:
    return tr("none of the classes") if suspect.proposed == UNKNOWN else name_of(suspect.proposed)


def _votes_text(suspect: SuspectLabel, name_of: NameOf) -> str:
    """`9 Fox, 1 Dog`."""
    shown = [
        tr("{1} {2}", number(votes), name_of(class_id))
        for class_id, votes in suspect.votes[:MOST_VOTES]
    ]
    rest = sum(votes for _class_id, votes in suspect.votes[MOST_VOTES:])
    if rest:
        shown.append(plural(rest, "1 other", "{n} others"))
    return enumeration(shown)


def relabel_text(suspect: SuspectLabel, name_of: NameOf) -> str:
    if suspect.proposed == UNKNOWN:
        return tr("Label as none of the classes")
    return tr("Relabel as {1}", shortened(name_of(suspect.proposed), LONGEST))


def keep_text(suspect: SuspectLabel, name_of: NameOf) -> str:
    if suspect.label == UNKNOWN:
        return tr("Keep none of the classes")
    return tr("Keep {1}", shortened(name_of(suspect.label), LONGEST))


def several_texts(count: int) -> tuple[str, str]:
    """Texts of the buttons to relabel and keep several selected labels."""
    return (
        plural(count, "Relabel 1 as proposed", "Relabel {n} as proposed"),
        plural(count, "Keep 1 label", "Keep {n} labels"),
    )


def judged_text(found: LabelCheck, name_of: NameOf) -> str:
    """`18 of 24 labels could be judged. 2 classes have too few labels: Pear`; "" if all were."""
    if found.judged == found.labels:
        return ""
    judged = plural(
        found.labels,
        "{1} of 1 label could be judged",
        "{1} of {n} labels could be judged",
        number(found.judged),
    )
    if not found.too_few:
        return judged
    more = len(found.too_few) - MOST_NAMED
    names = enumeration(shortened(name_of(each), LONGEST) for each in found.too_few[:MOST_NAMED])
    few = plural(
        len(found.too_few),
        "1 class has too few labels: {1}",
        "{n} classes have too few labels: {1}",
        f"{names} +{number(more)}" if more > 0 else names,
    )
    return in_sentences(judged, few)


def emptiness_of(found: LabelCheck, settled: int, name_of: NameOf) -> PlaceholderTexts:
    """Placeholder: why there is no suspect, and what to do."""
    if found.labels_missing:
        text = plural(
            found.labels_missing, "Label 1 more image first.", "Label {n} more images first."
        )
        return PlaceholderTexts("label", tr("Too few labels to check"), text)
    if not found.has_enough:
        text = tr("Label images of a second class: labels are checked by comparing classes.")
        return PlaceholderTexts("label", tr("All labels are of one class"), text)
    if partly := judged_text(found, name_of):
        none_wrong = tr("No label that could be judged looks wrong")
        return PlaceholderTexts(
            "label", none_wrong if found.judged else tr("No label could be judged"), partly
        )
    if settled:
        text = plural(settled, "You looked at 1 label.", "You looked at {n} labels.")
        return PlaceholderTexts(
            "check_circle", tr("No other label looks wrong"), text, is_good=True
        )
    text = plural(found.labels, "1 label was checked.", "{n} labels were checked.")
    return PlaceholderTexts("check_circle", tr("No label looks wrong"), text, is_good=True)


def searching() -> PlaceholderTexts:
    text = tr("Each label is compared with images that look alike.")
    return PlaceholderTexts("search", tr("Checking labels…"), text, is_working=True)
