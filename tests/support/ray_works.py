"""Cluster tasks that fail; run as a program, which prints the result.

python -m tests.support.ray_works NAME | new FOLDER
"""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engine.dataset.described_folder import ShardFacts, shard_path
from engine.errors import InputError, ProtoleafError, StorageError
from engine.events import CancelToken, ignore_progress
from protoleaf_cluster.ray_cluster import LOCAL, connected
from protoleaf_cluster.ray_workers import run_shards
from protoleaf_cluster.run import Places, do_all
from protoleaf_cluster.shard_work import DoShard, FinishedShard, Resources

SHARDS = 6
BAD = 3


def _done(number: int) -> FinishedShard:
    return FinishedShard(number, ShardFacts(1, 0), is_new=True)


def _kills(number: int) -> FinishedShard:
    if number == BAD:
        os._exit(1)
    return _done(number)


def _refuses(number: int) -> FinishedShard:
    if number == BAD:
        raise StorageError("the disk of shard {number} is gone", number=number)
    return _done(number)


def _has_a_bug(number: int) -> FinishedShard:
    return _done(1 // (BAD - number) and number)


@dataclass(frozen=True)
class BadWork:
    """A failing task by name."""

    name: str

    def open(self, resources: Resources) -> DoShard:
        """Fail as the name says."""
        assert resources == Resources()
        if self.name == "opens badly":
            raise InputError("nothing can be opened here")
        if self.name == "dies opening":
            os._exit(1)
        works: dict[str, Callable[[int], FinishedShard]] = {
            "kills": _kills,
            "refuses": _refuses,
            "has a bug": _has_a_bug,
        }
        return works[self.name]


@dataclass(frozen=True)
class LastWords:
    """A task whose worker dies after making a shard, before reporting it."""

    folder: Path

    def open(self, _resources: Resources) -> DoShard:
        """Make a shard unless it exists."""

        def do(number: int) -> FinishedShard:
            path = shard_path(self.folder, number)
            if path.exists():
                return FinishedShard(number, ShardFacts(1, 0), is_new=False)
            path.touch()
            if number == BAD:
                os._exit(1)
            return _done(number)

        return do


def _count_new(folder: Path) -> None:
    """The first shard exists from an earlier run."""
    first = shard_path(folder, 0)
    first.parent.mkdir()
    first.touch()
    work, places = LastWords(folder), Places(LOCAL, cores=2)
    run = do_all(
        work, folder, SHARDS, None, places, on_progress=ignore_progress, cancel=CancelToken()
    )
    sys.stdout.write(
        f"{run.new_shards} of {len(run.shards)} new, {run.new_rows_per_s * run.seconds:.0f} rows"
    )


def _main(name: str) -> None:
    cancel = CancelToken()
    done: list[int] = []
    try:
        with connected(LOCAL, cancel, cores=2) as size:
            run_shards(
                BadWork(name),
                range(SHARDS),
                size,
                lambda shard: done.append(shard.number),
                cancel,
                with_gpu=False,
                on_wait=lambda: None,
            )
    except (ProtoleafError, ArithmeticError) as error:
        sys.stdout.write(f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    if len(sys.argv) > 2:
        _count_new(Path(sys.argv[2]))
    else:
        _main(sys.argv[1])
