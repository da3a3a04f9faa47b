"""Wrong labels planted in synthetic collections, found, counted and reported."""

import numpy as np
import pytest

from research.label_errors.measurement import FIRST, measure_label_errors, scored
from research.label_errors.methods import METHODS, OURS, check_peer
from research.label_errors.planted import ErrorKind, plant
from research.label_errors.report import LabelErrorReport
from research.transfer.embedded import EmbeddedCollection
from tests.support.transfer import collection_of, embedded, small_graph

LEAVES = (3, 4, 5, 7, 8, 10)


@pytest.fixture(scope="module")
def images() -> EmbeddedCollection:
    """Six leaves in three branches, 20 images of `train` each; read-only."""
    return embedded(
        collection_of(dict.fromkeys(LEAVES, 20), dict.fromkeys(LEAVES, 2), small_graph())
    )


@pytest.mark.parametrize("kind", list(ErrorKind))
def test_so_many_labels_are_wrong(images: EmbeddedCollection, kind: ErrorKind) -> None:
    """Siblings share a parent; the same seed plants the same errors."""
    graph, truth = images.collection.graph, images.collection.class_ids[images.collection.is_train]
    planted = plant(graph, truth, 0.05, kind, 1)
    assert planted.is_wrong.sum() == 6
    assert np.array_equal(planted.labels, plant(graph, truth, 0.05, kind, 1).labels)
    assert not np.array_equal(planted.labels, plant(graph, truth, 0.05, kind, 2).labels)
    for label, right in zip(planted.labels[planted.is_wrong], truth[planted.is_wrong], strict=True):
        is_sibling = bool(set(graph.parents(int(label))) & set(graph.parents(int(right))))
        assert is_sibling or kind is ErrorKind.UNIFORM


def test_figures_counted_by_hand() -> None:
    """Two of four are wrong, ranked first and third."""
    found = scored(np.array([0.9, 0.1, 0.5, 0.7]), np.array([True, False, True, False]))
    assert (found.precision, found.recall, found.precision_at_planted) == (0.5, 1.0, 0.5)
    assert found.average_precision == pytest.approx((1 + 2 / 3) / 2)


def test_planted_labels_are_found_and_reported(images: EmbeddedCollection) -> None:
    """In separable classes all are found, by the program and by each of its parts."""
    draws = measure_label_errors(images, 2, shares=(0.05,), with_peer=False)
    assert len(draws) == 2 * len(ErrorKind)
    for draw in draws:
        assert set(draw.found) == set(METHODS)
        assert draw.found[OURS].recall == 1.0
        assert draw.found[OURS].precision == pytest.approx(6 / FIRST)
        assert draw.found[OURS].precision_at_planted > 0.9
        assert draw.called.labels == draw.called.hits > 0
    report = LabelErrorReport("plants", "leafnet", 120, 6, 2, draws)
    text = report.as_text()
    for words in (
        "5% any class",
        "5% siblings",
        "its prototypes alone",
        "Recall of the first 50",
        "100.0 ± 0.0",
    ):
        assert words in text
    assert "| Protoleaf |" in report.as_text(is_markdown=True)
    assert report.as_fields()["measured"][0]["found"][OURS]["recall"] == 1.0


def test_a_missing_peer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is computed, with the command to install it."""
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name: None if name == "cleanlab" else object()
    )
    with pytest.raises(Exception, match="cleanlab") as caught:
        check_peer()
    assert "label-peers" in str(caught.value)


def test_the_peer_finds_them_too(images: EmbeddedCollection) -> None:
    """All its methods work, if it is installed."""
    pytest.importorskip("cleanlab")
    pytest.importorskip("datasets")
    pytest.importorskip("sklearn")
    (draw, *_others) = measure_label_errors(images, 1, shares=(0.05,))
    for name, found in draw.found.items():
        assert found.recall > 0.8, name
