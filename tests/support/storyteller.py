"""Somebody who does random things to a project, and knows what it must look like after each."""

import random
from collections.abc import Callable
from pathlib import Path

from engine.errors import GraphError, ProtoleafError
from engine.graph.category_graph import CategoryGraph
from engine.project import Change, ClassPolicy, Project
from tests.support.projects import Dump, dump, found_files, shape


class Storyteller:
    """Does random things to a project, and remembers what it looked like after each."""

    def __init__(self, project: Project, seed: int) -> None:
        self.project = project
        self.chance = random.Random(seed)
        self.mirror = project.graph.copy()
        self.labelled = set(project.labels())
        self.images = set(project.image_table().ids)
        self.looks: list[Dump] = [dump(project)]
        self.place = 0
        self.files_made = 0

    def tell(self) -> None:
        """Do one thing: mostly an action, at times undo or redo."""
        kind = self.chance.random()
        if kind < 0.15:
            self.step_back()
        elif kind < 0.25:
            self.step_forward()
        else:
            self.act()

    def act(self) -> None:
        """Do one random action; one that is refused must leave everything as it was."""
        before = dump(self.project)
        try:
            change = self.chance.choice(self._actions())()
        except ProtoleafError:
            assert dump(self.project) == before
            return
        after = dump(self.project)
        if change.is_empty:
            assert after == before
            return
        self.looks[self.place + 1 :] = [after]
        self.place += 1
        self.follow(change)

    def step_back(self) -> None:
        """Undo, which must lead to the look before."""
        change = self.project.undo()
        assert (change is None) == (self.place == 0)
        if change is not None:
            self.place -= 1
            self.follow(change)
        assert dump(self.project) == self.looks[self.place]

    def step_forward(self) -> None:
        """Redo, which must lead to the look after."""
        change = self.project.redo()
        assert (change is None) == (self.place == len(self.looks) - 1)
        if change is not None:
            self.place += 1
            self.follow(change)
        assert dump(self.project) == self.looks[self.place]

    def follow(self, change: Change) -> None:
        """Keep copies in step by what the change tells, as a window does, and compare."""
        self.mirror.apply(change.graph_edits)
        assert shape(self.mirror) == shape(self.project.graph)
        self.images = (self.images | set(change.images_added)) - set(change.images_removed)
        assert self.images == set(self.project.image_table().ids)
        for image_id in change.labelled:
            assert image_id in self.images
        labels = set(self.project.labels())
        assert labels ^ self.labelled <= set(change.labelled) | set(change.images_removed)
        self.labelled = labels

    def _actions(self) -> list[Callable[[], Change]]:
        return [
            self._add_class,
            self._rename,
            self._link,
            self._unlink,
            self._move,
            self._remove_class,
            self._merge_class,
            self._add_images,
            self._remove_images,
            self._label,
            self._label,
            self._unlabel,
            self._set_policy,
            lambda: self.project.set_setting("lambda", self.chance.choice([None, 0.5, "auto", {"a": [1, 2]}])),
            self._import,
            self._several,
        ]

    def _class(self) -> int:
        classes = self.project.graph.classes()
        return self.chance.choice(classes) if classes else 1

    def _name(self) -> str:
        return self.chance.choice(["Gull", "Tern", "Möwe", "海鸥", "نورس", "🐦", "a/b"]) + str(
            self.chance.randrange(30)
        )

    def _images(self) -> list[int]:
        known = list(self.project.image_table().ids)
        return self.chance.sample(known, min(len(known), self.chance.randrange(1, 6)))

    def _add_class(self) -> Change:
        parents = [self._class() for _ in range(self.chance.randrange(3))] if len(self.project.graph) else []
        return self.project.add_class(self._name(), parents)[0]

    def _rename(self) -> Change:
        return self.project.rename_class(self._class(), self._name())

    def _link(self) -> Change:
        return self.project.link(self._class(), self._class())

    def _unlink(self) -> Change:
        child = self._class()
        return self.project.unlink(self.chance.choice([*self.project.graph.parents(child), 1]), child)

    def _move(self) -> Change:
        child = self._class()
        parents: tuple[int | None, ...] = self.project.graph.parents(child) or (None,)
        return self.project.move_class(child, self.chance.choice(parents), self.chance.choice([None, self._class()]))

    def _remove_class(self) -> Change:
        return self.project.remove_class(self._class())

    def _merge_class(self) -> Change:
        return self.project.merge_class(self._class(), self._class())

    def _add_images(self) -> Change:
        count = self.chance.randrange(1, 8)
        self.files_made += count
        start = self.files_made - count - self.chance.randrange(2)  # some are known already
        return self.project.add_images(found_files(Path("/photos"), count, start=max(start, 0)))

    def _remove_images(self) -> Change:
        return self.project.remove_images(self._images()[:2])

    def _label(self) -> Change:
        return self.project.label(self._images(), self.chance.choice([None, self._class()]), who="ada")

    def _unlabel(self) -> Change:
        return self.project.unlabel(self._images())

    def _set_policy(self) -> Change:
        bar = self.chance.choice([None, 0.0, 0.25, 1])
        return self.project.set_policy(self._class(), ClassPolicy(bar, is_deepest=self.chance.random() < 0.5))

    def _import(self) -> Change:
        def merge(graph: CategoryGraph) -> None:
            top = graph.add_class(self._name())
            graph.add_class(self._name(), [top])
            graph.rename(top, self._name())

        return self.project.import_graph(merge, "Import")

    def _several(self) -> Change:
        with self.project.one_step("Several") as step:
            self._add_images()
            self._label()
            try:
                self._import()
            except GraphError:
                self._set_policy()
            self._remove_images()
        return step.change
