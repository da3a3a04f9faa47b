"""Doing what was suggested: ordinary actions of the project, which undo takes back."""

from itertools import count, islice

from engine.collection.graph_suggestions.suggestion import (
    GraphSuggestion,
    MixedSuggestion,
    PlaceSuggestion,
    StraySuggestion,
    TwinSuggestion,
)
from engine.errors import InputError
from engine.project import Change, Project
from engine.project.records import SplitPart


def accept(project: Project, suggestion: GraphSuggestion, choice: int = 0) -> Change:
    """Do what is suggested.

    Args:
        suggestion: not one about an underlabelled class: nobody but a person can label images.
        choice: which of the suggested parents.

    Raises:
        InputError: there is nothing to do for it.
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
