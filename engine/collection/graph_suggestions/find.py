"""Finds everything that is suggested about the graph of an open project."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from engine.collection.graph_suggestions.class_means import (
    ClassMeans,
    labelled_vectors,
    whitening_of,
)
from engine.collection.graph_suggestions.pairs import all_kinds, find_mixed, find_twins
from engine.collection.graph_suggestions.parents import ParentRanking
from engine.collection.graph_suggestions.placements import (
    OF_FIRST,
    PlacementCheck,
    check_placements,
    find_strays,
)
from engine.collection.graph_suggestions.suggestion import (
    GraphSuggestion,
    GraphSuggestions,
    ImagesOf,
    MixedSuggestion,
    PlaceSuggestion,
    StraySuggestion,
    TwinSuggestion,
    UnderlabelledSuggestion,
    dismissed_keys,
    find_underlabelled,
)
from engine.collection.live import LiveCollection
from engine.collection.state import CollectionState
from engine.events import CancelToken
from engine.everyday.classifier import ProjectClassifier, ScoredClass
from engine.graph.category_graph import CategoryGraph

FEWEST_SHOTS: Final = 2  # one image may be an odd one
LEAST_SCORE: Final = 0.2  # less probable ones are not suggested
MOST_SHOWN: Final = 12  # images of each class, as evidence
FEW_ASKED: Final = 40  # edges that are checked while somebody waits for one class
MOST_OF_A_KIND: Final = 20  # suggestions of one kind


@dataclass(frozen=True)
class SuggestionInput:
    """What suggestions are made from: a snapshot that any thread may read."""

    fitted: ProjectClassifier
    graph: CategoryGraph  # a copy
    state: CollectionState
    dismissed: frozenset[str] = frozenset()  # keys of what is not to be shown again


def suggestion_input(live: LiveCollection) -> SuggestionInput | None:
    """The present snapshot; None before the first fit."""
    if live.fitted is None:
        return None
    dismissed = frozenset(dismissed_keys(live.project))
    return SuggestionInput(live.fitted, live.project.classes.graph.copy(), live.state, dismissed)


def find_suggestions(given: SuggestionInput, cancel: CancelToken | None = None) -> GraphSuggestions:
    """Find all suggestions; on any thread.

    Raises:
        Cancelled: `cancel` was set.
    """
    stop = (cancel or CancelToken()).raise_if_cancelled
    means = means_of(given.fitted, given.graph)
    if len(means.labelled) == 0:
        return GraphSuggestions()
    ranking = ParentRanking(means)
    check = check_placements(means, ranking, stop)
    strays, twins = (
        find_strays(means, ranking, trust=check.trust, check=stop),
        find_twins(means, stop),
    )
    found: list[GraphSuggestion] = []
    kinds: tuple[Sequence[GraphSuggestion], ...] = (
        _places(means, ranking, check, stop),
        [
            StraySuggestion(one, _images(means, one.class_id, one.from_parent, one.to_parent))
            for one in strays
        ],
        [TwinSuggestion(one, _images(means, one.class_id, one.other_id)) for one in twins],
        _mixed(means, given),
        [
            UnderlabelledSuggestion(one, (ImagesOf(one.class_id, one.undecided[:MOST_SHOWN]),))
            for one in find_underlabelled(given.graph, given.state)
        ],
    )
    for kind in kinds:
        stop()
        found += [each for each in kind if each.key not in given.dismissed][:MOST_OF_A_KIND]
    return GraphSuggestions(tuple(found), check, len(given.dismissed))


def suggested_parents(
    live: LiveCollection, class_id: int, count: int = OF_FIRST
) -> tuple[ScoredClass, ...]:
    """Where a class at the top level seems to belong, the most probable first; see `ParentRanking`."""
    fitted, graph = live.fitted, live.project.classes.graph
    if fitted is None or class_id not in graph or graph.parents(class_id):
        return ()
    means = means_of(fitted, graph)
    if len(means.rows_below(class_id)) < FEWEST_SHOTS:
        return ()
    ranking = ParentRanking(means)
    return _likely(ranking, class_id, check_placements(means, ranking, most=FEW_ASKED))[:count]


def means_of(fitted: ProjectClassifier, graph: CategoryGraph) -> ClassMeans:
    """Means of the labelled images that a model was fitted to, by the graph as it is now."""
    return ClassMeans(graph, labelled_vectors(fitted.shots, graph, whitening_of(fitted)))


def _likely(
    ranking: ParentRanking, class_id: int, check: PlacementCheck
) -> tuple[ScoredClass, ...]:
    scored = [
        ScoredClass(one.class_id, one.score * check.trust)
        for one in ranking.rank(class_id)[:OF_FIRST]
    ]
    return tuple(one for one in scored if one.score >= LEAST_SCORE)


def _places(
    means: ClassMeans, ranking: ParentRanking, check: PlacementCheck, stop: Callable[[], None]
) -> list[PlaceSuggestion]:
    found: list[PlaceSuggestion] = []
    for class_id in sorted(means.graph.roots()):
        if len(means.rows_below(class_id)) < FEWEST_SHOTS:
            continue
        stop()
        if parents := _likely(ranking, class_id, check):
            found.append(
                PlaceSuggestion(
                    class_id, parents, _images(means, class_id, *(p.class_id for p in parents))
                )
            )
    return sorted(found, key=lambda one: -one.parents[0].score)


def _mixed(means: ClassMeans, given: SuggestionInput) -> list[MixedSuggestion]:
    """Found by some images of each class and split with all; none with too few images to whiten (decision 83)."""
    if whitening_of(given.fitted) is None:
        return []
    found = []
    for each in find_mixed(means)[:MOST_OF_A_KIND]:
        mixed = replace(
            each, kinds=all_kinds(given.fitted, given.graph, each.class_id) or each.kinds
        )
        evidence = tuple(ImagesOf(mixed.class_id, kind[:MOST_SHOWN]) for kind in mixed.kinds)
        found.append(MixedSuggestion(mixed, evidence))
    return found


def _images(means: ClassMeans, *class_ids: int) -> tuple[ImagesOf, ...]:
    """Some images of each class; of those below a coarse one, some that are not of the classes before."""
    shown: list[ImagesOf] = []
    taken: set[int] = set()
    for class_id in class_ids:
        ids = [
            each
            for each in means.images.image_ids[means.rows_below(class_id)].tolist()
            if each not in taken
        ]
        shown.append(ImagesOf(class_id, tuple(_spread(ids))))
        taken.update(ids)
    return tuple(shown)


def _spread(ids: list[int]) -> list[int]:
    """At most `MOST_SHOWN`, evenly from all: a coarse class shows more than its first child."""
    return (
        ids
        if len(ids) <= MOST_SHOWN
        else [ids[place * len(ids) // MOST_SHOWN] for place in range(MOST_SHOWN)]
    )
