"""What can be suggested about the graph; accepting and dismissing it.

Each suggestion has its evidence, and a key that is the same whenever the same is suggested.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import count, islice
from typing import Final

import numpy as np

from engine.collection.graph_suggestions.pairs import Mixed, Twins
from engine.collection.graph_suggestions.placements import PlacementCheck, Stray
from engine.collection.state import NO_CLASS, CollectionState, counts_of
from engine.errors import InputError
from engine.everyday.blocks import Flags
from engine.everyday.classifier import ScoredClass
from engine.graph.category_graph import CategoryGraph
from engine.project import Action, Change, Project
from engine.project.actions import action
from engine.project.records import SplitPart

DISMISSED_SETTING: Final = "dismissed_graph_suggestions"
MOST_KEPT: Final = 5_000  # the oldest ones go first: a setting has room for so many
MORE_SHOTS: Final = 3  # labels that are suggested
SHARE_HELPED: Final = 0.35  # of the undecided images of a class without shots. Measured on Grocery Store (decision 83)
FEWEST_HELPED: Final = 5  # less is not worth a line
MOST_CLASSES: Final = 5  # those that gain most


@dataclass(frozen=True)
class UnderlabelledClass:
    """A class with few shots for the images it seems to have."""

    class_id: int
    shots: int  # images a person labelled with it
    undecided: tuple[
        int, ...
    ]  # ids of images predicted as it, but with another safe class; least certain first
    helped: int  # how many of them `MORE_SHOTS` more shots would settle, about


@dataclass(frozen=True)
class ImagesOf:
    """Images of a class that speak for a suggestion."""

    class_id: int
    image_ids: tuple[int, ...]


@dataclass(frozen=True)
class PlaceSuggestion:
    """A class at the top level seems to belong under another one."""

    class_id: int
    parents: tuple[ScoredClass, ...]  # the most probable first
    evidence: tuple[ImagesOf, ...]  # images of the class, then of each parent

    @property
    def key(self) -> str:
        return f"place {self.class_id}"


@dataclass(frozen=True)
class TwinSuggestion:
    """Two classes look like one; accepting merges the smaller one into the other."""

    twins: Twins
    evidence: tuple[ImagesOf, ...]

    @property
    def key(self) -> str:
        first, second = sorted((self.twins.class_id, self.twins.other_id))
        return f"twins {first} {second}"


@dataclass(frozen=True)
class StraySuggestion:
    """A class seems to stand under a wrong parent; accepting moves it."""

    stray: Stray
    evidence: tuple[ImagesOf, ...]

    @property
    def key(self) -> str:
        return f"stray {self.stray.class_id} {self.stray.from_parent} {self.stray.to_parent}"


@dataclass(frozen=True)
class MixedSuggestion:
    """A class looks like two; accepting splits it into both kinds."""

    mixed: Mixed
    evidence: tuple[ImagesOf, ...]

    @property
    def key(self) -> str:
        return f"mixed {self.mixed.class_id}"


@dataclass(frozen=True)
class UnderlabelledSuggestion:
    """A few more shots of a class would help many images; nothing is changed by accepting it."""

    underlabelled: UnderlabelledClass
    evidence: tuple[ImagesOf, ...]

    @property
    def key(self) -> str:
        return f"starving {self.underlabelled.class_id}"


GraphSuggestion = (
    PlaceSuggestion | TwinSuggestion | StraySuggestion | MixedSuggestion | UnderlabelledSuggestion
)


@dataclass(frozen=True)
class GraphSuggestions:
    """All that is suggested now."""

    found: tuple[
        GraphSuggestion, ...
    ] = ()  # the most useful kind first, the clearest first in each
    check: PlacementCheck = field(
        default_factory=PlacementCheck
    )  # how often suggested places are right
    dismissed: int = 0  # how many were left out because a person dismissed them


def accept(project: Project, suggestion: GraphSuggestion, choice: int = 0) -> Change:
    """Do what is suggested, with one of the suggested parents.

    Raises:
        InputError: the class is underlabelled, and only a person can label images.
        GraphError: the graph was changed meanwhile, so that it is not possible any more.
    """
    match suggestion:
        case PlaceSuggestion(class_id, parents):
            return project.classes.move([(class_id, None)], parents[choice].class_id)
        case StraySuggestion(stray):
            return project.classes.move([(stray.class_id, stray.from_parent)], stray.to_parent)
        case TwinSuggestion(twins):
            return project.classes.merge([twins.class_id], twins.other_id)
        case MixedSuggestion(mixed):
            return _split(project, mixed.class_id, mixed.kinds)
    raise InputError("only a person can label images", found=suggestion.key)


def _split(project: Project, class_id: int, kinds: tuple[tuple[int, ...], ...]) -> Change:
    """Put a class's kinds below it, as classes of their own with its name and a number."""
    name, graph = project.classes.graph.name(class_id), project.classes.graph
    names = (f"{name} {number}" for number in count(1))
    free = islice((each for each in names if graph.child_named(class_id, each) is None), len(kinds))
    parts = [SplitPart(part, image_ids) for part, image_ids in zip(free, kinds, strict=True)]
    change, _part_ids = project.classes.split(class_id, parts, as_children=True)
    return change


def dismissed_keys(project: Project) -> tuple[str, ...]:
    """Keys of the dismissed suggestions, oldest first."""
    stored = project.policies.setting(DISMISSED_SETTING, [])
    return tuple(key for key in stored if isinstance(key, str))


def dismiss(project: Project, keys: Collection[str], called: Action) -> Change:
    """Never show suggestions again."""
    known = dismissed_keys(project)
    kept = [*known, *(key for key in keys if key not in known)][-MOST_KEPT:]
    with project.history.one_step(called) as step:
        project.policies.set_setting(DISMISSED_SETTING, kept)
    return step.change


def dismissal(suggestion: "GraphSuggestion", graph: CategoryGraph) -> Action:
    """What the history calls the dismissal of a suggestion, with the names in the project."""

    def name_of(class_id: int) -> str:
        return graph.name(class_id) if class_id in graph else str(class_id)

    match suggestion:
        case PlaceSuggestion(class_id, parents):
            return action("place_dismissed", name_of(class_id), parent=name_of(parents[0].class_id))
        case StraySuggestion(stray):
            here, there = name_of(stray.from_parent), name_of(stray.to_parent)
            return action(
                "stray_dismissed", name_of(stray.class_id), **{"parent": there, "from": here}
            )
        case TwinSuggestion(twins):
            return action("twins_dismissed", name_of(twins.class_id), other=name_of(twins.other_id))
        case MixedSuggestion(mixed):
            return action("mixed_dismissed", name_of(mixed.class_id))
    found = suggestion.underlabelled
    return action("underlabelled_dismissed", name_of(found.class_id), images=found.helped)


def bring_back(project: Project) -> Change:
    """Forget what was dismissed."""
    with project.history.one_step(action("suggestions_shown")) as step:
        project.policies.set_setting(DISMISSED_SETTING, None)
    return step.change


def find_underlabelled(
    graph: CategoryGraph, state: CollectionState, *, fewest: int = FEWEST_HELPED
) -> tuple[UnderlabelledClass, ...]:
    """The classes where a few more shots would help most images, most first."""
    helped = {class_id: round(count) for class_id, count in helped_by_class(graph, state).items()}
    most = sorted(
        (each for each in helped if helped[each] >= fewest), key=lambda each: (-helped[each], each)
    )
    is_open, found = _is_undecided(state), []
    for class_id in most[:MOST_CLASSES]:
        places = np.flatnonzero(is_open & (state.best_class == class_id))
        order = places[np.argsort(state.best_score[places], kind="stable")]
        shots = state.shot_counts.get(class_id, 0)
        found.append(
            UnderlabelledClass(
                class_id, shots, tuple(state.image_ids[order].tolist()), helped[class_id]
            )
        )
    return tuple(found)


def helped_by_class(graph: CategoryGraph, state: CollectionState) -> dict[int, float]:
    """About how many unlabelled images `MORE_SHOTS` more shots of each class would settle, by class."""
    return {
        class_id: helped_by_more(undecided, state.shot_counts.get(class_id, 0))
        for class_id, undecided in counts_of(state.best_class[_is_undecided(state)]).items()
        if class_id in graph
    }


def _is_undecided(state: CollectionState) -> Flags:
    """(n,) bool: images without a label that are predicted as a class, but have another safe class or are unknown."""
    is_open = (state.label_class == NO_CLASS) & (state.best_class != NO_CLASS)
    return is_open & ((state.safe_class != state.best_class) | state.is_unknown)


def helped_by_more(undecided: int, shots: int) -> float:
    """About how many of a class's undecided images `MORE_SHOTS` more shots would settle.

    The error of a mean of n shots goes with 1 / n, so m more of them remove the share m / (n + m) of it.
    """
    return SHARE_HELPED * undecided * MORE_SHOTS / (shots + MORE_SHOTS)
