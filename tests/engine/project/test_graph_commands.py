"""Random commands on the graph: no cycles, no duplicate names, no lost labels, full undo.

`make test` tries a few sequences, `make properties` 1,000 of 50 commands each.
"""

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import InputError
from engine.graph.category_graph import CategoryGraph
from engine.graph.removal import ChildrenOfRemoved
from engine.project import Change, ClassPolicy, Project, SplitPart
from engine.project.removal_preview import merge_preview, removal_preview
from tests.support.projects import Dump, dump, found_files, named, new_project, shape

IS_LONG = "PROTOLEAF_LONG_PROPERTIES" in os.environ
SEQUENCES = 1_000 if IS_LONG else 15
COMMANDS = 50 if IS_LONG else 25

START = "The start"
NAMES = (
    "Gull",
    "Bird",
    "Tern",
    "Auk",
    "Skua",
    "Seal",
    "Whale",
    "Möwe",
    "海鸥",
    "a/b",
    "Fern",
    "Moss",
)
TREE: Mapping[str, tuple[str, ...]] = {
    "Animal": (),
    "Bird": ("Animal",),
    "Diver": ("Animal",),
    "Gull": ("Bird",),
    "Auk": ("Bird", "Diver"),
    "Puffin": ("Auk",),
    "Herring Gull": ("Gull",),
    "Plant": (),
    "Kelp": ("Plant",),
}
IMAGES = 18


@dataclass(frozen=True)
class Command:
    """An action; numbers choose among what exists."""

    verb: str
    first: int
    second: int
    third: int
    name: str


class Trial:
    """A project with a mirror that follows its changes as the window does."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.project = Project.open(path, is_backed_up=False)
        self.mirror = self.project.classes.graph.copy()

    def reopen(self) -> None:
        """Close and open the project."""
        before = dump(self.project)
        self.project.close()
        self.project = Project.open(self.path, is_backed_up=False)
        assert dump(self.project) == before
        assert shape(self.project.classes.graph) == shape(self.mirror)

    def run(self, command: Command) -> None:
        """Run a command; if it is refused, nothing may have changed."""
        if command.verb == "reopen":
            self.reopen()
            return
        before, labels = dump(self.project), self.labels()
        try:
            change = VERBS[command.verb](self, command)
        except InputError:
            change = None
            assert dump(self.project) == before
        if change is not None:
            self.mirror.apply(change.graph_edits)
            assert change.is_empty == (dump(self.project) == before)
        assert shape(self.project.classes.graph) == shape(self.mirror)
        if command.verb not in MAY_LOSE_LABELS:
            assert self.labels().keys() == labels.keys()

    def labels(self) -> Mapping[int, int | None]:
        """Class by labelled image."""
        return {
            image_id: label.class_id for image_id, label in self.project.labels.by_image().items()
        }

    def classes(self, command: Command) -> list[int]:
        """One to three classes, possibly repeated."""
        there = self.project.classes.graph.classes()
        numbers = (command.first, command.second, command.third)[: 1 + command.third % 3]
        return [there[number % len(there)] for number in numbers] if there else []

    def one(self, number: int) -> int:
        """A class, or an unknown id if there is none."""
        there = self.project.classes.graph.classes()
        return there[number % len(there)] if there else 999

    def place(self, number: int) -> int | None:
        """A class or the top level."""
        there = (*self.project.classes.graph.classes(), None)
        return there[number % len(there)]

    def parent(self, class_id: int, number: int) -> int | None:
        """A parent of a class or the top level."""
        parents = (
            self.project.classes.graph.parents(class_id)
            if class_id in self.project.classes.graph
            else ()
        )
        return parents[number % len(parents)] if parents else None

    def images(self, number: int) -> list[int]:
        """Some images."""
        return [
            image_id for image_id in self.project.images.table().ids if image_id % 4 == number % 4
        ]


def _remove(trial: Trial, command: Command) -> Change:
    project, chosen = trial.project, trial.classes(command)
    children = tuple(ChildrenOfRemoved)[command.second % 3]
    before = len(trial.labels())
    preview = removal_preview(project.classes.graph, project.labels.counts(), chosen, children)
    classes, edges = len(project.classes.graph), project.classes.graph.edge_count
    change = project.classes.remove(chosen, children)
    assert len(trial.labels()) == before - preview.labels_removed
    assert len(project.classes.graph) == classes - preview.classes
    assert (
        children is ChildrenOfRemoved.ADOPTED
        or project.classes.graph.edge_count == edges - preview.edges
    )
    return change


def _merge(trial: Trial, command: Command) -> Change:
    project, chosen, heir_id = trial.project, trial.classes(command), trial.one(command.second)
    preview = merge_preview(project.classes.graph, project.labels.counts(), chosen, heir_id)
    change = project.classes.merge(chosen, heir_id)
    found = (
        len(project.classes.graph),
        project.classes.graph.edge_count,
        project.labels.counts().get(heir_id, 0),
    )
    assert found == (preview.classes_after, preview.edges_after, preview.labels_after)
    return change


def _split(trial: Trial, command: Command) -> Change:
    class_id = trial.one(command.first)
    shots = [image_id for image_id, labelled in trial.labels().items() if labelled == class_id]
    parts = [
        SplitPart(command.name, shots[::2]),
        SplitPart(f"{command.name} 2", trial.images(command.third)[:1]),
    ]
    return trial.project.classes.split(
        class_id, parts[: 1 + command.second % 2], as_children=command.third % 2 == 0
    )[0]


def _move(trial: Trial, command: Command) -> Change:
    moves = [(each, trial.parent(each, command.second)) for each in trial.classes(command)]
    return trial.project.classes.move(moves, trial.place(command.second))


def _unlink(trial: Trial, command: Command) -> Change:
    pairs = [(trial.parent(each, command.second), each) for each in trial.classes(command)]
    return trial.project.classes.unlink(
        [(parent or trial.one(command.third), each) for parent, each in pairs]
    )


def _add(trial: Trial, command: Command) -> Change:
    parents = trial.classes(command) if command.first % 4 else []
    return trial.project.classes.add(command.name, parents)[0]


def _add_parent(trial: Trial, command: Command) -> Change:
    from_parent = trial.place(command.first)
    graph = trial.project.classes.graph
    children = graph.roots() if from_parent is None else graph.children(from_parent)
    return trial.project.classes.add_parent(
        command.name, children[: 1 + command.third % 3], from_parent
    )[0]


def _describe(trial: Trial, command: Command) -> Change:
    note, colour = command.name if command.second % 2 else "", f"#{command.third:06x}"
    return trial.project.classes.set_attributes(trial.classes(command), note=note, colour=colour)


def _name_otherwise(trial: Trial, command: Command) -> Change:
    source_id, synonyms = (
        f"n{command.second}" if command.second % 2 else "",
        (command.name, f"s{command.third}"),
    )
    return trial.project.classes.set_attributes(
        [trial.one(command.first)], source_id=source_id, synonyms=synonyms
    )


def _paste(trial: Trial, command: Command) -> Change:
    text = trial.project.classes.copied(trial.classes(command))
    return trial.project.classes.paste(text, trial.place(command.second))[0]


def _set_bar(trial: Trial, command: Command) -> Change:
    policy = ClassPolicy(
        command.third / 40 if command.second % 2 else None, is_deepest=command.second % 3 == 0
    )
    return trial.project.policies.set(trial.one(command.first), policy)


def _label(trial: Trial, command: Command) -> Change:
    return trial.project.labels.set(
        trial.images(command.second), trial.place(command.first), who="ada"
    )


VERBS: Mapping[str, Callable[[Trial, Command], Change | None]] = {
    "add": _add,
    "add parent": _add_parent,
    "rename": lambda trial, command: trial.project.classes.rename(
        trial.one(command.first), command.name
    ),
    "name otherwise": _name_otherwise,
    "describe": _describe,
    "set bar": _set_bar,
    "link": lambda trial, command: trial.project.classes.link(
        trial.one(command.second), trial.classes(command)
    ),
    "unlink": _unlink,
    "move": _move,
    "merge": _merge,
    "split": _split,
    "remove": _remove,
    "paste": _paste,
    "label": _label,
    "unlabel": lambda trial, command: trial.project.labels.remove(trial.images(command.first)),
    "undo": lambda trial, _: (
        None if str(trial.project.history.undo_action) == START else trial.project.history.undo()
    ),
    "redo": lambda trial, _: trial.project.history.redo(),
}
MAY_LOSE_LABELS = frozenset({"remove", "label", "unlabel", "undo", "redo"})
"""Removing reports how many, which is compared.

The others change labels, or are undo and redo of these.
"""

numbers = st.integers(0, 40)
commands = st.lists(
    st.builds(
        Command,
        st.sampled_from((*VERBS, "reopen")),
        numbers,
        numbers,
        numbers,
        st.sampled_from(NAMES),
    ),
    min_size=COMMANDS if IS_LONG else 1,
    max_size=COMMANDS,
)


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Nine classes with labels, notes and thresholds, copied for each sequence."""
    with new_project(tmp_path_factory.mktemp("start")) as project:
        with project.history.one_step(named(START)):
            images = project.images.add(found_files(Path("/photos"), IMAGES)).images_added
            ids: dict[str, int] = {}
            for number, (name, parents) in enumerate(TREE.items()):
                _, ids[name] = project.classes.add(name, [ids[parent] for parent in parents])
                project.labels.set(images[number : 2 * number : 2], ids[name], who="ada")
            project.classes.set_attributes([ids["Gull"]], note="Seen in May.", colour="#00ff7f")
            project.policies.set(ids["Auk"], ClassPolicy(0.75))
            project.classes.set_attributes([ids["Auk"]], source_id="n1", synonyms=("Alca",))
        assert len(project.labels.by_image()) > IMAGES / 2
        return project.path


@pytest.mark.slow
@settings(max_examples=SEQUENCES, deadline=None)
@given(sequence=commands)
def test_any_commands_go_back_and_forth(start: Path, sequence: list[Command]) -> None:
    """Undoing all gives the first state, redoing all the last, also with a restart in between."""
    folder = start.parent / "trial"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    shutil.copyfile(start, folder / start.name)
    trial = Trial(folder / start.name)
    try:
        first = dump(trial.project)
        for command in sequence:
            trial.run(command)
            _check_graph(trial.project.classes.graph)
        last = _redone(trial)
        _undo_all(trial, first)
        trial.reopen()
        assert _redone(trial) == last
        trial.reopen()
        _undo_all(trial, first)
    finally:
        trial.project.close()


def _redone(trial: Trial) -> Dump:
    """The state after redoing everything."""
    while (change := trial.project.history.redo()) is not None:
        trial.mirror.apply(change.graph_edits)
    assert trial.project.check() == []
    return dump(trial.project)


def _undo_all(trial: Trial, first: Dump) -> None:
    while str(trial.project.history.undo_action) != START:
        change = trial.project.history.undo()
        assert change is not None
        trial.mirror.apply(change.graph_edits)
    assert dump(trial.project) == first
    assert shape(trial.project.classes.graph) == shape(trial.mirror)
    assert trial.project.check() == []


def _check_graph(graph: CategoryGraph) -> None:
    """Check for cycles and duplicate names among siblings.

    It uses names and edges only.
    """
    above: dict[int, set[int]] = {class_id: set() for class_id in graph.classes()}
    for parent_id, child_id in graph.edges():
        above[child_id].add(parent_id)
    TopologicalSorter(above).prepare()  # raises on a cycle
    places = [
        (parent, graph.name(each))
        for each, parents in above.items()
        for parent in tuple(parents) or (None,)
    ]
    assert len(places) == len(set(places)), "namesakes in one place"
