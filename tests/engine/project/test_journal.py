"""Undo and redo: whatever was done comes back exactly, also after a restart."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.errors import DuplicateNameError, GraphError, ProtoleafError
from engine.graph.category_graph import CategoryGraph
from engine.project import Change, ClassPolicy, Project
from tests.support.projects import Dump, bird_project, connection_of, dump, found_files, new_project, shape

ACTIONS_IN_A_STORY = 60


class Storyteller:
    """Does random things to a project, and remembers what it looked like after each."""

    def __init__(self, project: Project, seed: int) -> None:
        self.project = project
        self.chance = random.Random(seed)
        self.mirror = CategoryGraph()
        self.labelled: set[int] = set()
        self.images: set[int] = set()
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


@pytest.mark.parametrize("seed", range(8))
def test_any_story_goes_back_and_forth(tmp_path: Path, seed: int) -> None:
    """After any actions, undoing all gives the first state, redoing all the last, each step its own, also reopened."""
    project = new_project(tmp_path)
    teller = Storyteller(project, seed)
    for _ in range(ACTIONS_IN_A_STORY):
        teller.tell()
    assert len(teller.looks) > 10
    assert project.check() == []
    project.close()
    with Project.open(tmp_path / "birds.protoleaf") as reopened:
        teller.project = reopened
        assert shape(reopened.graph) == shape(teller.mirror)
        for _ in range(len(teller.looks)):
            teller.step_back()
        assert teller.place == 0
        assert reopened.check() == []
    with Project.open(tmp_path / "birds.protoleaf") as reopened:
        teller.project = reopened
        for _ in range(len(teller.looks)):
            teller.step_forward()
        assert dump(reopened) == teller.looks[-1]
        assert reopened.check() == []


def test_undo_tells_what_it_would_take_back(tmp_path: Path) -> None:
    """The texts of undo and redo follow the place in the history."""
    project, gull, images = bird_project(tmp_path)
    project.label(images[:2], gull)
    assert (project.undo_text, project.redo_text) == ("Labelled 2 images as Gull", None)
    project.undo()
    assert (project.undo_text, project.redo_text) == ("Added 4 images", "Labelled 2 images as Gull")
    project.close()


def test_a_new_action_forgets_what_was_undone(tmp_path: Path) -> None:
    """Redo is gone once something else was done."""
    project, gull, images = bird_project(tmp_path)
    project.label(images, gull)
    project.undo()
    project.label(images[:1], None)
    assert project.redo_text is None
    assert project.redo() is None
    project.close()


def test_an_action_that_changes_nothing_is_no_step(tmp_path: Path) -> None:
    """Labelling again as before neither makes a step nor forgets what was undone."""
    project, gull, images = bird_project(tmp_path)
    project.label(images[:1], gull)
    project.label(images[1:], gull)
    project.undo()
    steps = len(project.history())
    change = project.label(images[:1], gull)
    assert change.is_empty
    assert len(project.history()) == steps
    assert project.redo_text == "Labelled 3 images as Gull"
    project.close()


def test_ids_are_never_used_again(tmp_path: Path) -> None:
    """A class or image that was undone or removed leaves its id to nobody, also after a restart."""
    project, _, images = bird_project(tmp_path)
    _, tern = project.add_class("Tern")
    project.undo()
    project.remove_images(images)
    project.close()
    with Project.open(tmp_path / "birds.protoleaf") as reopened:
        _, skua = reopened.add_class("Skua")
        added = reopened.add_images(found_files(tmp_path, 1, start=50)).images_added
        assert skua > tern
        assert min(added) > max(images)


def test_one_step_is_undone_at_once(tmp_path: Path) -> None:
    """Actions grouped by one_step are one entry of the history, and one change."""
    project, gull, images = bird_project(tmp_path)
    before = dump(project)
    with project.one_step("New class with shots") as step:
        _, tern = project.add_class("Tern", [gull])
        project.label(images[:2], tern)
        project.label(images[2:], gull)
    assert step.change.labelled == tuple(images)
    assert len(step.change.graph_edits) == 2
    assert project.undo_text == "New class with shots"
    undone = project.undo()
    assert undone is not None
    assert set(undone.labelled) == set(images)
    assert dump(project) == before
    project.close()


def test_a_failing_group_leaves_nothing_behind(tmp_path: Path) -> None:
    """When one action of a group fails, none of it has happened: neither in the file nor in the graph in memory."""
    project, gull, images = bird_project(tmp_path)
    before, graph_before = dump(project), shape(project.graph)

    def group() -> None:
        with project.one_step("Group"):
            project.label(images, gull)
            project.add_class("Tern")
            project.add_class("Tern")

    with pytest.raises(DuplicateNameError):
        group()
    assert dump(project) == before
    assert shape(project.graph) == graph_before
    assert project.undo_text == "Added 4 images"
    project.close()


def test_a_failure_that_is_caught_takes_back_only_itself(tmp_path: Path) -> None:
    """Inside a group, an import that fails half-way is taken back whole while the rest of the group stays."""
    project, _, _ = bird_project(tmp_path)

    def merge(graph: CategoryGraph) -> None:
        graph.add_class("Half")
        graph.add_class("Half")

    with project.one_step("Group") as step:
        project.add_class("First")
        with pytest.raises(DuplicateNameError):
            project.import_graph(merge, "Import")
        project.add_class("Last")
    names = [project.graph.name(class_id) for class_id in project.graph.roots()]
    assert names == ["Bird", "First", "Last"]
    assert len(step.change.graph_edits) == 2
    mirror = shape(project.graph)
    project.close()
    with Project.open(tmp_path / "birds.protoleaf") as reopened:
        assert shape(reopened.graph) == mirror


def test_history_names_each_step(tmp_path: Path) -> None:
    """The history lists text, person and whether a step was undone, latest first."""
    project, gull, images = bird_project(tmp_path)
    with project.one_step("By Grace", who="grace"):
        project.label(images, gull)
    project.undo()
    latest = project.history(limit=2)
    assert [(step.text, step.is_undone) for step in latest] == [("By Grace", True), ("Added 4 images", False)]
    assert latest[0].who == "grace"
    assert latest[0].when.tzinfo is not None
    project.close()


def test_undoing_an_import_and_redoing_it_finds_the_facts_again(tmp_path: Path) -> None:
    """What the machine found out about images outlives undo and redo of adding them."""
    project, _, images = bird_project(tmp_path)
    project.record_scan([(images[0], b"\x01\x02", None), (images[1], None, "cut off")])
    project.undo()
    assert project.images() == []
    project.redo()
    assert [record.content_hash for record in project.images()] == ["0102", None, None, None]
    assert project.image(images[1]).failure == "cut off"
    project.close()


def test_big_steps_span_chunks_in_order(tmp_path: Path) -> None:
    """A step of more rows than one chunk holds is undone and redone whole, and the file stays small."""
    project = new_project(tmp_path)
    project.add_images(found_files(Path("/photos"), 12_001))
    chunks = connection_of(project).rows("SELECT length(row_changes) FROM journal_chunk")
    assert len(chunks) == 3
    assert sum(length for (length,) in chunks) < 12_001 * 40
    last = dump(project)
    project.undo()
    assert project.image_count == 0
    project.redo()
    assert dump(project) == last
    project.close()
