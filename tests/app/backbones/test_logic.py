"""What the panel knows, without Qt."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.backbones.logic import BackboneRow, ChangeFigures, Column, Origin, PublishedRow, ReadyChange, arranged
from app.backbones.numbers import numbers_text, three_numbers
from engine.collection.backbone_change.change import PreparedChange
from engine.collection.backbone_change.shot_comparison import ShotComparison
from engine.embedding.records import EmbedResult
from engine.files import FileFailure
from tests.support.backbone_tasks import LARGE, SMALL

ROWS = [PublishedRow.of_network(network) for network in (SMALL, LARGE)]


def test_a_published_network_as_the_worker_lists_it() -> None:
    """Names for people, shares instead of percent, and the host that would be asked."""
    row = ROWS[0]
    assert (row.name, row.library_name) == ("smallnet V1", "torchvision-smallnet-imagenet1k_v1")
    assert (row.size_bytes, row.host) == (4_800_000, "127.0.0.1")
    assert row.accuracy == pytest.approx(0.581)
    assert not row.is_here


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
    assert [row.network for row in arranged(ROWS, Column.NAME, words="commercial LARGE")] == ["largenet"]
    assert [row.network for row in arranged(ROWS, Column.NAME, words="net v1")] == ["largenet", "smallnet"]
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


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("0.485, 0.456, 0.406", (0.485, 0.456, 0.406)),
        ("[0.5 0.5 0.5]", (0.5, 0.5, 0.5)),
        ("(123.68; 116.779; 103.939)", (123.68, 116.779, 103.939)),
        ("0.5", (0.5, 0.5, 0.5)),
    ],
)
def test_three_numbers_as_people_paste_them(text: str, values: tuple[float, float, float]) -> None:
    """And back again, as the same numbers."""
    assert three_numbers(text) == values
    assert three_numbers(numbers_text(values)) == values


@pytest.mark.parametrize("text", ["", "1, 2", "1, 2, 3, 4", "a, b, c", "1, nan, 2"])
def test_what_are_no_three_numbers(text: str) -> None:
    """Refused."""
    with pytest.raises(ValueError, match=r"number|float"):
        three_numbers(text)


def test_long_numbers_survive_the_field() -> None:
    """CLIP's constants have more digits than a short form shows."""
    values = (0.48145466, 0.4578275, 0.40821073)
    assert three_numbers(numbers_text(values)) == values
