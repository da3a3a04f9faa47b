"""Which class of a source's new version is which class of before: by source id, then by path, by name, by neighbours.

A wrong match carries labels to a wrong class, a missing one only asks for a person's glance. So a class is matched
on evidence alone, and one that fits two others equally well is matched with neither.
"""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeVar, final

from engine.graph.category_graph import CategoryGraph, ClassId
from engine.interchange.imported import ImportedClass, ImportedGraph, parents_first
from engine.interchange.versions.likeness import alike_names, spelling, words
from engine.interchange.versions.source_version import SourceVersion

STABLE_IDS: Final = 0.5
"""Share of the ids of before that a new version must still have, if ids are to speak against names."""

SHARED_CHILDREN: Final = 0.5
"""Share of children that a class under a new name has in common with the class of before."""

MOST_SIBLINGS: Final = 200
"""Unmatched classes in one place up to which names are compared letter by letter; beyond, spelled alike must do."""

_A = TypeVar("_A", bound=Hashable)
_B = TypeVar("_B")
_TOP: Final[tuple[ClassId | None, ...]] = (None,)


@dataclass(frozen=True)
class Matching:
    """What became of the classes of before.

    Attributes:
        class_ids: the class of each key of the new version; a key without one is a new class.
        merged: classes of before that are part of another one now, with its key.
        split: classes of before that became several, with their keys.
        gone: classes of before that the new version does not have, nor says why.
    """

    class_ids: Mapping[str, ClassId]
    merged: Mapping[ClassId, str] = field(default_factory=dict)
    split: Mapping[ClassId, tuple[str, ...]] = field(default_factory=dict)
    gone: tuple[ClassId, ...] = ()


def match(graph: CategoryGraph, imported: ImportedGraph, base: SourceVersion | None) -> Matching:
    """Match a source's new version with the project.

    Args:
        graph: the project's graph as it is.
        imported: the new version.
        base: what the source said last time; None when it was never imported.

    Returns:
        Each class at most once, but where the project has one class at the places of two.
    """
    matcher = _Matcher(graph, imported, base)
    matcher.find()
    return matcher.result()


@final
class _Matcher:
    """One comparison; `found` grows until nothing more is found."""

    def __init__(self, graph: CategoryGraph, imported: ImportedGraph, base: SourceVersion | None) -> None:
        self._graph = graph
        self._said = base.classes if base else {}
        self._classes = {each.key: each for each in imported.classes}
        self._ordered = parents_first(imported)
        self._parent_keys = imported.parent_keys()
        self._child_keys = _grouped(imported.edges)
        self._said_by_name = _grouped((each.name, class_id) for class_id, each in self._said.items())
        self._said_children = _grouped(
            (top, class_id) for class_id, each in self._said.items() for top in each.parents or _TOP
        )
        self._found: dict[str, ClassId] = {}
        self._taken: dict[ClassId, str] = {}
        self._ids_are_stable = False

    def find(self) -> None:
        """Match what can be matched, the surest evidence first."""
        self._match_ids()
        for with_renamed_here in (False, True):
            known = -1
            while known < len(self._found):
                known = len(self._found)
                self._match_paths()
                self._match_own(with_renamed_here)
                self._match_names()
                self._match_renamed()

    def result(self) -> Matching:
        """What was found, and what became of the rest."""
        merged: dict[ClassId, str] = {}
        split: dict[ClassId, tuple[str, ...]] = {}
        gone: list[ClassId] = []
        naming = self._keys_naming()
        new_at = _grouped((place, each) for each in self._unmatched() for place in self._places(each.key))
        for class_id in self._said:
            if class_id not in self._taken:
                heirs = self._heirs(class_id, naming, new_at)
                if len(heirs) == 1:
                    merged[class_id] = heirs[0]
                elif heirs:
                    split[class_id] = heirs
                else:
                    gone.append(class_id)
        return Matching(self._found, merged, split, tuple(gone))

    def _take(self, key: str, class_id: ClassId) -> None:
        self._found[key] = class_id
        self._taken.setdefault(class_id, key)

    def _unmatched(self) -> Iterator[ImportedClass]:
        return (self._classes[key] for key in self._ordered if key not in self._found)

    def _above(self, key: str) -> set[ClassId]:
        return {self._found[parent] for parent in self._parent_keys[key] if parent in self._found}

    def _places(self, key: str) -> Collection[ClassId | None]:
        """The classes that a key is under now, as far as they are known; None is the top level."""
        return self._above(key) if self._parent_keys[key] else _TOP

    def _is_in_place(self, key: str, class_id: ClassId) -> bool:
        """Whether the source had the class under one of the parents that the key has now."""
        was = self._said[class_id].parents
        return bool(was & self._above(key)) if was else not self._parent_keys[key]

    def _ids_allow(self, key: str, class_id: ClassId) -> bool:
        now, was = self._classes[key].aliases.source_id, self._said[class_id].source_id
        return not (self._ids_are_stable and now and was and now != was)

    # -- by source id

    def _match_ids(self) -> None:
        said = _unique((each.source_id, class_id) for class_id, each in self._said.items())
        own = _unique(
            (self._graph.aliases(each).source_id, each) for each in self._graph.classes() if each not in self._said
        )
        keys = _unique((each.aliases.source_id, key) for key, each in self._classes.items())
        pairs = [(key, said.get(source_id, own.get(source_id))) for source_id, key in keys.items()]
        known = [(key, class_id) for key, class_id in pairs if class_id is not None]
        if self._is_renumbered(known):
            known = [(key, each) for key, each in known if self._classes[key].name == self._name_before(each)]
        elif said:
            self._ids_are_stable = len(said.keys() & keys.keys()) >= STABLE_IDS * len(said)
        for key, class_id in known:
            self._take(key, class_id)

    def _is_renumbered(self, pairs: Iterable[tuple[str, ClassId]]) -> bool:
        """Whether most ids stand at the names of other classes now, as row numbers do after a row was put in."""
        pairs = list(pairs)
        names = {self._name_before(class_id) for _key, class_id in pairs}
        changed = [key for key, class_id in pairs if self._classes[key].name != self._name_before(class_id)]
        return sum(self._classes[key].name in names for key in changed) * 2 > len(pairs)

    def _name_before(self, class_id: ClassId) -> str:
        return self._said[class_id].name if class_id in self._said else self._graph.name(class_id)

    # -- by path and name

    def _match_paths(self) -> None:
        for each in self._unmatched():
            for class_id in self._said_by_name.get(each.name, ()):
                if class_id not in self._taken and self._is_in_place(each.key, class_id):
                    self._take(each.key, class_id)
                    break

    def _match_own(self, with_renamed_here: bool) -> None:
        """Classes that the project has at that path now, though not from this source or not under this name."""
        for each in self._unmatched():
            for parent in sorted(self._above(each.key)) if self._parent_keys[each.key] else _TOP:
                found = self._graph.child_named(parent, each.name) if parent is None or parent in self._graph else None
                if found is not None and (with_renamed_here or found not in self._said) and self._is_free(each, found):
                    self._take(each.key, found)
                    break

    def _is_free(self, each: ImportedClass, class_id: ClassId) -> bool:
        """Not taken, or taken by a namesake that no id tells apart: the project has one class at both places."""
        if class_id not in self._taken:
            return True
        other = self._classes[self._taken[class_id]]
        return other.name == each.name and other.aliases.source_id == each.aliases.source_id

    def _match_names(self) -> None:
        """A name that is gone from one place and new at one other: the class was moved."""
        waiting = _grouped((each.name, each.key) for each in self._unmatched() if each.name in self._said_by_name)
        for name, keys in waiting.items():
            left = [class_id for class_id in self._said_by_name[name] if class_id not in self._taken]
            pairs = [(key, class_id) for key in keys for class_id in left if self._ids_allow(key, class_id)]
            if len(keys) > 1 or len(left) > 1:
                pairs = _best((self._shared_children(*pair), *pair) for pair in pairs)
            for key, class_id in pairs:
                self._take(key, class_id)

    # -- by synonyms, children and spelling

    def _match_renamed(self) -> None:
        naming = self._keys_naming()
        scored = []
        for each in self._unmatched():
            for class_id in self._candidates(each):
                rivals = [key for key in naming.get(class_id, ()) if key not in self._found]
                if len(rivals) <= 1 and self._ids_allow(each.key, class_id):
                    scored.append((self._evidence(each, class_id, each.key in rivals), each.key, class_id))
        for key, class_id in _best(scored):
            self._take(key, class_id)

    def _candidates(self, each: ImportedClass) -> list[ClassId]:
        """Classes of before that are left, and have something in common with this one."""
        by_child = (
            top
            for child in self._child_keys.get(each.key, ())
            if child in self._found and self._found[child] in self._said
            for top in self._said[self._found[child]].parents
        )
        by_synonym = (found for text in each.aliases.synonyms for found in self._said_by_name.get(text, ()))
        near = [class_id for place in self._places(each.key) for class_id in self._said_children.get(place, ())]
        left = [class_id for class_id in near if class_id not in self._taken]
        by_place = [
            class_id for class_id in left
            if len(left) <= MOST_SIBLINGS or spelling(self._said[class_id].name) == spelling(each.name)
        ]  # fmt: skip
        found = dict.fromkeys([*by_synonym, *by_child, *by_place])
        return [class_id for class_id in found if class_id in self._said and class_id not in self._taken]

    def _evidence(self, each: ImportedClass, class_id: ClassId, is_named: bool) -> float:
        """How much speaks for the same class under another name; 0 when too little does."""
        was = self._said[class_id]
        named = is_named or each.name in self._synonyms_here(class_id)
        shared = self._shared_children(each.key, class_id)
        in_place = self._is_in_place(each.key, class_id)
        alike = alike_names(was.name, each.name) if in_place else 0.0
        has_children = shared if shared >= SHARED_CHILDREN else 0.0
        if not (named or has_children or alike):
            return 0.0
        return 2 * named + 2 * has_children + alike + in_place / 2

    def _shared_children(self, key: str, class_id: ClassId) -> float:
        """Share of the children that both have, among those of either that are known in both versions."""
        now = {self._found[child] for child in self._child_keys.get(key, ()) if child in self._found}
        was = self._taken.keys() & self._said_children.get(class_id, ())
        return len(now & was) / len(now | was) if now and was else 0.0

    # -- merged and split

    def _keys_naming(self) -> dict[ClassId, list[str]]:
        """For classes of before that are left: the keys that have their name or id among their synonyms now.

        A synonym that a class had before says nothing: many words mean several things.
        """
        left = [each for class_id, each in self._said.items() if class_id not in self._taken]
        texts = _grouped((text, each.class_id) for each in left for text in (each.name, each.source_id) if text)
        naming: dict[ClassId, list[str]] = {}
        for key, each in self._classes.items():
            known = self._synonyms_here(self._found.get(key))
            told = (found for text in each.aliases.synonyms if text not in known for found in texts.get(text, ()))
            for class_id in dict.fromkeys(told):
                naming.setdefault(class_id, []).append(key)
        return naming

    def _synonyms_here(self, class_id: ClassId | None) -> tuple[str, ...]:
        return () if class_id is None or class_id not in self._graph else self._graph.aliases(class_id).synonyms

    def _heirs(
        self,
        class_id: ClassId,
        naming: Mapping[ClassId, list[str]],
        new_at: Mapping[ClassId | None, list[ImportedClass]],
    ) -> tuple[str, ...]:
        """The key that a class of before is part of now, or those that it became."""
        if class_id in naming:
            return tuple(naming[class_id])
        takers = self._takers(class_id)
        if len(takers) == 1 and next(iter(takers.values())) > 1:
            return tuple(takers)
        if len(takers) > 1 and not takers.keys() & self._found.keys():
            return tuple(takers)
        parts = self._longer_names(class_id, new_at)
        return parts if len(parts) > 1 else ()

    def _takers(self, class_id: ClassId) -> Counter[str]:
        """Keys that all children of a class of before are under now, and were not before; with how many."""
        takers: Counter[str] = Counter()
        for child in self._said_children.get(class_id, ()):
            if child not in self._taken:
                continue
            was = self._said[child].parents | self._said[class_id].parents
            above = [parent for parent in self._parent_keys[self._taken[child]] if self._found.get(parent) not in was]
            if not above:
                return Counter()
            takers.update(above)
        return takers

    def _longer_names(self, class_id: ClassId, new_at: Mapping[ClassId | None, list[ImportedClass]]) -> tuple[str, ...]:
        """New classes in the place of a class of before whose names say all of its name and more."""
        was = self._said[class_id]
        near = (each for place in was.parents or _TOP for each in new_at.get(place, ()))
        return tuple(dict.fromkeys(each.key for each in near if words(was.name) < words(each.name)))


def _grouped(pairs: Iterable[tuple[_A, _B]]) -> dict[_A, list[_B]]:
    groups: dict[_A, list[_B]] = {}
    for first, second in pairs:
        groups.setdefault(first, []).append(second)
    return groups


def _unique(pairs: Iterable[tuple[str, _B]]) -> dict[str, _B]:
    """Those whose text is not empty, and is had by one alone."""
    return {text: found[0] for text, found in _grouped(pairs).items() if text and len(found) == 1}


def _best(scored: Iterable[tuple[float, str, ClassId]]) -> list[tuple[str, ClassId]]:
    """Pairs with the most evidence, each key and class once; a class that two keys fit equally well is left out."""
    best: dict[ClassId, float] = {}
    ranked = sorted((each for each in scored if each[0] > 0), key=lambda each: -each[0])
    ties: Counter[ClassId] = Counter()
    for score, _key, class_id in ranked:
        if score == best.setdefault(class_id, score):
            ties[class_id] += 1
    chosen: dict[str, ClassId] = {}
    taken: set[ClassId] = set()
    for _score, key, class_id in ranked:
        if key not in chosen and class_id not in taken and ties[class_id] == 1:
            chosen[key] = class_id
            taken.add(class_id)
    return list(chosen.items())
