"""Texts and cards of a group. No widgets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from app.group_review.view import EmptyWords, GroupWords
from app.group_review.wording import (
    digit_text,
    done_text,
    errors_text,
    heading,
    held_back_text,
    left_out_text,
    left_text,
    place_text,
    settles_text,
)
from app.image_grid.card_words import Card, Mark
from app.texts import tr
from app.wording import clauses, probability_text
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
        tuple(digit_text(graph.shown_name(top.class_id), top.score) for top in tops),
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
        facts.append(tr("finer classes of %1", graph.shown_name(group.branch)))
    if group.is_held_back:
        facts.append(held_back_text(state.shot_counts.get(group.class_id, 0)))
    if group.settles > len(group.image_ids):
        facts.append(settles_text(group.settles))
    return facts


def _done(state: CollectionState, review: Review) -> str:
    left = left_text(int(np.count_nonzero(state.label_class == NO_CLASS)))
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
) -> EmptyWords:
    """Placeholder if there is no group."""
    if state is None or not len(state.image_ids):
        return EmptyWords("images_add", tr("Nothing to group yet"), tr("Add images first."))
    waiting = int(np.count_nonzero(state.status == ImageStatus.WAITING))
    if not (state.label_class == NO_CLASS).any():
        text = done_text(len(review.decisions), review.labelled) if review.decisions else ""
        return EmptyWords(
            "check_circle", tr("All done"), text or tr("Every image has a label."), is_good=True
        )
    if waiting == int(np.count_nonzero(state.status != ImageStatus.FAILED)):
        return EmptyWords(
            "waiting", tr("Nothing to group yet"), tr("The images are still being analysed.")
        )
    if is_working:
        return EmptyWords("waiting", tr("Grouping look-alikes…"), "", is_working=True)
    if is_impossible:
        return EmptyWords(
            "images",
            tr("Nothing to group yet"),
            tr("Look-alikes need at least 8 different images."),
        )
    text = tr("The remaining images could not be read or are still being analysed.")
    return EmptyWords("check_circle", tr("All groups are done"), text, is_good=True)
