"""The inspector's sentences, in the person's language."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QLocale

from app.inspector.logic import Certainty, ClassPageFacts, ImageFacts, ShareRow, ShareSource, Teaching, teaching
from app.texts import fill, translate
from app.wording import images, moment_text, percent

if TYPE_CHECKING:
    from engine.graph.category_graph import CategoryGraph
    from engine.project.records import Label

SYNONYMS_NAMED: Final = 6


def label_title(graph: CategoryGraph, label: Label | None) -> str:
    """The person's word on an image."""
    if label is None:
        return translate("inspector", "Not labelled yet")
    if label.class_id is None:
        return translate("inspector", "None of the classes")
    return graph.name(label.class_id) if label.class_id in graph else translate("inspector", "A removed class")


def label_origin(label: Label) -> str:
    """Who said it and when: `anna, 3 May 2026 14:02`."""
    return f"{label.who}, {moment_text(label.when)}"


def certainty_text(facts: ImageFacts) -> str:  # noqa: PLR0911 (one sentence for each case)
    """What the program thinks of the image, in one or two short sentences."""
    best = facts.tops[0].name if facts.tops else ""
    match facts.certainty:
        case Certainty.FAILED:
            return translate(
                "inspector", "This file cannot be read. It stays in the list of failures; nothing else is affected."
            )
        case Certainty.WAITING:
            return translate("inspector", "Not embedded yet. Its prediction appears as soon as it is.")
        case Certainty.NOTHING_LEARNED:
            return translate("inspector", "No class has an image yet. Label one, and predictions appear at once.")
        case Certainty.UNKNOWN:
            return translate("inspector", "Unknown: it does not look like any of the classes.")
        case Certainty.NOTHING_SAFE:
            return fill(translate("inspector", "Not sure of any class. %1 is only the best guess."), best)
        case Certainty.LEAF:
            return translate("inspector", "Sure down to the most specific class.")
        case Certainty.COARSE:
            safe = facts.safe.name if facts.safe else ""
            return fill(
                translate("inspector", "Sure that it is %1. Below that, %2 is only the best guess."), safe, best
            )


def condition_text() -> str:
    """What the scores of an unknown image are under: they share 1 among the classes, whatever the image shows."""
    return translate("inspector", "If it is one of the classes after all:")


def why_title(facts: ImageFacts) -> str:
    """Heading of the reasons."""
    if facts.certainty is Certainty.UNKNOWN:
        return translate("inspector", "Why unknown")
    return fill(translate("inspector", "Why %1"), facts.why_name)


def _distance_text(facts: ImageFacts) -> str:
    """How far it is from the class that it would be; more than the limit, or it would not be unknown."""
    ratio = QLocale().toString(facts.distance_ratio or 1.0, "f", 2)
    return fill(
        translate(
            "inspector",
            "Its distance from %2 is %1 times the limit beyond which an image counts as unknown. "
            "The prototype of %2 was learned from these images:",
        ),
        ratio,
        facts.why_name,
    )


def share_title(row: ShareRow) -> str:
    """Who taught this share of a prototype."""
    if row.source is ShareSource.UNLABELLED:
        return translate("inspector", "Unlabelled images")
    if row.source is ShareSource.COARSE:
        return fill(translate("inspector", "Labelled only as %1"), row.name)
    if row.class_id is None:
        return translate("inspector", "Its own images")
    return fill(translate("inspector", "From %1"), row.name)


def why_text(facts: ImageFacts) -> str:
    """Why this class: where its prototype comes from."""
    if not facts.shares:
        return ""
    if facts.certainty is Certainty.UNKNOWN:
        return _distance_text(facts)
    has_own = any(row.class_id is None and row.source is ShareSource.LABELLED for row in facts.shares)
    if not has_own and all(row.source is ShareSource.LABELLED for row in facts.shares):
        return fill(
            translate("inspector", "%1 has no images of its own: its prototype comes from its parents."),
            facts.why_name,
        )
    if len(facts.shares) == 1 and has_own:
        return fill(translate("inspector", "The prototype of %1 comes from its own images alone."), facts.why_name)
    return fill(translate("inspector", "The prototype of %1 was learned from these images:"), facts.why_name)


def look_alikes_text(facts: ImageFacts) -> str:
    """How far the prediction follows the images that this one looks most like; empty where it does not."""
    if not facts.look_alikes:
        return ""
    return fill(
        translate("inspector", "%1 of the prediction comes from the most similar images:"),
        percent(facts.look_alike_share),
    )


def teaching_text(facts: ClassPageFacts) -> str:  # noqa: PLR0911 (one sentence for each case)
    """What a class's prototype is made of, in words."""
    own, rest = percent(facts.own_share), percent(1 - facts.own_share)
    match teaching(facts):
        case Teaching.NOTHING:
            return translate(
                "inspector", "It has no images yet. Drop 1 to 10 on it, or put it under a class that has some."
            )
        case Teaching.PARENTS_ONLY:
            return translate("inspector", "It has no images of its own: its prototype comes from its parents alone.")
        case Teaching.FROM_BELOW:
            return translate(
                "inspector", "It has no images of its own: its prototype comes from those of the classes below it."
            )
        case Teaching.OWN_ONLY:
            return translate("inspector", "Its prototype comes from its own images alone.")
        case Teaching.MOSTLY_OWN:
            return fill(
                translate(
                    "inspector", "Its prototype comes almost entirely from its own images (%1); its parents add %2."
                ),
                own,
                rest,
            )
        case Teaching.MOSTLY_PARENTS:
            return fill(
                translate(
                    "inspector", "Its prototype comes almost entirely from its parents (%2); its own images add %1."
                ),
                own,
                rest,
            )
        case Teaching.BOTH:
            return fill(
                translate("inspector", "%1 of its prototype comes from its own images, %2 from its parents."), own, rest
            )


def counts_text(facts: ClassPageFacts) -> str:
    """`3 shots · 41 images`."""
    shots = (
        translate("inspector", "1 shot")
        if len(facts.shots) == 1
        else fill(translate("inspector", "%1 shots"), QLocale().toString(len(facts.shots)))
    )
    return f"{shots}  ·  {images(facts.image_count)}"


def aliases_text(facts: ClassPageFacts) -> str:
    """`Also called Tinca tinca  ·  id n01440764`; empty where the class has neither synonyms nor a source id."""
    synonyms = facts.aliases.synonyms
    more = len(synonyms) - SYNONYMS_NAMED
    named = ", ".join(synonyms[:SYNONYMS_NAMED]) + (f" +{more}" if more > 0 else "")
    parts = [fill(translate("inspector", "Also called %1"), named)] if synonyms else []
    if facts.aliases.source_id:
        parts.append(fill(translate("inspector", "id %1"), facts.aliases.source_id))
    return "  ·  ".join(parts)


def bar_text(facts: ClassPageFacts) -> str:
    """What the bar means for this class."""
    if facts.own_bar is None:
        return fill(
            translate("inspector", "Inherited from above: a score of %1 is enough to be safe."), percent(facts.bar)
        )
    return fill(
        translate("inspector", "Set here, for this class and all below it: a score of %1 is enough to be safe."),
        percent(facts.bar),
    )


def candidates_text(count: int) -> str:
    """What to do with the candidates."""
    if count == 1:
        return translate("inspector", "1 candidate. Click it if it is right.")
    return fill(translate("inspector", "%1 candidates. Click the right ones."), QLocale().toString(count))
