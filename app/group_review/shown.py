"""Texts and cards of a group. No widgets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from app.group_review.view import GroupWords
from app.group_review.wording import done_text, errors_text, heading, left_out_text, place_text
from app.image_grid.card_words import Card, Mark
from app.placeholder import PlaceholderTexts
from app.texts import plural, tr
from app.wording import clauses, images, probability_text
from engine.collection.state import NO_CLASS, CollectionState, ImageStatus

if TYPE_CHECKING:
    from app.group_review.logic import Review
    from engine.collection.review_groups import ReviewGroup
    from engine.graph.category_graph import CategoryGraph

SURE = 0.8  # probability from which a card's class has no question mark


def words_of(state: CollectionState, graph: CategoryGraph, review: Review) -> GroupWords:
    group = review.current
    assert group is not None, "a group is shown"
    is_named = group.class_id != NO_CLASS and group.class_id in graph
    name = graph.shown_name(group.class_id) if is_named else ""
    ticked = len(review.ticked)
    tops = [top for top in group.tops if top.class_id in graph]
    has_coarse = group.coarse_id != NO_CLASS and group.coarse_id in graph
    return GroupWords(
        heading(ticked, name, is_branch=group.branch != NO_CLASS),
        tuple(_facts(state, graph, review, group)),
        place_text(review.position, review.count),
        tuple(f"{graph.shown_name(top.class_id)} {probability_text(top.score)}" for top in tops),
        graph.shown_name(group.coarse_id)
        if has_coarse and group.coarse_id != group.class_id
        else "",
        group.odd,
        _done(state, review),
        cards_of(state, graph, group),
        frozenset(review.left_out),
    )


def _facts(
    state: CollectionState, graph: CategoryGraph, review: Review, group: ReviewGroup
) -> list[str]:
    facts = []
    if group.class_id != NO_CLASS:
        errors = zip(group.image_ids, group.errors, strict=True)
        facts.append(
            errors_text(sum(error for image_id, error in errors if image_id not in review.left_out))
        )
    if review.left_out:
        facts.append(left_out_text(len(review.left_out)))
    if group.branch != NO_CLASS and group.branch in graph:
        facts.append(tr("finer classes of {1}", graph.shown_name(group.branch)))
    if group.is_held_back:
        facts.append(
            plural(
                state.shot_counts.get(group.class_id, 0),
                "a few to look at: 1 label so far",
                "a few to look at: {n} labels so far",
            )
        )
    if group.settles > len(group.image_ids):
        facts.append(plural(group.settles, "settles about 1 image", "settles about {n} images"))
    return facts


def _done(state: CollectionState, review: Review) -> str:
    left = tr("{1} left", images(int(np.count_nonzero(state.label_class == NO_CLASS))))
    return clauses(
        left, done_text(len(review.decisions), review.labelled) if review.decisions else ""
    )


def cards_of(state: CollectionState, graph: CategoryGraph, group: ReviewGroup) -> tuple[Card, ...]:
    """Cards with the probability of being correct; without a class only pictures."""
    is_named = group.class_id != NO_CLASS and group.class_id in graph
    cards = []
    for place, image_id in enumerate(group.image_ids):
        error = group.errors[place] if is_named else 1.0
        mark = Mark.SURE if 1 - error >= SURE else Mark.GUESS
        cards.append(
            Card(
                image_id,
                state.source_of(image_id),
                mark,
                probability_text(1 - error) if is_named else "",
                "",
                "",
            )
        )
    return tuple(cards)


def empty_words(
    state: CollectionState | None, review: Review, *, is_working: bool, is_impossible: bool
) -> PlaceholderTexts:
    """Placeholder if there is no group."""
    if state is None or not len(state.image_ids):
        return PlaceholderTexts("images_add", tr("Nothing to group yet"), tr("Add images first."))
    waiting = int(np.count_nonzero(state.status == ImageStatus.WAITING))
    if not (state.label_class == NO_CLASS).any():
        text = done_text(len(review.decisions), review.labelled) if review.decisions else ""
        return PlaceholderTexts(
            "check_circle", tr("All done"), text or tr("Every image has a label."), is_good=True
        )
    if waiting == int(np.count_nonzero(state.status != ImageStatus.FAILED)):
        return PlaceholderTexts(
            "waiting", tr("Nothing to group yet"), tr("The images are still being analysed.")
        )
    if is_working:
        return PlaceholderTexts("waiting", tr("Grouping look-alikes…"), "", is_working=True)
    if is_impossible:
        return PlaceholderTexts(
            "images",
            tr("Nothing to group yet"),
            tr("Look-alikes need at least 8 different images."),
        )
    text = tr("The remaining images could not be read or are still being analysed.")
    return PlaceholderTexts("check_circle", tr("All groups are done"), text, is_good=True)
