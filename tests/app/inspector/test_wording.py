"""Texts of the inspector."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.inspector.logic import (
    Certainty,
    ClassPageFacts,
    ImageFacts,
    ScoreRow,
    ShareRow,
    ShareSource,
)
from app.inspector.wording import (
    LONGEST_IN_SENTENCE,
    aliases_text,
    bar_text,
    bar_value_text,
    candidates_text,
    certainty_text,
    counts_text,
    examples_text,
    label_origin,
    label_title,
    learned_text,
    reason_text,
    recognised_text,
    rules_summary,
    share_title,
    shares_text,
    shortened,
)
from engine.evaluation.policy_curve import PolicyCurve
from engine.file_parts import ImageSource
from engine.graph.class_attributes import ClassAttributes
from engine.project.records import Label
from tests.support.graphs import seaside_graph

NOON = datetime(2026, 5, 3, 12, 2, tzinfo=UTC)
GRAPH = seaside_graph()
GULL, BIRD = ScoreRow(4, "Gull", "Animal / Bird", 0.6), ScoreRow(2, "Bird", "Animal", 0.95)
OWN, PARENT = ShareRow(None, "Gull", 0.6, (7,)), ShareRow(2, "Bird", 0.4, (8,))


def image(certainty: Certainty, *, shares: tuple[ShareRow, ...] = ()) -> ImageFacts:
    """Facts of an image that is probably a gull and certainly a bird."""
    return ImageFacts(
        11, ImageSource(Path("a.png")), certainty, None, (GULL,), BIRD, "Gull", shares
    )


def a_class(**changes: object) -> ClassPageFacts:
    """Facts of Gull."""
    facts = ClassPageFacts(
        4, "Gull", ("Animal / Bird",), 41, (11, 12, 13), 0.6, False, (BIRD,), 0.8, None, (), ()
    )
    return replace(facts, **changes)  # type: ignore[arg-type]


def words_of(facts: ImageFacts) -> str:
    """The text about the certainty of a prediction."""
    return certainty_text(facts, GRAPH)


@pytest.mark.parametrize("certainty", list(Certainty))
def test_every_case_has_a_sentence_of_its_own(certainty: Certainty) -> None:
    """All texts differ."""
    text = words_of(image(certainty))
    assert text
    assert [other for other in Certainty if words_of(image(other)) == text] == [certainty]


def test_c14_what_it_is_in_plain_words() -> None:
    """Confident of the class or of a broader one; the rank of the most likely class is named."""
    leaf = replace(image(Certainty.LEAF), safe=GULL)
    assert words_of(leaf) == "Confident: Gull"
    assert words_of(image(Certainty.COARSE)) == "Bird; exact class uncertain"
    graph = seaside_graph()
    graph.set_attributes(GULL.class_id, ClassAttributes(rank="species"))
    assert certainty_text(image(Certainty.COARSE), graph) == "Bird; species uncertain"
    assert words_of(image(Certainty.UNKNOWN)) == "Unlike any class so far"


def test_a_file_that_could_not_be_read_has_its_reason() -> None:
    """The same as on its card, with the remedy."""
    failed = replace(image(Certainty.FAILED), failure="the file is empty")
    assert words_of(failed) == "Empty file. Repair or replace the file, then press F5."
    assert words_of(replace(failed, failure="")).startswith("Could not be read. ")


def test_labels_say_what_who_and_when() -> None:
    """The label with its source; a removed class is marked."""
    graph = seaside_graph()
    label = Label(11, graph.find("Gull"), "ada", NOON, "review")
    assert label_title(graph, label) == "Gull"
    assert label_title(graph, None) == "Not labelled yet"
    assert label_title(graph, replace(label, class_id=None)) == "None of the classes"
    assert label_title(graph, replace(label, class_id=999)) == "A removed class"
    assert label_origin(label).startswith("ada, ")
    assert "26" in label_origin(label)


def test_why_depends_on_what_it_was_learned_from() -> None:
    """The reason names own images, parents, or both; "" without an explanation."""
    texts = [
        learned_text(image(Certainty.LEAF, shares=shares))
        for shares in ((), (OWN,), (PARENT,), (OWN, PARENT))
    ]
    learned, from_parents = (
        "Gull was learned from:",
        "Gull has no examples. It was learned from its parents:",
    )
    assert texts == ["", learned, from_parents, learned]
    assert [share_title(row) for row in (OWN, PARENT)] == ["Its own images", "From Bird"]


def test_an_unknown_image_has_one_story() -> None:
    """It is too far from the nearest class; shares of a prediction are not mentioned."""
    facts = replace(image(Certainty.UNKNOWN, shares=(OWN,)), look_alikes=(5,), look_alike_share=0.9)
    assert reason_text(facts) == "Even Gull, the closest class, looks too different:"
    assert facts.alike == OWN.image_ids
    assert learned_text(facts) == "Gull was learned from:"


@pytest.mark.parametrize(
    ("changes", "examples", "shares"),
    [
        ({}, "", "Learned 60% from its own images, 40% from its parents."),
        ({"own_share": 1.0}, "", "Learned from its own images alone."),
        ({"parents": ()}, "", ""),
        ({"shots": ()}, "Learned from the classes below it.", ""),
        ({"is_zero_shot": True}, "No examples yet. It is predicted from its parents alone.", ""),
        (
            {"is_zero_shot": True, "parents": ()},
            "No examples yet. Drop 1 to 10 images on it, or put it under a class that has some.",
            "",
        ),
        (
            {"is_zero_shot": True, "parents": (replace(BIRD, score=0.0),)},
            "No examples yet. Drop 1 to 10 images on it, or put it under a class that has some.",
            "",
        ),
    ],
)
def test_what_teaches_a_class_in_words(
    changes: dict[str, object], examples: str, shares: str
) -> None:
    """Its examples, and lambda as a sentence."""
    facts = a_class(**changes)
    assert examples_text(facts).removesuffix(recognised_text(facts)).strip() == examples
    assert shares_text(facts) == shares


def test_closed_rules_show_the_note_or_the_confidence() -> None:
    """The summary is one line, also if the note has several."""
    assert rules_summary(a_class()) == "Minimum confidence 80%"
    noted = a_class(attributes=ClassAttributes(note="Grey back,\nyellow beak"))
    assert rules_summary(noted) == "Grey back, yellow beak"


def test_how_well_a_class_is_recognised() -> None:
    """The text has a confidence interval; a single label shows nothing."""
    curve = PolicyCurve(4, 9, (), recognised=7)
    counted = "Recognised in 7 of 9 labels that were held out (45% to 94%)."
    assert recognised_text(a_class(curve=curve)) == counted
    assert (
        recognised_text(a_class(curve=curve, mistaken_for="Tern"))
        == f"{counted} Most often mistaken for Tern."
    )
    partly = recognised_text(a_class(curve=replace(curve, has_unseen=True)))
    assert partly == f"{counted} Only classes with examples were compared."
    assert recognised_text(a_class(shots=(11,))) == "Accuracy can't be estimated from one label."
    assert recognised_text(a_class(shots=(), is_zero_shot=True)) == ""


def test_counts_confidence_and_candidates() -> None:
    """Singular and plural; an inherited confidence is marked."""
    assert counts_text(a_class()) == "3 examples  ·  41 images"
    assert counts_text(a_class(shots=(1,), image_count=1)) == "1 example  ·  1 image"
    assert [bar_value_text(0.8, is_inherited=inherits) for inherits in (True, False)] == [
        "80% (from parent)",
        "80%",
    ]
    assert bar_text(a_class()) == "Below this, the broader class is used."
    assert bar_text(a_class(own_bar=0.9, bar=0.9)).startswith("For this class and all below it.")
    assert candidates_text(1).startswith("1 candidate.")
    assert candidates_text(12).startswith("12 candidates.")


def test_what_the_collection_taught_has_words() -> None:
    """Unlabelled images and coarse labels."""
    unlabelled = ShareRow(None, "", 0.4, (), ShareSource.UNLABELLED)
    coarse = ShareRow(2, "Bird", 0.3, (9,), ShareSource.COARSE)
    assert share_title(unlabelled) == "Unlabelled images"
    assert share_title(coarse) == "Labelled only as Bird"
    for shares in ((OWN, unlabelled), (coarse, unlabelled), (unlabelled,)):
        assert learned_text(image(Certainty.LEAF, shares=shares)) == "Gull was learned from:"


def test_c14_look_alikes_are_the_reason_and_shares_are_details() -> None:
    """Their share of the prediction is put as "mostly" or "partly"."""
    facts = replace(image(Certainty.LEAF, shares=(OWN,)), look_alikes=(5, 8), look_alike_share=0.9)
    assert reason_text(facts) == "Mostly because it looks like these:"
    assert facts.alike == (5, 8)
    portions = "90% from the images above, 10% from the prototype of Gull."
    assert learned_text(facts) == f"{portions} Gull was learned from:"
    assert (
        reason_text(replace(facts, look_alike_share=0.3)) == "Partly because it looks like these:"
    )
    alone = image(Certainty.LEAF, shares=(OWN,))
    assert (reason_text(alone), alone.alike) == ("Gull was learned from:", OWN.image_ids)
    assert reason_text(image(Certainty.LEAF)) == ""


@pytest.mark.parametrize(
    ("aliases", "text"),
    [
        (ClassAttributes(), ""),
        (ClassAttributes("n1"), "id n1"),
        (ClassAttributes(synonyms=("Larus", "mew")), "Also called Larus, mew"),
        (ClassAttributes("n1", tuple("abcdefgh")), "Also called a, b, c, d, e, f +2  ·  id n1"),
    ],
)
def test_what_else_a_class_is_called(aliases: ClassAttributes, text: str) -> None:
    """Up to six synonyms and the source id are listed; "" without any."""
    assert aliases_text(a_class(attributes=aliases)) == text


def test_a_long_name_does_not_bury_its_sentence() -> None:
    """It is elided; a name of usual length is not."""
    assert shortened("Seven-spot ladybird") == "Seven-spot ladybird"
    assert shortened("x" * 200) == "x" * LONGEST_IN_SENTENCE + "…"
