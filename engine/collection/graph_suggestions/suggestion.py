"""Suggested changes of the graph; accept and dismiss them."""

from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import count

import numpy as np

from engine.arrays import Flags
from engine.collection.graph_suggestions.pairs import Mixed, Twins
from engine.collection.graph_suggestions.parents import PlacementCheck, Stray
from engine.collection.state import NO_CLASS, CollectionState, counts_of
from engine.errors import InputError
from engine.everyday.classifier import ScoredClass
from engine.graph.category_graph import CategoryGraph
from engine.project import Action, Change, Project
from engine.project.actions import action
from engine.project.records import SplitPart

DISMISSED_SETTING = "dismissed_graph_suggestions"
MOST_KEPT = 5_000  # dismissed keys, the newest: a setting has room for so many
MORE_SHOTS = 3  # suggested number of labels
SHARE_HELPED = 0.35
"""Of the undecided images of a class without shots. Measured on Grocery Store (decision 83)."""
FEWEST_HELPED = 5  # images, for a suggestion
MOST_CLASSES = 5  # underlabelled ones, those that gain most


@dataclass(frozen=True)
class UnderlabelledClass:
    """A class with few shots for the images that it seems to have; more shots would help them."""

    class_id: int
    shots: int  # images labelled with it
    # ids of images predicted as it, but with another safe class; least certain first
    undecided: tuple[int, ...]
    helped: int  # estimated number of them that `MORE_SHOTS` more shots would settle

    @property
    def key(self) -> str:
        return f"starving {self.class_id}"


@dataclass(frozen=True)
class PossibleParents:
    """A class at the top level that may belong under another one."""

    class_id: int
    parents: tuple[ScoredClass, ...]  # the most probable first

    @property
    def key(self) -> str:
        return f"place {self.class_id}"


@dataclass(frozen=True)
class ImagesOf:
    """Images of a class, as evidence."""

    class_id: int
    image_ids: tuple[int, ...]


Subject = PossibleParents | Twins | Stray | Mixed | UnderlabelledClass


@dataclass(frozen=True)
class GraphSuggestion:
    """A suggested change of the graph."""

    subject: Subject
    evidence: tuple[ImagesOf, ...]  # of each class concerned

    @property
    def key(self) -> str:
        """Stable identifier, by which dismissed suggestions are stored."""
        return self.subject.key


@dataclass(frozen=True)
class GraphSuggestions:
    """All current suggestions."""

    found: tuple[GraphSuggestion, ...] = ()  # by kind, the clearest first in each
    check: PlacementCheck = field(default_factory=PlacementCheck)  # reliability of placements
    dismissed: int = 0  # number of dismissed ones, which are left out


def accept(project: Project, subject: Subject, choice: int = 0) -> Change:
    """Apply a suggestion; `choice` is the index of the chosen parent.

    Raises:
        InputError: the class is underlabelled, and only a person can label images.
        GraphError: the graph has changed, and the change is no longer possible.
    """
    match subject:
        case PossibleParents(class_id, parents):
            return project.classes.move([(class_id, None)], parents[choice].class_id)
        case Stray(class_id, from_parent, to_parent):
            return project.classes.move([(class_id, from_parent)], to_parent)
        case Twins(class_id, other_id):
            return project.classes.merge([class_id], other_id)
        case Mixed(class_id, kinds):
            return _split(project, class_id, kinds)
    raise InputError("only a person can label images", found=subject.key)


def _split(project: Project, class_id: int, kinds: tuple[tuple[int, ...], ...]) -> Change:
    """Make child classes of the two kinds of a class, with its name and a number."""
    name, graph = project.classes.graph.name(class_id), project.classes.graph
    names = (f"{name} {number}" for number in count(1))
    free = (each for each in names if graph.child_named(class_id, each) is None)
    parts = [SplitPart(part, image_ids) for image_ids, part in zip(kinds, free, strict=False)]
    change, _part_ids = project.classes.split(class_id, parts, as_children=True)
    return change


def dismissed_keys(project: Project) -> tuple[str, ...]:
    """Keys of dismissed suggestions, the oldest first."""
    stored = project.policies.setting(DISMISSED_SETTING, [])
    return tuple(key for key in stored if isinstance(key, str))


def dismiss(project: Project, keys: Collection[str], called: Action) -> Change:
    """Dismiss suggestions for good."""
    kept = [*dict.fromkeys((*dismissed_keys(project), *keys))][-MOST_KEPT:]
    return project.policies.set_setting(DISMISSED_SETTING, kept, called)


def dismissal(subject: Subject, graph: CategoryGraph) -> Action:
    """Entry of the history for a dismissed suggestion, with class names of the project."""

    def name_of(class_id: int) -> str:
        return graph.name(class_id) if class_id in graph else str(class_id)

    name = name_of(subject.class_id)
    match subject:
        case PossibleParents(parents=parents):
            return action("place_dismissed", name, parent=name_of(parents[0].class_id))
        case Stray(from_parent=here, to_parent=there):
            parents_of = {"parent": name_of(there), "from": name_of(here)}
            return action("stray_dismissed", name, **parents_of)
        case Twins(other_id=other_id):
            return action("twins_dismissed", name, other=name_of(other_id))
        case Mixed():
            return action("mixed_dismissed", name)
    return action("underlabelled_dismissed", name, images=subject.helped)


def bring_back(project: Project) -> Change:
    """Show dismissed suggestions again."""
    return project.policies.set_setting(DISMISSED_SETTING, None, action("suggestions_shown"))


def find_underlabelled(
    graph: CategoryGraph, state: CollectionState, *, fewest: int = FEWEST_HELPED
) -> tuple[UnderlabelledClass, ...]:
    """The classes where a few more shots would help most images, most first."""
    helped = {class_id: round(count) for class_id, count in helped_by_class(graph, state).items()}
    most = sorted(
        (each for each in helped if helped[each] >= fewest), key=lambda each: (-helped[each], each)
    )
    is_undecided, found = _is_undecided(state), []
    for class_id in most[:MOST_CLASSES]:
        places = np.flatnonzero(is_undecided & (state.best_class == class_id))
        order = places[np.argsort(state.best_score[places], kind="stable")]
        undecided, shots = (
            tuple(state.image_ids[order].tolist()),
            state.shot_counts.get(class_id, 0),
        )
        found.append(UnderlabelledClass(class_id, shots, undecided, helped[class_id]))
    return tuple(found)


def helped_by_class(graph: CategoryGraph, state: CollectionState) -> dict[int, float]:
    """Estimated number of unlabelled images that `MORE_SHOTS` more shots of each class settle."""
    return {
        class_id: helped_by_more(undecided, state.shot_counts.get(class_id, 0))
        for class_id, undecided in counts_of(state.best_class[_is_undecided(state)]).items()
        if class_id in graph
    }


def _is_undecided(state: CollectionState) -> Flags:
    """(n,) bool: unlabelled images whose best class is not their safe class, or unknown ones."""
    is_predicted = state.is_unlabelled & (state.best_class != NO_CLASS)
    return is_predicted & ((state.safe_class != state.best_class) | state.is_unknown)


def helped_by_more(undecided: int, shots: int) -> float:
    """Estimated number of a class's undecided images that `MORE_SHOTS` more shots settle.

    The error of a mean of n shots goes with 1 / n, so m more of them remove m / (n + m) of it.
    """
    return SHARE_HELPED * undecided * MORE_SHOTS / (shots + MORE_SHOTS)
