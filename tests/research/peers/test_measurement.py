"""The engine and other libraries on the same draws, without an environment of the peers."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from engine.events import CancelToken
from engine.graph.codes import NO_CLASS
from research.peers import predictions
from research.peers.measurement import MISTAKE_DISTANCE, PeerPlan, PeerResult, measure_peers, score
from research.peers.predictions import (
    PeerError,
    PeerPredictions,
    export_draw,
    paths_of,
    predict_by_peer,
    predict_ours,
)
from research.peers.report import PeerReport
from research.peers.run_peer import PEERS, ExportedDraw
from research.transfer.draws import ShotDraw, Situation, draw
from research.transfer.embedded import EmbeddedCollection
from tests.support.graphs import graph_of, seaside_graph
from tests.support.transfer import collection_of, embedded, small_graph

NEEDS_SKLEARN = pytest.mark.skipif(
    importlib.util.find_spec("sklearn") is None, reason="no scikit-learn"
)
PYTHON = Path(sys.executable)
SITUATION = Situation(has_coarse_labels=False, shots=2)
BASIL, MINT, OAK = 3, 4, 7
# Replaces `run_peer.py`: one method always predicts the first class, one fails, one hangs.
SCRIPT = """
import sys, time
import numpy as np
method, *draws = sys.argv[1:]
if method == "tim":
    raise ValueError("no such thing")
if method == "pt-map":
    time.sleep(60)
for draw in draws:
    count = len(np.load(draw)["queries"])
    target = draw.replace(".npz", f"-{method}.npz")
    np.savez(target, classes=np.zeros(count, dtype=np.int64), \
scores=np.full(count, 0.25), seconds=np.float64(1.5))
"""


@pytest.fixture
def plants() -> EmbeddedCollection:
    """Six leaves with 6 images in `train` and 2 in `val` each; one image of an unknown class."""
    leaves = (3, 4, 5, 7, 8, 10)
    return embedded(
        collection_of(
            dict.fromkeys(leaves, 6), dict.fromkeys(leaves, 2) | {NO_CLASS: 1}, small_graph()
        ),
        noise=0.3,
    )


@pytest.fixture
def scripted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Peers by the script above."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    monkeypatch.setattr(predictions, "SCRIPT", script)


def test_exported_draw(plants: EmbeddedCollection, tmp_path: Path) -> None:
    """Shots with their classes, all unlabelled images, and the hierarchy."""
    drawn = draw(plants.collection, SITUATION, 0)
    export_draw(plants, drawn, tmp_path / "draw.npz")
    with np.load(tmp_path / "draw.npz") as arrays:
        found = dict(arrays)
    np.testing.assert_array_equal(found["support"], plants.floats[drawn.shots])
    np.testing.assert_array_equal(found["queries"], plants.floats[drawn.unlabelled])
    assert sorted(found["classes"].tolist()) == sorted([0, 1, 2, 3, 4, 5] * 2)
    assert found["paths"].tolist() == [
        [1, 2, 3],
        [1, 2, 4],
        [1, 2, 5],
        [1, 6, 7],
        [1, 6, 8],
        [1, 9, 10],
    ]


def test_short_paths_repeat_their_leaf() -> None:
    """A leaf with several paths has its first."""
    collection = collection_of({5: 2, 7: 2, 9: 2}, {}, seaside_graph())
    assert paths_of(collection).tolist() == [[1, 2, 5, 5], [1, 2, 4, 7], [8, 9, 9, 9]]


def test_mistake_distance() -> None:
    """Basil for mint shares herbs (height 1), basil for oak plants (height 2); mean over three."""
    collection = collection_of({BASIL: 5, MINT: 2, OAK: 2}, {}, small_graph())
    nothing = np.array([], dtype=np.int64)
    drawn = ShotDraw(np.array([0]), nothing, nothing, np.arange(1, 9))
    given = np.array([BASIL, BASIL, BASIL, BASIL, BASIL, BASIL, OAK, BASIL])
    figures = score(collection, drawn, PeerPredictions(given, np.full(8, 0.625), 0.5))
    assert figures == {
        "top1": 0.625,
        MISTAKE_DISTANCE: pytest.approx(4 / 3),
        "calibration_error": pytest.approx(0.0),
        "seconds": 0.5,
    }


@pytest.mark.usefixtures("scripted")
def test_predictions_are_read_back(plants: EmbeddedCollection) -> None:
    """Positions are class ids again; images of an unknown class are not scored."""
    plan = PeerPlan(shots=(2,), draws=2, methods=("simple-shot",))
    (result,) = measure_peers(plants, plan, PYTHON)
    assert result.failure == ""
    assert result.values("top1") == pytest.approx((1 / 6, 1 / 6))
    assert result.values("calibration_error") == pytest.approx((1 / 12, 1 / 12))
    assert result.values("seconds") == (1.5, 1.5)
    # 2 leaves share herbs, 3 only plants.
    assert result.values(MISTAKE_DISTANCE) == pytest.approx((8 / 5, 8 / 5))


@pytest.mark.usefixtures("scripted")
def test_a_peer_that_fails(plants: EmbeddedCollection) -> None:
    """Its row and a line have the reason; the others are measured."""
    plan = PeerPlan(shots=(1,), draws=1, methods=("tim", "simple-shot", "everyday"))
    results = measure_peers(plants, plan, PYTHON)
    assert [(each.failure, len(each.draws)) for each in results] == [
        ("ValueError: no such thing", 0),
        ("", 1),
        ("", 1),
    ]
    text = PeerReport("plants", "leafnet", 49, 6, is_elsewhere=False, results=results).as_text()
    assert "easyfsl TIM, 1 shot: failed: ValueError: no such thing" in text.splitlines()
    (row,) = (line for line in text.splitlines() if line.startswith("easyfsl TIM  "))
    assert row.split()[2:] == ["yes", "no", "failed", "-", "-", "-"]


@pytest.mark.usefixtures("scripted")
def test_a_peer_that_takes_too_long(plants: EmbeddedCollection, tmp_path: Path) -> None:
    export_draw(plants, draw(plants.collection, SITUATION, 0), tmp_path / "draw.npz")
    leaves = plants.collection.leaf_ids
    with pytest.raises(PeerError, match=r"took longer than 0\.5 s"):
        predict_by_peer(
            PYTHON, "pt-map", [tmp_path / "draw.npz"], leaves, limit_s=0.5, cancel=CancelToken()
        )


@NEEDS_SKLEARN
def test_a_real_library(plants: EmbeddedCollection) -> None:
    """By the script of the peers' environment."""
    (result,) = measure_peers(
        plants, PeerPlan(shots=(2,), draws=1, methods=("logistic-regression",)), PYTHON
    )
    assert result.failure == ""
    assert result.values("top1")[0] > 0.9


@NEEDS_SKLEARN
@pytest.mark.parametrize(
    "method", ["logistic-regression-scaled", "self-training-scaled", "label-spreading-knn"]
)
def test_methods_of_scikit_learn(plants: EmbeddedCollection, tmp_path: Path, method: str) -> None:
    drawn = draw(plants.collection, SITUATION, 0)
    export_draw(plants, drawn, tmp_path / "draw.npz")
    with np.load(tmp_path / "draw.npz") as arrays:
        classes, scores = PEERS[method].predict(ExportedDraw(**arrays))
    found = PeerPredictions(plants.collection.leaf_ids[classes], scores(), 0)
    assert score(plants.collection, drawn, found)["top1"] > 0.9
    assert np.all((found.scores > 1 / 6) & (found.scores <= 1))


def test_without_a_graph() -> None:
    """With roots only, both models are equal; else they differ."""
    images = dict.fromkeys(range(1, 6), 8)
    flat = embedded(collection_of(images, {}, graph_of({name: [] for name in "abcde"})), noise=0.8)
    deep = embedded(collection_of(dict.fromkeys((3, 4, 5, 7, 8), 8), {}, small_graph()), noise=0.8)
    differ = []
    for each in (flat, deep):
        drawn = draw(each.collection, SITUATION, 0)
        with_graph, without = (
            predict_ours(each, drawn, with_collection=False, with_graph=way)
            for way in (True, False)
        )
        assert set(without.class_ids.tolist()) <= set(each.collection.leaf_ids.tolist())
        differ.append(not np.array_equal(with_graph.scores, without.scores))
    assert differ == [False, True]


def test_every_peer_has_a_title_of_its_own() -> None:
    titles = [peer.title for peer in PEERS.values()]
    assert len(set(titles)) == len(titles)


def test_figures_without_mistakes_are_no_numbers() -> None:
    """None in JSON, a dash in the table."""
    figures = {
        "top1": 1.0,
        MISTAKE_DISTANCE: float("nan"),
        "calibration_error": 0.0,
        "seconds": 1.0,
    }
    report = PeerReport(
        "plants", "leafnet", 4, 2, is_elsewhere=True, results=(PeerResult("tim", 5, (figures,)),)
    )
    assert report.as_fields()["results"][0]["draws"][0][MISTAKE_DISTANCE] is None
    assert "| easyfsl TIM | yes | no | 100.0 | - | 0.0 | 1.00 |" in report.as_text(is_markdown=True)
    assert (
        "plants, leafnet, val is the collection, 5 shots: 2 classes, 4 images, 1 draw"
        in report.as_text()
    )
