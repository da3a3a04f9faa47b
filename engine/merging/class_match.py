"""Matching of classes of two projects: by identity, else by source id, path, or unique name.

A wrong match would put labels on a wrong class. So each class is matched once, never against its
source id, and not at all where its source id and its path point to two classes.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import final

from engine.collection.importing.class_reading import NAMES_ITS_SOURCE
from engine.graph.category_graph import CategoryGraph, ClassId
from engine.project.fork import Fork

TOP: tuple[ClassId | None, ...] = (None,)  # in place of the parents of a root


@final
class ClassMatcher:
    """Matches their classes with ours.

    Attributes:
        pairs: our class by theirs.
        ordered: their classes, parents first.
        by_name_alone: their classes that are matched by a unique name only.
        removed_here: their classes that we had and removed.
        ambiguous: their classes whose source id and path point to two classes of ours.
    """

    def __init__(
        self,
        ours: CategoryGraph,
        theirs: CategoryGraph,
        fork: Fork | None,
        merged: Mapping[ClassId, ClassId],
    ) -> None:
        self._ours = ours
        self._theirs = theirs
        self.ordered: Sequence[ClassId] = [each for level in theirs.levels() for each in level]
        self.pairs: dict[ClassId, ClassId] = {}
        self.by_name_alone: list[ClassId] = []
        self.removed_here: set[ClassId] = set()
        self.ambiguous: set[ClassId] = set()
        self._taken: set[ClassId] = set()
        self._our_spellings = cache(self._spellings_below)
        self._our_ids = _by_source_id(ours)
        # ours from before the fork; a class of that name there is another one
        self._removed_there: set[ClassId] = set()
        if fork is not None:
            self._match_history(fork)
        self._match_identities()
        self._match_merged(merged)
        self._match_source_ids()
        known = -1
        while known < len(self.pairs):
            known = len(self.pairs)
            self._match_places()
            if fork is None:  # in copies of one project, the history tells equal names apart
                self._match_names()
        self.removed_here -= self.pairs.keys()

    def contradicts(self, their_id: ClassId, our_id: ClassId) -> bool:
        """Whether another class of ours has their source id."""
        source_id = self._theirs.attributes(their_id).source_id
        found = self._our_ids.get(source_id, ()) if source_id else ()
        return bool(found) and our_id not in found

    def _take(self, their_id: ClassId, our_id: ClassId) -> None:
        self.pairs[their_id] = our_id
        self._taken.add(our_id)

    def _is_free(self, their_id: ClassId, our_id: ClassId) -> bool:
        is_known = our_id in self._taken or our_id in self._removed_there
        return not is_known and not self.contradicts(their_id, our_id)

    def _left(self) -> Iterator[ClassId]:
        settled = self.pairs.keys() | self.removed_here | self.ambiguous
        return (each for each in self.ordered if each not in settled)

    def _match_history(self, fork: Fork) -> None:
        """Match classes from before the fork by their ids."""
        for each in self.ordered:
            if each in fork.theirs.classes_made or each in fork.ours.classes_made:
                continue
            if each in self._ours:
                self._take(each, each)
            else:
                self.removed_here.add(each)
        made = fork.ours.classes_made
        self._removed_there = {
            each for each in self._ours.classes() if each not in made and each not in self._taken
        }

    def _match_identities(self) -> None:
        ours = self._ours.by_identity()
        for identity, their_id in self._theirs.by_identity().items():
            our_id = ours.get(identity)
            if our_id is not None and their_id not in self.pairs and our_id not in self._taken:
                self._take(their_id, our_id)

    def _match_merged(self, merged: Mapping[ClassId, ClassId]) -> None:
        """Match classes that came in by an earlier merge."""
        for their_id, our_id in merged.items():
            if their_id in self.pairs or our_id in self._taken:
                continue
            if our_id in self._ours:
                self._take(their_id, our_id)
            else:
                self.removed_here.add(their_id)

    def _match_source_ids(self) -> None:
        """Match by source id; numbers may be of different lists, then names must agree too."""
        theirs = _by_source_id(self._theirs)
        found = [
            (source_id, classes[0], self._our_ids[source_id][0])
            for source_id, classes in theirs.items()
            if len(classes) == 1 and len(self._our_ids.get(source_id, ())) == 1
        ]
        found = [each for each in found if each[1] not in self.pairs and each[2] not in self._taken]
        alike = {each[0] for each in found if self._is_called_alike(each[1], each[2])}
        is_one_list = 2 * len(alike) >= len(found)
        for source_id, their_id, our_id in found:
            if not (source_id in alike or is_one_list or NAMES_ITS_SOURCE.fullmatch(source_id)):
                continue
            if self._at_path_of(their_id) in {None, our_id}:
                self._take(their_id, our_id)
            else:
                self.ambiguous.add(their_id)

    def _at_path_of(self, their_id: ClassId) -> ClassId | None:
        """Our class at the first path of theirs, unless it is matched already."""
        path = [their_id]
        while above := self._theirs.parents(path[-1]):
            path.append(above[0])
        found: ClassId | None = None
        for each in reversed(path):
            found = self._ours.child_named(found, self._theirs.name(each))
            if found is None:
                return None
        return None if found in self._taken else found

    def _is_called_alike(self, their_id: ClassId, our_id: ClassId) -> bool:
        return folded(self._theirs.name(their_id)) == folded(self._ours.name(our_id))

    def _match_places(self) -> None:
        """Match classes of one name below one parent; else of one unique spelling."""
        for each in list(self._left()):
            parents = self._theirs.parents(each)
            places = (
                [self.pairs[parent] for parent in parents if parent in self.pairs]
                if parents
                else TOP
            )
            found = {self._in_place(each, place) for place in places} - {None}
            free = [
                our_id for our_id in found if our_id is not None and self._is_free(each, our_id)
            ]
            if len(free) == 1:
                self._take(each, free[0])
            elif free:
                self.ambiguous.add(each)

    def _in_place(self, their_id: ClassId, place: ClassId | None) -> ClassId | None:
        name = self._theirs.name(their_id)
        found = self._ours.child_named(place, name)
        if found is not None:
            return found
        alike = self._alike_in(place, name)
        return alike[0] if len(alike) == 1 and self._is_only_spelling(their_id) else None

    def _alike_in(self, place: ClassId | None, name: str) -> Sequence[ClassId]:
        return self._our_spellings(place).get(folded(name), ())

    def _spellings_below(self, place: ClassId | None) -> dict[str, list[ClassId]]:
        classes = self._ours.roots() if place is None else self._ours.children(place)
        return _grouped(classes, lambda each: folded(self._ours.name(each)))

    def _is_only_spelling(self, their_id: ClassId) -> bool:
        """Whether only one spelling is used there: "fox" and "Fox" are two classes."""
        name = self._theirs.name(their_id)
        return len({self._theirs.name(each) for each in self._their_spellings[folded(name)]}) == 1

    @cached_property
    def _their_spellings(self) -> dict[str, list[ClassId]]:
        return _grouped(self._theirs.classes(), lambda each: folded(self._theirs.name(each)))

    def _match_names(self) -> None:
        theirs = _grouped(self._theirs.classes(), self._theirs.name)
        ours = _grouped(self._ours.classes(), self._ours.name)
        for each in list(self._left()):
            name = self._theirs.name(each)
            if len(theirs[name]) > 1:
                continue
            found = ours.get(name, ())
            if (
                len(found) == 1
                and self._is_free(each, found[0])
                and self._have_compatible_ancestors(each, found[0])
            ):
                self._take(each, found[0])
                self.by_name_alone.append(each)

    def _have_compatible_ancestors(self, their_id: ClassId, our_id: ClassId) -> bool:
        """Whether their matched ancestors agree: a juvenile gull is not a juvenile tern."""
        theirs = {
            self.pairs[each] for each in self._theirs.ancestors(their_id) if each in self.pairs
        }
        ours = self._ours.ancestors(our_id) & self._taken
        return theirs <= ours or ours <= theirs


def folded(name: str) -> str:
    """A name normalised by case and Unicode form: "FOX" and "fox" are equal."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def _grouped(classes: Iterable[ClassId], key: Callable[[ClassId], str]) -> dict[str, list[ClassId]]:
    found = defaultdict[str, list[ClassId]](list)
    for each in classes:
        found[key(each)].append(each)
    return dict(found)


def _by_source_id(graph: CategoryGraph) -> dict[str, list[ClassId]]:
    source_ids = {class_id: each.source_id for class_id, each in graph.all_attributes()}
    return _grouped((each for each in source_ids if source_ids[each]), source_ids.__getitem__)
