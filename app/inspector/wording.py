"""Sentences of the inspector, in the user's language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.inspector.logic import (
    Certainty,
    ClassPageFacts,
    ImageFacts,
    ShareRow,
    ShareSource,
    Teaching,
    teaching,
)
from app.texts import plural, tr
from app.wording import (
    at_most,
    clauses,
    enumeration,
    images,
    moment_text,
    number,
    percent,
    short_reason,
)
from engine.texts import paragraph

if TYPE_CHECKING:
    from engine.evaluation.policy_curve import PolicyCurve
    from engine.graph.category_graph import CategoryGraph
    from engine.project.records import Label

SYNONYMS_NAMED = 6
LONGEST_IN_SENTENCE = 40
_MOSTLY = 0.5  # share of the prediction


def more_places_text(facts: ClassPageFacts) -> str:
    if not facts.more_places:
        return ""
    return plural(
        facts.more_places, "and 1 more place", "and {1} more places", at_most(facts.more_places)
    )


def label_title(graph: CategoryGraph, label: Label | None) -> str:
    if label is None:
        return tr("Not labelled yet")
    if label.class_id is None:
        return tr("Empty") if label.is_empty else tr("None of the classes")
    return graph.shown_name(label.class_id) if label.class_id in graph else tr("A removed class")


def outdated_title(graph: CategoryGraph, label: Label) -> str:
    """`Was Fox`."""
    return tr("Was {1}", label_title(graph, label), about="class")


def label_origin(label: Label) -> str:
    """`anna, 3 May 2026 14:02`."""
    return clauses(label.who, moment_text(label.when))


def certainty_text(facts: ImageFacts, graph: CategoryGraph) -> str:  # noqa: PLR0911
    match facts.certainty:
        case Certainty.FAILED:
            reason = short_reason(facts.failure, facts.path.name) or tr("Could not be read")
            return tr("{1}. Repair or replace the file, then press F5.", reason)
        case Certainty.WAITING:
            return tr("Not analysed yet. Its prediction appears as soon as it is.")
        case Certainty.NOTHING_LEARNED:
            return tr("No image is labelled yet. Label one, and predictions appear.")
        case Certainty.NOT_CLASSIFIED:
            return tr("Not classified yet. Its prediction appears in a moment.")
        case Certainty.BOXED:
            return tr("Its boxes are classified in its place.")
        case Certainty.UNKNOWN:
            return tr("Unlike any class so far")
        case Certainty.NOTHING_SAFE:
            return tr("Not confident of any class")
        case Certainty.LEAF:
            return tr("Confident: {1}", shortened(_safe_name(facts)), about="class")
        case Certainty.COARSE:
            return _coarse_text(facts, graph)


def _safe_name(facts: ImageFacts) -> str:
    return facts.safe.name if facts.safe else ""


def _coarse_text(facts: ImageFacts, graph: CategoryGraph) -> str:
    """`Cat; species uncertain` where the most likely class has a rank."""
    best = facts.tops[0].class_id if facts.tops else None
    rank = graph.attributes(best).rank if best is not None and best in graph else ""
    name = shortened(_safe_name(facts))
    if rank:
        return tr("{1}; {2} uncertain", name, shortened(rank), about="class, rank")
    return tr("{1}; exact class uncertain", name, about="class")


def within_text(facts: ImageFacts) -> str:
    """Heading of the most likely classes below the safe class."""
    return tr("Most likely within {1}:", shortened(_safe_name(facts)), about="class")


def why_title(facts: ImageFacts) -> str:
    if facts.certainty is Certainty.UNKNOWN:
        return tr("Why unknown")
    return tr("Why {1}", shortened(facts.why_name))


def share_title(row: ShareRow) -> str:
    if row.source is ShareSource.UNLABELLED:
        return tr("Unlabelled images")
    if row.source is ShareSource.COARSE:
        return tr("Labelled only as {1}", row.name)
    if row.class_id is None:
        return tr("Its own images")
    return tr("From {1}", row.name, about="class")


def reason_text(facts: ImageFacts) -> str:
    """The explanation in words, for use above its images; empty without an explanation."""
    name = shortened(facts.why_name)
    if not facts.alike and not facts.shares:
        return ""
    if facts.certainty is Certainty.UNKNOWN:
        return tr("Even {1}, the closest class, looks too different:", name, about="class")
    if facts.look_alikes and facts.look_alike_share >= _MOSTLY:
        return tr("Mostly because it looks like these:")
    if facts.look_alikes:
        return tr("Partly because it looks like these:")
    return _learned_from_text(facts)


def learned_text(facts: ImageFacts) -> str:
    """The shares of a prediction, for use above the sources of its class."""
    if not facts.shares:
        return ""
    return paragraph(_portions_text(facts), _learned_from_text(facts))


def _portions_text(facts: ImageFacts) -> str:
    if not facts.look_alikes or facts.certainty is Certainty.UNKNOWN:
        return ""
    return tr(
        "{1} from the images above, {2} from the prototype of {3}.",
        percent(facts.look_alike_share),
        percent(1 - facts.look_alike_share),
        shortened(facts.why_name),
    )


def _learned_from_text(facts: ImageFacts) -> str:
    name = shortened(facts.why_name)
    if not facts.has_own_examples and all(
        row.source is ShareSource.LABELLED for row in facts.shares
    ):
        return tr("{1} has no examples. It was learned from its parents:", name)
    return tr("{1} was learned from:", name)


def examples_text(facts: ClassPageFacts) -> str:
    """The number of examples or their substitute, and the recall of the class."""
    match teaching(facts):
        case Teaching.NOTHING:
            return tr(
                "No examples yet. Drop 1 to 10 images on it, or put it under a class that has some."
            )
        case Teaching.PARENTS_ONLY:
            return tr("No examples yet. It is predicted from its parents alone.")
        case Teaching.FROM_BELOW:
            return paragraph(tr("Learned from the classes below it."), recognised_text(facts))
        case _:
            return recognised_text(facts)


def shares_text(facts: ClassPageFacts) -> str:
    """How much a class with examples learns from its parents."""
    match teaching(facts):
        case Teaching.OWN_ONLY if facts.parents:
            return tr("Learned from its own images alone.")
        case Teaching.BOTH:
            return tr(
                "Learned {1} from its own images, {2} from its parents.",
                percent(facts.own_share),
                percent(1 - facts.own_share),
            )
        case _:
            return ""


def rules_summary(facts: ClassPageFacts) -> str:
    """Summary of collapsed settings: the note, else the minimum confidence."""
    note = " ".join(facts.attributes.note.split())
    return note or tr("Minimum confidence {1}", percent(facts.bar))


def recognised_text(facts: ClassPageFacts) -> str:
    """How well the class is recognised, by its labels; "" where it has none."""
    curve = facts.curve
    if curve is None:
        if len(facts.shots) != 1 or facts.is_zero_shot:
            return ""
        return tr("Accuracy can't be estimated from one label.")
    low, high = curve.recognised_interval
    counted = plural(
        curve.images,
        "Recognised in {1} of 1 label that was held out ({2} to {3}).",
        "Recognised in {1} of {n} labels that were held out ({2} to {3}).",
        number(curve.recognised),
        percent(low),
        percent(high),
    )
    mistaken = (
        tr("Most often mistaken for {1}.", shortened(facts.mistaken_for))
        if facts.mistaken_for
        else ""
    )
    return paragraph(counted, mistaken, _compared_text(curve))


def shortened(name: str) -> str:
    """A name, shortened for use in a sentence."""
    return name if len(name) <= LONGEST_IN_SENTENCE else f"{name[:LONGEST_IN_SENTENCE].rstrip()}…"


def counts_text(facts: ClassPageFacts) -> str:
    shots = plural(len(facts.shots), "1 example", "{n} examples")
    return f"{shots}  ·  {images(facts.image_count)}"


def aliases_text(facts: ClassPageFacts) -> str:
    """`Also called Tinca tinca  ·  id n01440764`; empty without other names and source id."""
    names = facts.other_names
    more = len(names) - SYNONYMS_NAMED
    named = enumeration(names[:SYNONYMS_NAMED]) + (f" +{more}" if more > 0 else "")
    parts = [tr("Also called {1}", named)] if names else []
    if facts.attributes.source_id:
        parts.append(tr("id {1}", facts.attributes.source_id))
    return "  ·  ".join(parts)


def bar_value_text(bar: float, *, is_inherited: bool) -> str:
    return tr("{1} (from parent)", percent(bar)) if is_inherited else percent(bar)


def bar_text(facts: ClassPageFacts) -> str:
    is_broadest, broader = (
        facts.attributes.is_broadest,
        tr("Below this, the broader class is used."),
    )
    rule = tr("Below this, the class is shown with a question mark.") if is_broadest else broader
    if facts.own_bar is not None:
        return paragraph(tr("For this class and all below it."), rule)
    return paragraph(tr("Set on {1}.", facts.bar_from), rule) if facts.bar_from else rule


def curve_text(curve: PolicyCurve, bar: float) -> str:
    """The effect of a minimum confidence, measured on held-out labelled images."""
    point = curve.at(bar)
    named = plural(
        curve.images,
        "At {1}, {2} of 1 held-out image of this class is predicted as it or a class below it.",
        "At {1}, {2} of {n} held-out images of this class are predicted as it or a class below it.",
        percent(bar),
        number(point.found),
    )
    if not point.named:
        return paragraph(named, _compared_text(curve))
    low, high = point.precision_interval
    right = tr(
        "Of all images predicted so, {1} are correct (95% confidence interval {2} to {3}).",
        percent(point.precision),
        percent(low),
        percent(high),
    )
    return paragraph(named, right, _compared_text(curve))


def _compared_text(curve: PolicyCurve) -> str:
    return tr("Only classes with examples were compared.") if curve.has_unseen else ""


def candidates_text(count: int) -> str:
    return plural(
        count, "1 candidate. Click it if it is right.", "{n} candidates. Click the right ones."
    )


def label_ticked_text(count: int, name: str) -> str:
    return tr("Label {1} as {2}", images(count), name)
