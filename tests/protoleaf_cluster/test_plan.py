"""A plan assigns every image to one shard and is read as written."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.dataset.manifest import PLAN_FILE
from engine.errors import Cancelled, FormatError
from engine.events import CancelToken
from protoleaf_cluster.plan import IMAGE, TABLE, TAR_FILE, Piece, ShardPlan, grouped, write_plan

PIECES = [
    *(Piece(IMAGE, f"/photos/{number}.jpg", number) for number in range(3)),
    Piece(IMAGE, "/photos/\udcff.jpg", None),
    Piece(TAR_FILE, "s3://bucket/1.tar", 10_240, images=None),
    Piece(TABLE, "/tables/1.parquet", 900, 0, 2, 4),
    Piece(IMAGE, "/photos/last.jpg", 7),
]


def test_a_plan_comes_back(tmp_path: Path) -> None:
    """With names of invalid Unicode, as on Linux."""
    assert write_plan(tmp_path, PIECES, 3, CancelToken()) == (5, None)
    plan = ShardPlan(tmp_path)
    shards = [plan.pieces(number) for number in range(5)]
    assert [piece for shard in shards for piece in shard] == PIECES
    assert [len(shard) for shard in shards] == [3, 1, 1, 1, 1]


def test_images_are_counted_where_that_is_possible(tmp_path: Path) -> None:
    """In folders and tables; tar files must be read for that."""
    pieces = [piece for piece in PIECES if piece.kind != TAR_FILE]
    assert write_plan(tmp_path, pieces, 100, CancelToken()) == (1, 9)


@pytest.mark.slow
@given(st.lists(st.one_of(st.none(), st.integers(1, 9)), max_size=60), st.integers(1, 12))
def test_every_piece_is_in_one_shard(counts: list[int | None], most: int) -> None:
    """In order; at most the requested number of images, unless a single piece has more."""
    pieces = [Piece(IMAGE, str(place), images=count) for place, count in enumerate(counts)]
    shards = list(grouped(pieces, most))
    assert [piece for shard in shards for piece in shard] == pieces
    assert all(
        len(shard) == 1 or sum(each.images or most for each in shard) <= most for shard in shards
    )


def test_a_stopped_plan_leaves_nothing(tmp_path: Path) -> None:
    """No partial plan is published."""
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        write_plan(tmp_path, PIECES, 3, cancel)
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_plan_is_refused(tmp_path: Path) -> None:
    """One line."""
    write_plan(tmp_path, PIECES, 3, CancelToken())
    path = tmp_path / PLAN_FILE
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(FormatError, match="the plan of the data set cannot be read"):
        ShardPlan(tmp_path)
