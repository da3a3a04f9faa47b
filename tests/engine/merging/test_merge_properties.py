"""Random actions in two copies: merging removes nothing, can be undone, and terminates."""

import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from engine.errors import InputError
from engine.merging.merge import merge
from engine.merging.merge_plan import Preference
from engine.merging.planning import plan_merge
from engine.project import AuditItem, Project
from tests.support.copies import opened, stranger, two_copies
from tests.support.projects import Dump, dump

ACTIONS = 30
NAMES = ("Gull", "gull", "Tern", "Auk", "Möwe", "MÖWE", "Bird", "Skua")


def act(project: Project, chance: Random, who: str) -> None:
    """A random action; refused ones are skipped."""
    graph, images = project.classes.graph, list(project.images.table().ids)
    some = chance.sample(images, min(2, len(images)))
    one = chance.choice(graph.classes())
    other = chance.choice(graph.classes())
    verbs: dict[str, Callable[[], object]] = {
        "label": lambda: project.labels.set(some, chance.choice([*graph.classes(), None]), who=who),
        "label again": lambda: project.labels.set(some, one, who=who),
        "unlabel": lambda: project.labels.remove(some[:1]),
        "confirm": lambda: project.labels.confirm(some, who=who),
        "audit": lambda: draw(project, some, one, who),
        "add": lambda: project.classes.add(chance.choice(NAMES), [one]),
        "rename": lambda: project.classes.rename(one, chance.choice(NAMES)),
        "link": lambda: project.classes.link(one, [other]),
        "describe": lambda: project.classes.set_attributes(
            [one], note=f"by {who}", source_id=chance.choice("123")
        ),
        "remove class": lambda: project.classes.remove([one]) if len(graph) > 3 else None,
        "stars": lambda: project.notes.set_stars(some, chance.randint(0, 5), who=who),
        "comment": lambda: project.notes.set_comment(some, chance.choice(("", "x", who)), who=who),
        "remove image": lambda: project.images.remove(some[:1]) if len(images) > 6 else None,
        "undo": lambda: project.history.undo() if len(images) > 6 else None,
    }
    try:
        verbs[chance.choice(list(verbs))]()
    except InputError:
        return


def draw(project: Project, image_ids: list[int], class_id: int, who: str) -> None:
    """An audit of these images, the first of them drawn."""
    items = [
        AuditItem(each, place, class_id, 0.5, class_id, 0.5, 0, 9)
        for place, each in enumerate(image_ids)
    ]
    project.audits.add(items, 1, population=9, who=who)


def is_kept(before: Dump, after: Dump) -> None:
    """Check that all our rows are there, labels unchanged, others at most completed."""
    assert set(before["label"]) <= set(after["label"])
    assert set(before["edge"]) <= set(after["edge"])
    assert set(before["image"]) <= set(after["image"])
    assert set(before["confirmed_label"]) <= set(after["confirmed_label"])
    assert set(before["audit_item"]) <= set(after["audit_item"])
    for table in ("class", "class_detail", "class_policy", "image_note", "setting"):
        rows = {row[0]: row for row in after[table]}
        for row in before[table]:
            if str(row[0]).startswith("merged classes"):
                continue  # append-only
            assert all(
                old == new
                for old, new in zip(row, rows[row[0]], strict=True)
                if old not in ("", 0, None)
            )


def changed_copies(folder: Path, chance: Random) -> tuple[Project, Project]:
    ada, ben = two_copies(folder, 10)
    for project, who in ((ada, "ada"), (ben, "ben")):
        for _ in range(ACTIONS):
            act(project, chance, who)
    return ada, ben


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_a_merge_only_adds_and_goes_back_whole(seed: int, tmp_path: Path) -> None:
    """Merging again changes nothing; undo restores every table; the file is valid."""
    ada, ben = changed_copies(tmp_path, Random(seed))
    before, theirs = dump(ada), dump(ben)
    done = merge(ada, ben.path)
    is_kept(before, dump(ada))
    assert ada.check() == []
    assert dump(ben) == theirs
    again = merge(ada, ben.path)
    assert again.change.is_empty, again.change
    assert again.conflicts == done.conflicts
    assert again.plan.agreement.exact == done.plan.agreement.exact
    if not done.change.is_empty:
        ada.history.undo()
    assert dump(ada) == before


@pytest.mark.parametrize("seed", range(12, 18))
def test_agreement_is_the_same_from_both_sides(seed: int, tmp_path: Path) -> None:
    """Merging in both directions gives the same figures."""
    ada, ben = changed_copies(tmp_path, Random(seed))
    one, other = plan_merge(ada, ben), plan_merge(ben, ada)
    assert one.images == other.images
    labels = {(each.agreement.exact, each.agreed) for each in (one, other)}
    waiting = sum(each.labels for each in (*one.waiting, *other.waiting))
    assert len(labels) == 1 or waiting


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(18, 22))
def test_a_preference_leaves_nothing_open(seed: int, tmp_path: Path) -> None:
    """Each conflict is settled in one step, which can be undone."""
    chance = Random(seed)
    ada, ben = changed_copies(tmp_path, chance)
    before = dump(ada)
    done = merge(ada, ben.path, prefer=chance.choice(tuple(Preference)))
    assert merge(ada, ben.path).conflicts == ()
    assert ada.check() == []
    if not done.change.is_empty:
        ada.history.undo()
    assert dump(ada) == before


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(22, 26))
def test_strangers_and_third_copies(seed: int, tmp_path: Path) -> None:
    """Unrelated classes and labels of the same photos, then a copy of that project."""
    chance = Random(seed)
    ada, _ben = two_copies(tmp_path, 10)
    other = stranger(tmp_path / "cleo", 10)
    other.classes.add("Bird")
    for project, who in ((ada, "ada"), (other, "cleo")):
        for _ in range(ACTIONS):
            act(project, chance, who)
    shutil.copyfile(other.path, tmp_path / "third.protoleaf")
    third = opened(tmp_path / "third.protoleaf")
    for _ in range(ACTIONS):
        act(third, chance, "dora")
    for source in (other, third):
        before = dump(ada)
        merge(ada, source.path)
        is_kept(before, dump(ada))
        assert merge(ada, source.path).change.is_empty
    assert ada.check() == []
