"""The simulated reviewer by group on a synthetic collection: few keys, no wrong label."""

from pathlib import Path

import numpy as np
import pytest

from engine.collection.models import find_model
from engine.everyday.blocks import to_fixed
from engine.files import FoundFile
from engine.graph.category_graph import CategoryGraph
from research.benchmarks.synthetic import synthetic_embeddings
from research.teaching.expected_errors import design_effect_of, measure_expected_errors
from research.teaching.review_person import (
    ENOUGH,
    Desk,
    in_folder_order,
    review_cards,
    review_groups,
)
from research.teaching.review_report import FOLDER, GROUPS, ReviewReport
from research.transfer.collection import TransferCollection
from research.transfer.embedded import EmbeddedCollection

IMAGES = 120


@pytest.fixture(scope="module")
def embedded() -> EmbeddedCollection:
    """Twelve leaves in four families; every second image is of `train`."""
    model, graph, leaves = find_model(), CategoryGraph(), list[int]()
    for family in range(4):
        parent = graph.add_class(f"family {family}")
        leaves += [graph.add_class(f"leaf {family}.{leaf}", (parent,)) for leaf in range(3)]
    drawn = synthetic_embeddings(IMAGES, model.card.embedding_width, classes=12, families=4)
    truth = np.array(leaves, dtype=np.int64)[drawn.classes]
    files = tuple(
        FoundFile(Path(f"/photos/{leaf:02d}/{n}.jpg"), 1, 1)
        for n, leaf in enumerate(truth.tolist())
    )
    collection = TransferCollection(
        Path("/photos"), graph, files, np.arange(IMAGES) % 2 == 0, truth
    )
    return EmbeddedCollection(collection, model, to_fixed(drawn.embeddings))


@pytest.mark.slow
def test_groups_take_fewer_keys_than_cards(embedded: EmbeddedCollection) -> None:
    """Both end with at least 90 % correct labels, without errors."""
    rows = np.arange(len(embedded.embeddings))
    by_group, by_card = Desk(embedded, rows), Desk(embedded, rows)
    groups = review_groups(by_group)
    cards = review_cards(by_card, in_folder_order)
    for desk in (by_group, by_card):
        labelled = desk.labels >= 0
        assert (desk.labels[labelled] == desk.truth[labelled]).all()
        assert desk.curve[-1].right >= ENOUGH
    assert by_group.keys < by_card.keys
    assert len(cards.curve) == by_card.decisions + 1
    assert sum(each.wrong for each in groups.groups) <= sum(each.images for each in groups.groups)
    report = ReviewReport("crowd", "drawn", len(rows), 12, {GROUPS: groups, FOLDER: cards}, ())
    assert "review by group" in report.as_text()
    assert report.as_fields()["outcomes"][GROUPS]["keys"][-1] == by_group.keys


def test_keys_of_a_name(embedded: EmbeddedCollection) -> None:
    """Enter, a digit, or R, letters and Enter."""
    desk = Desk(embedded, np.arange(len(embedded.embeddings)))
    leaf, other = np.unique(desk.truth)[:2].tolist()
    assert desk.keys_to_name(leaf, leaf, []) == 1
    assert desk.keys_to_name(leaf, other, [other, leaf]) == 1
    assert desk.keys_to_name(leaf, other, []) >= 3


def test_expected_errors_are_counted_beside_the_true_ones(embedded: EmbeddedCollection) -> None:
    """Of groups and of bulk accepts, with intervals."""
    found = measure_expected_errors(embedded, (2,))
    assert [each.kind for each in found][:2] == ["groups with a class", "of these, sure ones"]
    for each in found:
        assert 0 <= each.expected <= each.images
        assert 0 <= each.wrong <= each.images
        low, high = each.interval
        assert low - 1e-9 <= each.wrong <= high
        assert each.is_kept == (low <= each.expected <= high)
        assert low <= each.image_interval[0] <= each.image_interval[1] <= high


def test_errors_that_come_together_count_as_fewer() -> None:
    """By hand: two of four groups of ten are wrong; the variance is 13-fold."""
    sizes, wrong = np.full(4, 10.0), np.array([10.0, 10.0, 0.0, 0.0])
    assert design_effect_of(sizes, wrong) == pytest.approx(4 / 3 * 100 / 10)
    assert design_effect_of(sizes, np.array([3.0, 3.0, 3.0, 3.0])) == 1.0
    assert design_effect_of(sizes[:1], wrong[:1]) == 1.0
