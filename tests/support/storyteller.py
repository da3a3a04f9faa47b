"""Random actions on a project, with checks of its content after each."""

import random
from collections.abc import Callable
from pathlib import Path

from engine.errors import GraphError, ProtoleafError
from engine.graph.category_graph import CategoryGraph
from engine.project import Change, ClassPolicy, Project
from tests.support.projects import Dump, dump, found_files, named, shape


class Storyteller:
    """Does random actions, and records the project's content after each."""

    def __init__(self, project: Project, seed: int) -> None:
        self.project = project
        self.chance = random.Random(seed)
        self.mirror = project.classes.graph.copy()
        self.labelled = set(project.labels.by_image())
        self.images = set(project.images.table().ids)
        self.looks: list[Dump] = [dump(project)]
        self.place = 0
        self.files_made = 0

    def tell(self) -> None:
        """Take one step: mostly an action, sometimes undo or redo."""
        kind = self.chance.random()
        if kind < 0.15:
            self.step_back()
        elif kind < 0.25:
            self.step_forward()
        else:
            self.act()

    def act(self) -> None:
        """Do a random action; a refused one must change nothing."""
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
        """Undo, and compare with the previous content."""
        change = self.project.history.undo()
        assert (change is None) == (self.place == 0)
        if change is not None:
            self.place -= 1
            self.follow(change)
        assert dump(self.project) == self.looks[self.place]

    def step_forward(self) -> None:
        """Redo, and compare with the next content."""
        change = self.project.history.redo()
        assert (change is None) == (self.place == len(self.looks) - 1)
        if change is not None:
            self.place += 1
            self.follow(change)
        assert dump(self.project) == self.looks[self.place]

    def follow(self, change: Change) -> None:
        """Update copies by the change, as a window does, and compare."""
        self.mirror.apply(change.graph_edits)
        assert shape(self.mirror) == shape(self.project.classes.graph)
        self.images = (self.images | set(change.images_added)) - set(change.images_removed)
        assert self.images == set(self.project.images.table().ids)
        for image_id in change.labelled:
            assert image_id in self.images
        labels = set(self.project.labels.by_image())
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
            lambda: self.project.policies.set_setting(
                "lambda", self.chance.choice([None, 0.5, "auto", {"a": [1, 2]}])
            ),
            self._import,
            self._several,
        ]

    def _class(self) -> int:
        classes = self.project.classes.graph.classes()
        return self.chance.choice(classes) if classes else 1

    def _name(self) -> str:
        return self.chance.choice(["Gull", "Tern", "Möwe", "海鸥", "نورس", "🐦", "a/b"]) + str(
            self.chance.randrange(30)
        )

    def _images(self) -> list[int]:
        known = list(self.project.images.table().ids)
        return self.chance.sample(known, min(len(known), self.chance.randrange(1, 6)))

    def _add_class(self) -> Change:
        parents = (
            [self._class() for _ in range(self.chance.randrange(3))]
            if len(self.project.classes.graph)
            else []
        )
        return self.project.classes.add(self._name(), parents)[0]

    def _rename(self) -> Change:
        return self.project.classes.rename(self._class(), self._name())

    def _link(self) -> Change:
        return self.project.classes.link(self._class(), [self._class()])

    def _unlink(self) -> Change:
        child = self._class()
        return self.project.classes.unlink(
            [(self.chance.choice([*self.project.classes.graph.parents(child), 1]), child)]
        )

    def _move(self) -> Change:
        child = self._class()
        parents: tuple[int | None, ...] = self.project.classes.graph.parents(child) or (None,)
        return self.project.classes.move(
            [(child, self.chance.choice(parents))], self.chance.choice([None, self._class()])
        )

    def _remove_class(self) -> Change:
        return self.project.classes.remove([self._class()])

    def _merge_class(self) -> Change:
        return self.project.classes.merge([self._class()], self._class())

    def _add_images(self) -> Change:
        count = self.chance.randrange(1, 8)
        self.files_made += count
        start = self.files_made - count - self.chance.randrange(2)  # some are known
        return self.project.images.add(found_files(Path("/photos"), count, start=max(start, 0)))

    def _remove_images(self) -> Change:
        return self.project.images.remove(self._images()[:2])

    def _label(self) -> Change:
        return self.project.labels.set(
            self._images(), self.chance.choice([None, self._class()]), who="ada"
        )

    def _unlabel(self) -> Change:
        return self.project.labels.remove(self._images())

    def _set_policy(self) -> Change:
        bar = self.chance.choice([None, 0.0, 0.25, 1])
        return self.project.policies.set(
            self._class(), ClassPolicy(bar, is_deepest=self.chance.random() < 0.5)
        )

    def _import(self) -> Change:
        def merge(graph: CategoryGraph) -> None:
            top = graph.add_class(self._name())
            graph.add_class(self._name(), [top])
            graph.rename(top, self._name())

        return self.project.classes.edit(merge, named("Import"))

    def _several(self) -> Change:
        with self.project.history.one_step(named("Several")) as step:
            self._add_images()
            self._label()
            try:
                self._import()
            except GraphError:
                self._set_policy()
            self._remove_images()
        return step.change
