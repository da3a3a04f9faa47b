import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.errors import Cancelled, InputError, UsageError
from engine.events import CancelToken, Progress
from research.transfer import methods
from research.transfer.draws import Situation, draw
from research.transfer.embedded import EmbeddedCollection
from research.transfer.measurement import TransferPlan, check_plan, measure_transfer
from research.transfer.measuring import measure_peer
from research.transfer.methods import METHODS, Method
from research.transfer.peers import nearest_prototype
from research.transfer.results import TOP1, Outcome
from research.transfer.task import FewShotTask
from tests.support.graphs import graph_of
from tests.support.transfer import collection_of, embedded, small_graph

COLLECTION = collection_of({3: 8, 4: 8, 5: 8, 7: 8, 8: 8}, {3: 2, 7: 2, 1: 3}, small_graph())
WIDE = collection_of(
    {3: 40, 4: 30, 5: 8, 7: 8, 8: 8}, {3: 9, 4: 9, 5: 9, 7: 9, 8: 9}, small_graph()
)


@pytest.fixture(scope="module")
def images() -> EmbeddedCollection:
    """Embeddings in memory."""
    return embedded(COLLECTION)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[tuple[Situation, ...], int]]:
    """Arguments of the only method; its accuracy encodes the draw."""
    asked: list[tuple[tuple[Situation, ...], int]] = []

    def measure(
        _embedded: EmbeddedCollection, situations: Sequence[Situation], seed: int
    ) -> Mapping[Situation, Outcome]:
        asked.append((tuple(situations), seed))
        return {situation: {"": {TOP1: seed / 10}} for situation in situations}

    monkeypatch.setitem(METHODS, "fake", Method("fake", measure))
    return asked


def test_goes_on_where_it_stopped(
    images: EmbeddedCollection, calls: list[tuple[tuple[Situation, ...], int]], tmp_path: Path
) -> None:
    """Stored draws are not measured again; a new situation gets its draws alone."""
    plain, coarse = Situation(False, 1), Situation(True, 1)
    plan = TransferPlan(shots=(1,), draws=2, methods=("fake",), with_coarse_labels=False)
    measure_transfer(images, plan, runs=tmp_path)
    measure_transfer(images, replace(plan, draws=3), runs=tmp_path)
    assert calls == [((plain,), 0), ((plain,), 1), ((plain,), 2)]
    calls.clear()
    found = measure_transfer(images, replace(plan, draws=2, with_coarse_labels=True), runs=tmp_path)
    assert calls == [((coarse,), 0), ((coarse,), 1)]
    assert [(result.cell.situation, result.values()) for result in found] == [
        (plain, (0.0, 0.1)),
        (coarse, (0.0, 0.1)),
    ]
    calls.clear()
    measure_transfer(images, plan, runs=tmp_path, is_from_scratch=True)
    assert len(calls) == 2


def test_keeps_each_draw_when_stopped(
    images: EmbeddedCollection, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """When cancelled, finished draws are on disk, and the next run continues after them."""
    cancel = CancelToken()
    asked: list[int] = []

    def measure(
        _embedded: EmbeddedCollection, situations: Sequence[Situation], seed: int
    ) -> Mapping[Situation, Outcome]:
        asked.append(seed)
        cancel.cancel()
        return {situation: {"": {TOP1: 0.5}} for situation in situations}

    monkeypatch.setitem(METHODS, "fake", Method("fake", measure))
    plan = TransferPlan(shots=(1,), draws=2, methods=("fake",), with_coarse_labels=False)
    with pytest.raises(Cancelled):
        measure_transfer(images, plan, runs=tmp_path, cancel=cancel)
    measure_transfer(images, plan, runs=tmp_path)
    assert asked == [0, 1]


def test_without_a_folder_nothing_is_kept(
    images: EmbeddedCollection, calls: list[tuple[tuple[Situation, ...], int]], tmp_path: Path
) -> None:
    """Every run measures again."""
    plan = TransferPlan(shots=(2,), draws=1, methods=("fake",))
    for _ in range(2):
        measure_transfer(images, plan)
    assert len(calls) == 2
    assert list(tmp_path.iterdir()) == []


def test_other_options_are_measured_again(
    images: EmbeddedCollection,
    calls: list[tuple[tuple[Situation, ...], int]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Draws stored before a method had its default are not mixed with new ones."""
    plan = TransferPlan(shots=(1,), draws=2, methods=("fake",), with_coarse_labels=False)
    measure_transfer(images, replace(plan, draws=1), runs=tmp_path)

    def measure(
        _embedded: EmbeddedCollection, situations: Sequence[Situation], _seed: int
    ) -> Mapping[Situation, Outcome]:
        return {situation: {"new": {TOP1: 0.5}} for situation in situations}

    monkeypatch.setitem(METHODS, "fake", Method("fake", measure, "new"))
    (found,) = measure_transfer(images, plan, runs=tmp_path)
    assert (found.options, found.values()) == (("new",), (0.5, 0.5))
    assert len(calls) == 1


@pytest.mark.slow
def test_side_by_side_is_the_same(images: EmbeddedCollection, tmp_path: Path) -> None:
    """Two processes find the same as one, in the same order and the same files."""
    plan = TransferPlan(shots=(1, 2), draws=2, methods=("prototypes", "everyday"))
    alone = measure_transfer(images, plan, runs=tmp_path / "one")
    beside = measure_transfer(images, plan, runs=tmp_path / "two", workers=2)
    assert repr(beside) == repr(alone)  # the accuracy of no covered images is NaN
    files = sorted(
        path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*.json")
    )
    assert len(files) == 2 * 2 * 2
    assert all(
        (tmp_path / "one" / path).read_bytes() == (tmp_path / "two" / path).read_bytes()
        for path in files
    )


@pytest.mark.slow
def test_side_by_side_stops(images: EmbeddedCollection, tmp_path: Path) -> None:
    """Finished draws are stored, and the next run continues."""
    cancel = CancelToken()
    plan = TransferPlan(shots=(1,), draws=30, methods=("prototypes",), with_coarse_labels=False)

    def stop(progress: Progress) -> None:
        if progress.done:
            cancel.cancel()

    with pytest.raises(Cancelled):
        measure_transfer(images, plan, runs=tmp_path, workers=2, on_progress=stop, cancel=cancel)
    (kept,) = tmp_path.rglob("*.json")
    assert 1 <= len(json.loads(kept.read_text(encoding="utf-8"))["draws"]) < 30
    assert len(measure_transfer(images, plan, runs=tmp_path)[0].draws) == 30


def test_peer_sees_all_and_is_scored_on_the_unlabelled(images: EmbeddedCollection) -> None:
    """Images with a coarse label are queries, but not scored; neither are images without a leaf."""
    seen: list[FewShotTask] = []

    def spy(task: FewShotTask) -> Mapping[str, np.ndarray[tuple[int], np.dtype[np.int64]]]:
        seen.append(task)
        return {"first": np.zeros(len(task.queries), dtype=np.int64)}

    situations = (Situation(False, 2), Situation(True, 2))
    found = measure_peer(spy, images, situations, 3)
    (task,) = seen
    assert (len(task.support), len(task.queries), task.ways) == (10, len(COLLECTION.files) - 10, 5)
    for situation in situations:
        rows = draw(COLLECTION, situation, 3).unlabelled
        answers = COLLECTION.class_ids[rows]
        expected = (answers == 3).sum() / (answers >= 0).sum()
        assert found[situation]["first"][TOP1] == pytest.approx(expected)
    # Two of each of two leaves.
    assert found[situations[0]]["first"]["top1_val"] == pytest.approx(2 / 4)


def test_a_peer_may_get_coarse_labels(images: EmbeddedCollection) -> None:
    """The labelled queries and candidate leaves; None without coarse labels."""
    seen: list[FewShotTask] = []

    def spy(task: FewShotTask) -> Mapping[str, np.ndarray[tuple[int], np.dtype[np.int64]]]:
        seen.append(task)
        return {"first": np.zeros(len(task.queries), dtype=np.int64)}

    situations = (Situation(False, 2), Situation(True, 2))
    found = measure_peer(spy, images, situations, 3, with_coarse_labels=True)
    plain, with_coarse = seen
    assert plain.coarse is None
    assert with_coarse.coarse is not None
    drawn = draw(COLLECTION, situations[1], 3)
    queries = np.setdiff1d(drawn.rows, drawn.shots)
    assert queries[with_coarse.coarse.positions].tolist() == drawn.coarse.tolist()
    herbs, trees = [True] * 3 + [False] * 2, [False] * 3 + [True] * 2
    assert with_coarse.coarse.leaves.tolist() == [
        {2: herbs, 6: trees}[each] for each in drawn.coarse_ids.tolist()
    ]
    assert found.keys() == set(situations)


def test_what_needs_coarse_labels_is_measured_with_them_alone(images: EmbeddedCollection) -> None:
    """One cell where others have two; without coarse labels there is nothing to measure."""
    plan = TransferPlan(shots=(1,), draws=1, methods=("prototypes", "coarse-label-propagation"))
    cells = [result.cell for result in measure_transfer(images, plan)]
    assert [(cell.method, cell.situation.has_coarse_labels) for cell in cells] == [
        ("prototypes", False),
        ("prototypes", True),
        ("coarse-label-propagation", True),
    ]
    check_plan(COLLECTION, replace(plan, with_coarse_labels=False))
    with pytest.raises(UsageError, match="nothing to measure without coarse labels"):
        check_plan(COLLECTION, replace(plan, with_coarse_labels=False, methods=plan.methods[1:]))


def test_no_coarse_labels_where_no_class_is_coarse(images: EmbeddedCollection) -> None:
    """A flat collection is measured with shots alone."""
    flat = collection_of({1: 4, 2: 4}, {1: 2}, graph_of({"Oak": [], "Pine": []}))
    assert check_plan(flat, TransferPlan()) == TransferPlan(with_coarse_labels=False)
    assert check_plan(images.collection, TransferPlan()) == TransferPlan()


def test_peer_elsewhere_sees_labelled_images_and_val(images: EmbeddedCollection) -> None:
    """Queries are val and images with coarse labels; val alone is scored."""
    asked: list[int] = []

    def spy(task: FewShotTask) -> Mapping[str, np.ndarray[tuple[int], np.dtype[np.int64]]]:
        asked.append(len(task.queries))
        return {"first": np.zeros(len(task.queries), dtype=np.int64)}

    plain, coarse = Situation(False, 2, is_elsewhere=True), Situation(True, 2, is_elsewhere=True)
    found = measure_peer(spy, images, (plain, coarse), 3)
    assert asked == [7, 7 + len(draw(COLLECTION, coarse, 3).coarse)]
    assert asked[1] > 7
    for situation in (plain, coarse):
        # Three of the seven are of no leaf.
        assert found[situation]["first"][TOP1] == pytest.approx(2 / 4)


@pytest.mark.parametrize(
    "method",
    ["prototypes", "whitened-prototypes", "tim", "everyday-without-collection", "everyday"],
)
def test_elsewhere_the_rest_of_train_teaches_nothing(method: str) -> None:
    """Other images of train do not change the figures."""
    embeddings = embedded(WIDE, noise=2.0)
    situation = Situation(True, 2, is_elsewhere=True)
    others = np.setdiff1d(np.arange(len(WIDE.files)), draw(WIDE, situation, 1).rows)
    assert len(others) > 10
    changed = embeddings.embeddings.copy()
    changed[others] = np.roll(changed[others], 7, axis=1)
    moved = replace(embeddings, embeddings=changed)
    outcome, again = (
        METHODS[method].measure(each, (situation,), 1)[situation] for each in (embeddings, moved)
    )
    np.testing.assert_equal(again, outcome)  # without a safe class the accuracy is NaN in both
    assert all(0.2 < figures[TOP1] <= 1 for figures in outcome.values())


def test_plan_of_elsewhere(
    images: EmbeddedCollection, calls: list[tuple[tuple[Situation, ...], int]]
) -> None:
    """In place of the default situations, with and without coarse labels."""
    plan = TransferPlan(shots=(1,), draws=1, methods=("fake",), is_elsewhere=True)
    found = measure_transfer(images, plan)
    assert calls == [((Situation(False, 1, True), Situation(True, 1, True)), 0)]
    assert [result.cell.situation for result in found] == [
        Situation(False, 1, True),
        Situation(True, 1, True),
    ]


def test_refuses_a_val_that_cannot_be_scored() -> None:
    """Where val has no image of a leaf of train, only elsewhere is refused."""
    nothing = collection_of({3: 4, 4: 4}, {1: 3}, small_graph())
    with pytest.raises(InputError, match="nothing in val can be scored"):
        check_plan(nothing, TransferPlan(is_elsewhere=True))
    check_plan(nothing, TransferPlan())
    check_plan(COLLECTION, TransferPlan(is_elsewhere=True))


def test_peer_predicts_class_ids(images: EmbeddedCollection) -> None:
    """On separable embeddings the nearest prototype is nearly always correct."""
    found = measure_peer(nearest_prototype.predict, images, (Situation(False, 3),), 0)
    assert found[Situation(False, 3)]["plain"][TOP1] > 0.9


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if not method.is_ours])
def test_every_default_is_an_option(name: str, images: EmbeddedCollection) -> None:
    """The default of each method is measured."""
    situation = Situation(True, 2)
    outcome = METHODS[name].measure(images, (situation,), 0)[situation]
    assert METHODS[name].default in outcome


def test_every_method_is_named_once() -> None:
    """Titles are unique; the slow method through files runs only by name."""
    assert len({method.title for method in METHODS.values()}) == len(METHODS)
    assert methods.IN_PROJECT not in methods.DEFAULT_METHODS
