"""Picklable description of work on shards, opened on each worker as a function of shard numbers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from engine.dataset.described_folder import ShardFacts
from engine.dataset.shard_files import ShardSet, check_shard
from engine.errors import FormatError, StorageError


@dataclass(frozen=True)
class Resources:
    """Resources of one worker."""

    cores: int = 1  # threads
    has_gpu: bool = False


@dataclass(frozen=True)
class FinishedShard:
    """An existing, valid shard."""

    number: int
    facts: ShardFacts
    is_new: bool  # computed by this run


DoShard = Callable[[int], FinishedShard]


class ShardWork(Protocol):
    """Picklable description, sent to every worker."""

    def open(self, resources: Resources) -> DoShard:
        """Load what the work needs, once for many shards.

        Raises:
            ProtoleafError: the work cannot be done on this node.
        """


def finished(shards: ShardSet, number: int) -> FinishedShard | None:
    """Check an existing shard page by page; None if it is missing or damaged."""
    if not shards.path(number).exists():
        return None
    try:
        return FinishedShard(number, check_shard(shards, number), is_new=False)
    except FormatError:
        return None
    except StorageError:
        if shards.path(number).exists():
            raise
        return None
