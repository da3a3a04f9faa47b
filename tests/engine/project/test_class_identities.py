"""Identities of classes: unique and stable through undo, copies, backups and migrations."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.graph.category_graph import CategoryGraph
from engine.project import ClassId, Project, SplitPart
from engine.project.backups.restoring import restore
from engine.project.clock import present_time
from tests.support.copies import copied, opened
from tests.support.eighth_version import save_as_eighth_version
from tests.support.projects import bird_project, change_file, named, new_project

BIRD, GULL = 1, 2


def identities(project: Project) -> dict[ClassId, str]:
    graph = project.classes.graph
    return {each: graph.identity(each) for each in graph.classes()}


def stored(path: Path) -> dict[ClassId, str]:
    """Identities read by another opening."""
    with Project.open(path, for_writing=False) as project:
        return identities(project)


@pytest.fixture
def birds(tmp_path: Path) -> Project:
    return bird_project(tmp_path)[0]


def test_each_class_has_its_own_and_the_file_keeps_it(birds: Project) -> None:
    """Renaming, moving and describing keep it."""
    before = identities(birds)
    assert len({*before.values()}) == 2
    assert all(len(each) == 32 for each in before.values())
    birds.classes.rename(GULL, "Seagull")
    birds.classes.set_attributes([GULL], source_id="n1", note="white", bar=0.9)
    birds.classes.move([(GULL, BIRD)], None)
    assert identities(birds) == stored(birds.path) == before
    assert birds.check() == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "act",
    [
        lambda project: project.classes.remove([GULL]),
        lambda project: project.classes.merge([GULL], BIRD),
        lambda project: project.classes.add("Tern"),
    ],
)
def test_undo_and_redo_bring_the_same_back(
    birds: Project, act: Callable[[Project], object]
) -> None:
    """For a removed, merged or added class."""
    before = identities(birds)
    act(birds)
    after = identities(birds)
    birds.history.undo()
    assert identities(birds) == stored(birds.path) == before
    birds.history.redo()
    assert identities(birds) == stored(birds.path) == after
    assert birds.check() == []


def test_the_class_that_stays_keeps_its_own(birds: Project) -> None:
    """The target of a merge and the rest of a split keep their identities."""
    _, tern = birds.classes.add("Tern", [BIRD])
    before = identities(birds)
    birds.classes.merge([tern], GULL)
    birds.classes.split(
        GULL, [SplitPart("Mew", (1,)), SplitPart("Herring", (2,))], as_children=True
    )
    after = identities(birds)
    assert (after[BIRD], after[GULL]) == (before[BIRD], before[GULL])
    assert len({*after.values()}) == len(after) == 4


def test_what_is_pasted_is_another_class(birds: Project, tmp_path: Path) -> None:
    """In the same project and in another one."""
    text = birds.classes.copied([BIRD])
    birds.classes.paste(text, None)
    other = new_project(tmp_path, "other.protoleaf")
    other.classes.paste(text, None)
    assert len({*identities(birds).values(), *identities(other).values()}) == 6


def test_copies_and_backups_have_the_same(birds: Project, tmp_path: Path) -> None:
    """A copied file, and a restored backup."""
    before = identities(birds)
    copy = copied(birds, tmp_path / "copy")
    assert identities(copy) == before
    backup = birds.backups.take()
    birds.classes.remove([GULL])
    birds.close()
    restore(birds.path, backup.path, when=present_time())
    assert stored(birds.path) == before


def test_what_is_tried_out_and_kept_is_one_class(birds: Project) -> None:
    """A class made in a trial keeps its identity when the trial is kept."""
    birds.what_if.begin()
    _, tern = birds.classes.add("Tern")
    tried = birds.classes.graph.identity(tern)
    birds.what_if.keep(named("Try out"))
    assert stored(birds.path)[tern] == tried


@pytest.mark.slow
def test_copies_migrated_apart_agree_on_what_they_have_in_common(
    birds: Project, tmp_path: Path
) -> None:
    """Classes of equal id and name, made in two copies of version 8, get two identities.

    Undo works past the migration.
    """
    _, owl = birds.classes.add("Owl")
    birds.close()
    save_as_eighth_version(birds.path)
    for name in ("ann", "bob"):
        shutil.copyfile(birds.path, tmp_path / name)
        with Project.open(tmp_path / name) as project:
            project.classes.add("juvenile")
        save_as_eighth_version(tmp_path / name)
    ann, bob = opened(tmp_path / "ann"), opened(tmp_path / "bob")
    first, second = identities(ann), identities(bob)
    made = owl + 1
    assert {each for each in first if first[each] == second[each]} == {BIRD, GULL, owl}
    assert first.keys() == second.keys() == {BIRD, GULL, owl, made}
    assert ann.check() == []
    ann.history.undo()
    ann.history.undo()
    ann.history.redo()
    assert ann.classes.graph.identity(owl) == first[owl]
    assert ann.check() == []


def test_a_class_whose_making_is_not_in_the_journal_has_none(birds: Project) -> None:
    """As in files of version 1: it gets no identity, and copies match it by id."""
    birds.close()
    save_as_eighth_version(birds.path)
    change_file(
        birds.path,
        "UPDATE file_state SET is_journal_whole = 0",
        "INSERT INTO class (class_id, name) VALUES (9, 'Old')",
    )
    assert stored(birds.path)[9] == ""


def test_two_of_one_identity_say_nothing() -> None:
    """A duplicate identity is ignored as ambiguous."""
    graph = CategoryGraph()
    first = graph.add_class("A", identity="a" * 32)
    graph.add_class("B", identity="b" * 32)
    graph.add_class("C", identity="b" * 32)
    assert graph.by_identity() == {"a" * 32: first}
