"""What the panel knows, without Qt."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.backbones.logic import BackboneRow, ChangeFigures, Column, Origin, PublishedRow, ReadyChange, arranged
from engine.collection.backbone_change.change import PreparedChange
from engine.collection.backbone_change.shot_comparison import ShotComparison
from engine.embedding.records import EmbedResult
from engine.files import FileFailure
from tests.support.backbone_jobs import LARGE, SMALL

ROWS = [PublishedRow(network) for network in (SMALL, LARGE)]


def test_a_published_network_as_the_worker_lists_it() -> None:
    """The name is one for people."""
    assert (ROWS[0].name, ROWS[0].is_here) == ("smallnet V1", False)


@pytest.mark.parametrize(
    ("origin", "is_used", "is_removable"),
    [
        (Origin.ADDED, False, True),
        (Origin.PUBLISHED, False, True),
        (Origin.ADDED, True, False),
        (Origin.BUNDLED, False, False),
    ],
)
def test_what_can_be_removed(origin: Origin, is_used: bool, is_removable: bool) -> None:
    """What the person added, unless the project uses it."""
    row = BackboneRow("mine", "mine", 224, 512, 1, origin, is_used=is_used)
    assert row.is_removable is is_removable


@pytest.mark.parametrize(
    ("column", "first"),
    [
        (Column.NAME, "largenet SWAG_V1"),
        (Column.SIZE, "smallnet V1"),
        (Column.ACCURACY, "smallnet V1"),
        (Column.SIDE, "smallnet V1"),
        (Column.LICENCE, "largenet SWAG_V1"),
    ],
)
def test_sorted_by_each_column(column: Column, first: str) -> None:
    """Both ways."""
    names = [row.name for row in arranged(ROWS, column)]
    assert names[0] == first
    assert [row.name for row in arranged(ROWS, column, descending=True)] == names[::-1]


def test_search_takes_all_words_in_name_and_licence() -> None:
    """In any order, in any case."""
    assert [row.network.network for row in arranged(ROWS, Column.NAME, words="commercial LARGE")] == ["largenet"]
    assert [row.network.network for row in arranged(ROWS, Column.NAME, words="net v1")] == ["largenet", "smallnet"]
    assert arranged(ROWS, Column.NAME, words="resnet") == []


def test_a_difference_counts_only_beyond_chance() -> None:
    """Better, worse, or about as good; without pairs nothing is claimed."""
    better = ChangeFigures(0.5, 0.7, 200, (0.1, 0.3), may_be_chance=False)
    assert (better.is_better, better.is_worse) == (True, False)
    worse = replace(better, before=0.9, interval=(-0.3, -0.1))
    assert (worse.is_better, worse.is_worse) == (False, True)
    doubtful = replace(better, interval=(-0.1, 0.3), may_be_chance=True)
    assert (doubtful.is_better, doubtful.is_worse) == (False, False)
    unpaired = replace(better, interval=None)
    assert (unpaired.is_better, unpaired.is_worse) == (False, False)


def test_a_change_that_a_worker_prepared() -> None:
    """The result and the batches before it."""
    comparison = ShotComparison(before=0.5, after=None, shots=0)
    prepared = PreparedChange("tinyleaf", "tinyleaf", "00ff", comparison, 3, (FileFailure(Path("gone"), "it is gone"),))
    news = [EmbedResult(7, None, "it is gone")]
    ready = ReadyChange.of_prepared(prepared, news)
    assert ready.news == tuple(news)
    assert (ready.figures.before, ready.figures.after, ready.failed) == (0.5, None, 1)
