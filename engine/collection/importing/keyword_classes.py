"""Which class of a project a photo's keyword means, if any: photographers have keywords for much else, too."""

from functools import cached_property
from typing import Final, NamedTuple, final

from engine.collection.importing.class_reading import ClassReader
from engine.graph.category_graph import CategoryGraph
from engine.graph.limits import DEEPEST_LEVEL

Names = tuple[str, ...]


class KeywordMeaning(NamedTuple):
    """What a keyword means."""

    class_id: int | None = None  # the deepest class that it names; None where it names none
    missing: Names = ()  # path of the class that could be made of it; () where it names one whole, or is a flat keyword
    several: Names = ()  # classes that it may mean, as paths; where there are several, none is taken


NO_MEANING: Final = KeywordMeaning()


@final
class KeywordClasses:
    """Looks keywords up, each once.

    Args:
        graph: the project's.
    """

    def __init__(self, graph: CategoryGraph) -> None:
        self._graph = graph
        self._reader = ClassReader(graph)
        self._known: dict[Names, KeywordMeaning] = {}

    def meaning(self, names: Names) -> KeywordMeaning:
        """What a keyword means, asked from its deepest name up."""
        if names not in self._known:
            # A longer one names no class, and asking for each part of it would take long.
            self._known[names] = self._find(names) if len(names) <= DEEPEST_LEVEL + 1 else KeywordMeaning(missing=names)
        return self._known[names]

    def _find(self, names: Names) -> KeywordMeaning:
        for depth in range(len(names), 0, -1):
            found = self._fitting(names[:depth])
            if len(found) > 1:
                return KeywordMeaning(several=tuple(map(self._graph.path_text, found)))
            if found:
                rest = names[depth:]
                return KeywordMeaning(found[0], (*self._path(found[0]), *rest) if rest else ())
        return KeywordMeaning(missing=names) if len(names) > 1 else NO_MEANING

    def _fitting(self, names: Names) -> list[int]:
        """Classes with this path or the end of it; else with this name or synonym; else written otherwise."""
        found = self._reader.read(names).candidates or self._reader.read(names[-1:]).candidates
        return list(found) or self._folded.get(names[-1].casefold(), [])

    @cached_property
    def _folded(self) -> dict[str, list[int]]:
        """Classes by name and synonym, however these are written; an id is no keyword."""
        found: dict[str, dict[int, None]] = {}
        for class_id in self._graph.classes():
            for text in (self._graph.name(class_id), *self._graph.attributes(class_id).synonyms):
                found.setdefault(text.casefold(), {})[class_id] = None
        return {text: list(ids) for text, ids in found.items()}

    def _path(self, class_id: int) -> Names:
        return tuple(map(self._graph.name, self._graph.paths(class_id)[0]))
