"""Find all suggestions for the graph of an open project."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from engine.collection.graph_suggestions.class_means import (
    ClassMeans,
    labelled_vectors,
    whitening_of,
)
from engine.collection.graph_suggestions.pairs import (
    Mixed,
    Twins,
    all_kinds,
    find_mixed,
    find_twins,
)
from engine.collection.graph_suggestions.parents import (
    OF_FIRST,
    ParentRanking,
    PlacementCheck,
    Stray,
    check_placements,
    find_strays,
)
from engine.collection.graph_suggestions.suggestion import (
    GraphSuggestion,
    GraphSuggestions,
    ImagesOf,
    PossibleParents,
    Subject,
    dismissed_keys,
    find_underlabelled,
)
from engine.collection.live import LiveCollection
from engine.collection.state import CollectionState
from engine.events import CancelToken
from engine.everyday.classifier import ProjectClassifier, ScoredClass
from engine.graph.category_graph import CategoryGraph

FEWEST_SHOTS = 2  # one image may be an outlier
LEAST_SCORE = 0.2  # of a suggested parent
MOST_SHOWN = 12  # images of each class, as evidence
FEW_ASKED = 40  # edges that are tested for one class, while a person waits
MOST_OF_A_KIND = 20  # suggestions of one kind


@dataclass(frozen=True)
class SuggestionInput:
    """Snapshot to make suggestions from; any thread may read it."""

    fitted: ProjectClassifier
    graph: CategoryGraph  # a copy
    state: CollectionState
    dismissed: frozenset[str] = frozenset()  # keys


def suggestion_input(live: LiveCollection) -> SuggestionInput | None:
    """Snapshot of an open project; None before the first fit."""
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
    strays = find_strays(means, ranking, trust=check.trust, check=stop)
    kinds: tuple[Sequence[Subject], ...] = (
        _places(means, ranking, check, stop),
        strays,
        find_twins(means, stop),
        _mixed(means, given),
        find_underlabelled(given.graph, given.state),
    )
    found: list[GraphSuggestion] = []
    for subjects in kinds:
        stop()
        new = [each for each in subjects if each.key not in given.dismissed]
        found += [GraphSuggestion(each, _evidence(means, each)) for each in new[:MOST_OF_A_KIND]]
    return GraphSuggestions(tuple(found), check, len(given.dismissed))


def suggested_parents(live: LiveCollection, class_id: int) -> tuple[ScoredClass, ...]:
    """Suggest parents of a class at the top level, the most probable first."""
    fitted, graph = live.fitted, live.project.classes.graph
    if fitted is None or class_id not in graph or graph.parents(class_id):
        return ()
    means = means_of(fitted, graph)
    if len(means.rows_below(class_id)) < FEWEST_SHOTS:
        return ()
    ranking = ParentRanking(means)
    return _likely(ranking, class_id, check_placements(means, ranking, most=FEW_ASKED))


def means_of(fitted: ProjectClassifier, graph: CategoryGraph) -> ClassMeans:
    """Class means of the shots of a model, in the current graph."""
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
) -> list[PossibleParents]:
    found: list[PossibleParents] = []
    for class_id in sorted(means.graph.roots()):
        if len(means.rows_below(class_id)) < FEWEST_SHOTS:
            continue
        stop()
        if parents := _likely(ranking, class_id, check):
            found.append(PossibleParents(class_id, parents))
    return sorted(found, key=lambda one: -one.parents[0].score)


def _mixed(means: ClassMeans, given: SuggestionInput) -> list[Mixed]:
    """Classes to split, found by some of their images, with the kinds of all their images.

    None with too few images to whiten (decision 83).
    """
    if whitening_of(given.fitted) is None:
        return []
    return [
        replace(each, kinds=all_kinds(given.fitted, given.graph, each.class_id) or each.kinds)
        for each in find_mixed(means)[:MOST_OF_A_KIND]
    ]


def _evidence(means: ClassMeans, subject: Subject) -> tuple[ImagesOf, ...]:
    match subject:
        case PossibleParents(class_id, parents):
            return _images(means, class_id, *(each.class_id for each in parents))
        case Stray(class_id, from_parent, to_parent):
            return _images(means, class_id, from_parent, to_parent)
        case Twins(class_id, other_id):
            return _images(means, class_id, other_id)
        case Mixed(class_id, kinds):
            return tuple(ImagesOf(class_id, kind[:MOST_SHOWN]) for kind in kinds)
    return (ImagesOf(subject.class_id, subject.undecided[:MOST_SHOWN]),)


def _images(means: ClassMeans, *class_ids: int) -> tuple[ImagesOf, ...]:
    """Some images at or below each class, without those of the classes before."""
    shown: list[ImagesOf] = []
    taken: set[int] = set()
    for class_id in class_ids:
        below = means.images.image_ids[means.rows_below(class_id)].tolist()
        ids = [each for each in below if each not in taken]
        shown.append(ImagesOf(class_id, tuple(_spread(ids))))
        taken.update(ids)
    return tuple(shown)


def _spread(ids: list[int]) -> list[int]:
    """At most `MOST_SHOWN`, evenly spaced: a coarse class shows more than its first child."""
    if len(ids) <= MOST_SHOWN:
        return ids
    return [ids[place * len(ids) // MOST_SHOWN] for place in range(MOST_SHOWN)]
