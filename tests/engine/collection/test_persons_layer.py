"""Automatic processing never changes labels, confirmations, notes or classes."""

from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import pytest

from engine.collection.graph_suggestions.find import find_suggestions, suggestion_input
from engine.collection.live import LiveCollection
from engine.everyday.classifier import Setting
from engine.review.label_check import check_labels, label_check_input
from tests.support.drawn_embeddings import DrawnEmbeddings, drawn_kinds
from tests.support.projects import dump

IMAGES = 48
STEPS = 8


def _fit(drawn: DrawnEmbeddings) -> None:
    drawn.live.load()


def _rank(drawn: DrawnEmbeddings) -> None:
    drawn.live.rank_images_to_label(is_wanted=True)
    drawn.live.load()


def _classify(drawn: DrawnEmbeddings) -> None:
    for setting in Setting:
        live = LiveCollection(drawn.project, drawn.caches, setting=setting)
        live.load()
        live.embedded.close()


def _check_labels(drawn: DrawnEmbeddings) -> None:
    check_labels(label_check_input(drawn.live))


def _suggest(drawn: DrawnEmbeddings) -> None:
    given = suggestion_input(drawn.live)
    if given is not None:
        find_suggestions(given)


def _ask(drawn: DrawnEmbeddings) -> None:
    ids = drawn.live.state.image_ids.tolist()
    drawn.live.guesses(ids)
    for image_id in ids[:5]:
        drawn.live.explain(image_id)
    for class_id in drawn.project.classes.graph.classes():
        drawn.live.class_facts(class_id)
        drawn.live.candidates(class_id)


def _embed_again(drawn: DrawnEmbeddings) -> None:
    ids = drawn.live.state.image_ids.tolist()
    drawn.embed({image_id: drawn.near(image_id % 4, seed=image_id + 1000) for image_id in ids[::3]})


MACHINE: Sequence[Callable[[DrawnEmbeddings], None]] = (
    _fit,
    _rank,
    _classify,
    _check_labels,
    _suggest,
    _ask,
    _embed_again,
)
"""All automatic processing that sets no labels."""


def _person_acts(drawn: DrawnEmbeddings, chance: Random) -> None:
    """A random action on labels, notes or confirmations."""
    project, graph = drawn.project, drawn.project.classes.graph
    ids = chance.sample(range(1, IMAGES + 1), chance.randint(1, 6))
    acts = (
        lambda: project.labels.set(ids, chance.choice(graph.classes())),
        lambda: project.labels.set(ids, None),
        lambda: project.labels.remove(ids),
        lambda: project.labels.confirm(ids),
        lambda: project.notes.set_stars(ids, chance.randint(0, 5)),
        lambda: project.notes.set_flagged(ids, chance.random() < 0.5),
        lambda: project.notes.set_comment(ids, chance.choice(("", "blurred", "check this"))),
        project.history.undo,
        project.history.redo,
    )
    drawn.act(chance.choice(acts)())


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_no_machine_run_changes_a_persons_layer(tmp_path: Path, seed: int) -> None:
    """All journaled tables are equal before and after each run, after any actions."""
    chance = Random(seed)
    drawn = drawn_kinds(tmp_path, [["A"], ["A"], ["B"], ["A", "B"]], images=IMAGES)
    for _step in range(STEPS):
        _person_acts(drawn, chance)
        run = chance.choice(MACHINE)
        before, steps = dump(drawn.project), len(drawn.project.history.steps())
        run(drawn)
        assert dump(drawn.project) == before, run.__name__
        assert len(drawn.project.history.steps()) == steps, run.__name__


@pytest.mark.slow
def test_every_machine_run_is_tried(tmp_path: Path) -> None:
    """Each runs once, on labels that differ from its predictions."""
    drawn = drawn_kinds(tmp_path, [["A"], ["A"], ["B"], ["B"]], images=IMAGES)
    leaf = drawn.project.classes.graph.find("leaf 1")
    drawn.act(drawn.project.labels.set(range(4, IMAGES, 4), leaf))
    drawn.act(drawn.project.labels.confirm([4, 8]))
    drawn.act(drawn.project.notes.set_comment([4], "a fox?"))
    before = dump(drawn.project)
    assert before["label"]
    assert before["confirmed_label"]
    assert before["image_note"]
    for run in MACHINE:
        run(drawn)
        assert dump(drawn.project) == before, run.__name__
