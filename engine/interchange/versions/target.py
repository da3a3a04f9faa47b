"""A graph as it shall become: names and parents that change, and what of it has to be given up to be a graph at all."""

from collections.abc import Iterator
from graphlib import CycleError as OrderError
from graphlib import TopologicalSorter
from typing import final

from engine.graph.category_graph import CategoryGraph, ClassId
from engine.graph.limits import LONGEST_NAME
from engine.interchange.versions.plan import Clash, Kept


@final
class Target:
    """Changes of a graph that are decided together: in between, names may be exchanged and edges turned round."""

    def __init__(self, graph: CategoryGraph) -> None:
        self.names: dict[ClassId, str] = {}  # of new classes, and of those that get another one
        self.parents: dict[ClassId, frozenset[ClassId]] = {}  # of new classes, and of those that get others
        self.kept: list[Kept] = []  # what was given up; the place's text is left empty
        self._graph = graph

    def add(self, class_id: ClassId, name: str, parents: frozenset[ClassId]) -> None:
        """A new class."""
        self.names[class_id] = name
        self.parents[class_id] = parents

    def rename(self, class_id: ClassId, name: str) -> None:
        """Another name for a class."""
        self.names[class_id] = name

    def move(self, class_id: ClassId, parents: frozenset[ClassId]) -> None:
        """Other parents for a class."""
        self.parents[class_id] = parents

    def keep(self, kept: Kept) -> None:
        """Something that stays as it is."""
        self.kept.append(kept)

    def name_of(self, class_id: ClassId) -> str:
        """The name that it shall have."""
        return self.names[class_id] if class_id in self.names else self._graph.name(class_id)

    def parents_of(self, class_id: ClassId) -> frozenset[ClassId]:
        """The parents that it shall have."""
        known = self.parents.get(class_id)
        return frozenset(self._graph.parents(class_id)) if known is None else known

    def make_possible(self) -> None:
        """Give up what would close a cycle or put two classes of one name side by side."""
        while self._undo_a_cycle() or self._part_namesakes():
            pass

    def _undo_a_cycle(self) -> bool:
        if all(class_id not in self._graph for class_id in self.parents):
            return False  # only a class from before that gets a new parent can close one
        sorter: TopologicalSorter[ClassId] = TopologicalSorter()
        for class_id in {*self._graph.classes(), *self.parents}:
            sorter.add(class_id, *self.parents_of(class_id))
        try:
            sorter.prepare()
        except OrderError as error:
            moved = next(each for each in error.args[1] if each in self.parents and each in self._graph)
            self._give_up_place(moved, Clash.CYCLE)
            return True
        return False

    def _part_namesakes(self) -> bool:
        clashes = list(self._namesakes())
        for first, second in clashes:
            if self._are_namesakes(first, second):  # still, after what was given up for others
                self._part((first, second))
        return bool(clashes)

    def _part(self, pair: tuple[ClassId, ClassId]) -> None:
        """Of two classes with one name in one place: a new name is given up, then a new place."""
        for class_id in pair:
            if class_id in self.names and class_id in self._graph:
                self.kept.append(Kept(class_id, Clash.NAME_TAKEN, self.names.pop(class_id)))
                return
        for class_id in pair:
            if class_id in self.parents and class_id in self._graph:
                self._give_up_place(class_id, Clash.NAME_TAKEN)
                return
        new = next((each for each in pair if each not in self._graph), None)
        if new is not None:
            self.names[new] = self._numbered(new)

    def _are_namesakes(self, first: ClassId, second: ClassId) -> bool:
        places: list[frozenset[ClassId | None]] = [
            frozenset(self.parents_of(each) or (None,)) for each in (first, second)
        ]
        return self.name_of(first) == self.name_of(second) and bool(places[0] & places[1])

    def _give_up_place(self, class_id: ClassId, clash: Clash) -> None:
        del self.parents[class_id]
        self.kept.append(Kept(class_id, clash, ""))

    def _namesakes(self) -> Iterator[tuple[ClassId, ClassId]]:
        """Pairs of classes with one name in one place, of the places where something changes."""
        changed = {*self.names, *self.parents}
        places: dict[ClassId | None, list[ClassId]] = {}
        for class_id in sorted(changed):
            for parent in self.parents_of(class_id) or (None,):
                places.setdefault(parent, []).append(class_id)
        for parent, arrived in places.items():
            is_old = parent is None or parent in self._graph
            here = (self._graph.roots() if parent is None else self._graph.children(parent)) if is_old else ()
            named: dict[str, ClassId] = {}
            for class_id in [*(each for each in here if each not in changed), *arrived]:
                other = named.setdefault(self.name_of(class_id), class_id)
                if other != class_id:
                    yield other, class_id

    def _numbered(self, class_id: ClassId) -> str:
        name, number = self.names[class_id], 2
        taken = {
            self.name_of(child)
            for parent in self.parents[class_id]
            for child in (self._graph.children(parent) if parent in self._graph else ())
        }
        taken |= {self.names[each] for each in self.names if each not in self._graph}
        if not self.parents[class_id]:
            taken |= {self.name_of(each) for each in self._graph.roots()}
        while (numbered := f"{name[: LONGEST_NAME - 8]} ({number})") in taken:
            number += 1
        return numbered
