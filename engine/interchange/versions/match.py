"""Match the classes of a new version of a source: by identity, source id, path, name, neighbours.

A wrong match moves labels to a wrong class, a missing one only has to be corrected by hand. So a
class is matched on evidence only, and one that fits two others equally well with neither.
"""

import difflib
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import TypeVar, final

from engine.graph.category_graph import CategoryGraph, ClassId
from engine.interchange.imported import ImportedClass, ImportedGraph, grouped
from engine.interchange.versions.source_version import SourceVersion

STABLE_IDS = 0.5
"""Share of the old ids that a new version must still have for ids to outweigh names."""

SHARED_CHILDREN = 0.5
"""Share of the children that a renamed class must have in common with the old class."""
MOST_SIBLINGS = 200
"""Unmatched classes under one parent up to which names are compared by similarity.

Among more, only names of equal spelling match.
"""

B = TypeVar("B")

TOP: tuple[ClassId | None, ...] = (None,)  # the parents of a root


@final
class Matching:
    """The classes of a source's new version matched with those of the project.

    Args:
        graph: the project's graph.
        imported: the new version.
        base: the version imported last; None without one.

    Attributes:
        class_ids: class by key of the new version; a key without one is a new class. Several keys
            have one class only where the project has a single class at their places.
        known: classes that the source names by their identity in this very project.
        merged: old classes that are part of another one now, with its key.
        split: old classes that became several, with their keys.
        gone: old classes that the new version does not have, without successors.
    """

    def __init__(
        self, graph: CategoryGraph, imported: ImportedGraph, base: SourceVersion | None
    ) -> None:
        self._graph = graph
        self._base_classes = base.classes if base else {}
        self._base_by_name = grouped(
            (each.name, class_id) for class_id, each in self._base_classes.items()
        )
        self._base_children = grouped(  # by parent; None is the top level
            (top, class_id)
            for class_id, each in self._base_classes.items()
            for top in each.parents or TOP
        )
        self._imported = imported
        self._classes = {each.key: each for each in imported.classes}
        self._parent_keys = imported.parent_keys
        self._child_keys = imported.child_keys
        self.class_ids: dict[str, ClassId] = {}
        self._taken: dict[ClassId, str] = {}  # the first key of each matched class
        self._ids_are_stable = False
        self._match_identities()
        self.known = frozenset(self._taken)
        self._match_by_evidence()
        successors = self._successors()
        self.merged = {each: keys[0] for each, keys in successors.items() if len(keys) == 1}
        self.split = {each: keys for each, keys in successors.items() if len(keys) > 1}
        self.gone = tuple(each for each, keys in successors.items() if not keys)

    def _take(self, key: str, class_id: ClassId) -> None:
        self.class_ids[key] = class_id
        self._taken.setdefault(class_id, key)

    def _unmatched(self) -> Iterator[ImportedClass]:
        """Unmatched classes of the new version, parents before children."""
        return (
            self._classes[key] for key in self._imported.parents_first if key not in self.class_ids
        )

    def _above(self, key: str) -> set[ClassId]:
        return {
            self.class_ids[parent] for parent in self._parent_keys[key] if parent in self.class_ids
        }

    def _places(self, key: str) -> Collection[ClassId | None]:
        """The matched parents that a key has now; None is the top level."""
        return self._above(key) if self._parent_keys[key] else TOP

    def _is_in_place(self, key: str, class_id: ClassId) -> bool:
        """Whether an old class had one of the parents that the key has now."""
        was = self._base_classes[class_id].parents
        return bool(was & self._above(key)) if was else not self._parent_keys[key]

    def _keys_naming(self) -> dict[ClassId, list[str]]:
        """The keys with the name or id of an unmatched old class among their new synonyms.

        Synonyms that a class had before do not count: many words mean several things.
        """
        left = [
            each for class_id, each in self._base_classes.items() if class_id not in self._taken
        ]
        texts = grouped(
            (text, each.class_id) for each in left for text in (each.name, each.source_id) if text
        )
        naming: dict[ClassId, list[str]] = {}
        for key, each in self._classes.items():
            known = self._synonyms_here(self.class_ids.get(key))
            matches = (
                found
                for text in each.attributes.other_names
                if text not in known
                for found in texts.get(text, ())
            )
            for class_id in dict.fromkeys(matches):
                naming.setdefault(class_id, []).append(key)
        return naming

    def _synonyms_here(self, class_id: ClassId | None) -> tuple[str, ...]:
        return (
            ()
            if class_id is None or class_id not in self._graph
            else self._graph.attributes(class_id).other_names
        )

    def _match_by_evidence(self) -> None:
        """Match classes, the strongest evidence first."""
        self._match_ids()
        for with_renamed_here in (False, True):
            known = -1
            while known < len(self.class_ids):
                known = len(self.class_ids)
                self._match_paths()
                self._match_own(with_renamed_here)
                self._match_names()
                self._match_renamed()

    def _ids_allow(self, key: str, class_id: ClassId) -> bool:
        now, was = self._classes[key].attributes.source_id, self._base_classes[class_id].source_id
        return not (self._ids_are_stable and now and was and now != was)

    # -- by identity and source id

    def _match_identities(self) -> None:
        here = self._graph.by_identity()
        for key, identity in self._imported.identities.items():
            if identity in here:
                self._take(key, here[identity])

    def _match_ids(self) -> None:
        base_classes = _unique(
            (each.source_id, class_id) for class_id, each in self._base_classes.items()
        )
        own = _unique(
            (self._graph.attributes(each).source_id, each)
            for each in self._graph.classes()
            if each not in self._base_classes
        )
        keys = _unique((each.attributes.source_id, key) for key, each in self._classes.items())
        pairs = [
            (key, base_classes.get(source_id, own.get(source_id)))
            for source_id, key in keys.items()
        ]
        left = [(key, class_id) for key, class_id in pairs if key not in self.class_ids]
        known = [
            (key, class_id)
            for key, class_id in left
            if class_id is not None and class_id not in self._taken
        ]
        if self._is_renumbered(known):
            known = [
                (key, each)
                for key, each in known
                if self._classes[key].name == self._name_before(each)
            ]
        elif base_classes:
            self._ids_are_stable = len(base_classes.keys() & keys.keys()) >= STABLE_IDS * len(
                base_classes
            )
        for key, class_id in known:
            self._take(key, class_id)

    def _is_renumbered(self, pairs: Iterable[tuple[str, ClassId]]) -> bool:
        """Whether most ids now belong to other names, as row numbers do after an insertion."""
        named = [(self._classes[key].name, self._name_before(each)) for key, each in pairs]
        before = {was for _, was in named}
        return sum(name != was and name in before for name, was in named) * 2 > len(named)

    def _name_before(self, class_id: ClassId) -> str:
        return (
            self._base_classes[class_id].name
            if class_id in self._base_classes
            else self._graph.name(class_id)
        )

    # -- by path and name

    def _match_paths(self) -> None:
        for each in self._unmatched():
            for class_id in self._base_by_name.get(each.name, ()):
                if class_id not in self._taken and self._is_in_place(each.key, class_id):
                    self._take(each.key, class_id)
                    break

    def _match_own(self, with_renamed_here: bool) -> None:
        """Match classes that the project has at that path, from elsewhere or under a new name."""
        for each in self._unmatched():
            for parent in sorted(self._above(each.key)) if self._parent_keys[each.key] else TOP:
                found = (
                    self._graph.child_named(parent, each.name)
                    if parent is None or parent in self._graph
                    else None
                )
                if (
                    found is not None
                    and (with_renamed_here or found not in self._base_classes)
                    and self._is_free(each, found)
                ):
                    self._take(each.key, found)
                    break

    def _is_free(self, each: ImportedClass, class_id: ClassId) -> bool:
        """Whether a class is unmatched, or matched with a class of the same name and id.

        In the second case the project has one class at both places.
        """
        if class_id not in self._taken:
            return True
        other = self._classes[self._taken[class_id]]
        return other.name == each.name and other.attributes.source_id == each.attributes.source_id

    def _match_names(self) -> None:
        """Match a name that is gone from one parent and new under another: the class was moved."""
        waiting = grouped(
            (each.name, each.key) for each in self._unmatched() if each.name in self._base_by_name
        )
        for name, keys in waiting.items():
            left = [
                class_id for class_id in self._base_by_name[name] if class_id not in self._taken
            ]
            pairs = [
                (key, class_id)
                for key in keys
                for class_id in left
                if self._ids_allow(key, class_id)
            ]
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
                rivals = [key for key in naming.get(class_id, ()) if key not in self.class_ids]
                if len(rivals) <= 1 and self._ids_allow(each.key, class_id):
                    scored.append(
                        (self._evidence(each, class_id, each.key in rivals), each.key, class_id)
                    )
        for key, class_id in _best(scored):
            self._take(key, class_id)

    def _candidates(self, each: ImportedClass) -> list[ClassId]:
        """Unmatched old classes that have a name, child or parent in common with a class."""
        by_child = (
            top
            for child in self._child_keys.get(each.key, ())
            if child in self.class_ids and self.class_ids[child] in self._base_classes
            for top in self._base_classes[self.class_ids[child]].parents
        )
        by_synonym = (
            found
            for text in each.attributes.other_names
            for found in self._base_by_name.get(text, ())
        )
        near = [
            class_id
            for place in self._places(each.key)
            for class_id in self._base_children.get(place, ())
        ]
        left = [class_id for class_id in near if class_id not in self._taken]
        by_place = [
            class_id
            for class_id in left
            if len(left) <= MOST_SIBLINGS
            or spelling(self._base_classes[class_id].name) == spelling(each.name)
        ]
        found = dict.fromkeys([*by_synonym, *by_child, *by_place])
        return [
            class_id
            for class_id in found
            if class_id in self._base_classes and class_id not in self._taken
        ]

    def _evidence(self, each: ImportedClass, class_id: ClassId, is_named: bool) -> float:
        """Evidence for the same class under another name; 0 if there is too little."""
        was = self._base_classes[class_id]
        named = is_named or each.name in self._synonyms_here(class_id)
        shared = self._shared_children(each.key, class_id)
        in_place = self._is_in_place(each.key, class_id)
        alike = alike_names(was.name, each.name) if in_place else 0.0
        has_children = shared if shared >= SHARED_CHILDREN else 0.0
        if not (named or has_children or alike):
            return 0.0
        return 2 * named + 2 * has_children + alike + in_place / 2

    def _shared_children(self, key: str, class_id: ClassId) -> float:
        """Jaccard similarity of the children that are matched."""
        now = {
            self.class_ids[child]
            for child in self._child_keys.get(key, ())
            if child in self.class_ids
        }
        was = self._taken.keys() & self._base_children.get(class_id, ())
        return len(now & was) / len(now | was) if now and was else 0.0

    # -- successors of unmatched classes

    def _successors(self) -> dict[ClassId, tuple[str, ...]]:
        """Keys that each unmatched old class was merged or split into; () where it is gone."""
        naming = self._keys_naming()
        new_at = grouped(
            (place, each) for each in self._unmatched() for place in self._places(each.key)
        )
        successors: dict[ClassId, tuple[str, ...]] = {}
        for class_id, was in self._base_classes.items():
            if class_id in self._taken:
                continue
            parents = self._new_parents(class_id)
            is_split = len(parents) > 1 and not parents.keys() & self.class_ids.keys()
            if class_id in naming:
                successors[class_id] = tuple(naming[class_id])
            elif is_split or (len(parents) == 1 and parents.total() > 1):
                successors[class_id] = tuple(parents)
            else:  # new siblings whose names contain all of its words and more
                near = (each for place in was.parents or TOP for each in new_at.get(place, ()))
                parts = tuple(
                    dict.fromkeys(each.key for each in near if words(was.name) < words(each.name))
                )
                successors[class_id] = parts if len(parts) > 1 else ()
        return successors

    def _new_parents(self, class_id: ClassId) -> Counter[str]:
        """New parents of the children of an old class, with their numbers.

        Empty if a child has none.
        """
        parents: Counter[str] = Counter()
        for child in self._base_children.get(class_id, ()):
            if child not in self._taken:
                continue
            was = self._base_classes[child].parents | self._base_classes[class_id].parents
            above = [
                parent
                for parent in self._parent_keys[self._taken[child]]
                if self.class_ids.get(parent) not in was
            ]
            if not above:
                return Counter()
            parents.update(above)
        return parents


def _unique(pairs: Iterable[tuple[str, B]]) -> dict[str, B]:
    """Values of non-empty texts that occur once."""
    return {text: found[0] for text, found in grouped(pairs).items() if text and len(found) == 1}


def _best(scored: Iterable[tuple[float, str, ClassId]]) -> list[tuple[str, ClassId]]:
    """Pairs with the most evidence, each key and class once; a class with a tie is left out."""
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


ALIKE = 0.85
"""Similarity from which names match: "Blackbird" and "Blackbirds", not "male" and "female"."""

SHORTEST = 6  # letters of names that are compared so
_WORD = re.compile(r"[^\W_]+")
_DIGITS = re.compile(r"\d+")


def words(name: str) -> frozenset[str]:
    """The words of a name, ignoring case and accents."""
    return frozenset(_WORD.findall(_plain(name)))


def spelling(name: str) -> str:
    """A name without case, accents, blanks and punctuation: "Granny-Smith" is "grannysmith"."""
    return "".join(_WORD.findall(_plain(name)))


def alike_names(one: str, other: str) -> float:
    """Similarity of two names, 0..1; 0 below `ALIKE` and where digits differ."""
    first, second = spelling(one), spelling(other)
    if not first or not second or _DIGITS.findall(one) != _DIGITS.findall(other):
        return 0.0
    if first == second:
        return 1.0
    if min(len(first), len(second)) < SHORTEST or first[0] != second[0]:
        return 0.0
    compared = difflib.SequenceMatcher(None, first, second, autojunk=False)
    alike = compared.ratio() if compared.quick_ratio() >= ALIKE else 0.0
    return alike if alike >= ALIKE else 0.0


def _plain(name: str) -> str:
    decomposed = unicodedata.normalize("NFKD", name.casefold())
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))
