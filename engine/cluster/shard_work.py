"""What a worker of a cluster does: a description travels to it, and is opened there as a function of shard numbers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from engine.dataset.described_folder import ShardFacts
from engine.dataset.shard_files import ShardSet, check_shard
from engine.errors import FormatError, StorageError


@dataclass(frozen=True)
class Resources:
    """What one worker gets of the machine it runs on."""

    cores: int = 1  # threads
    has_gpu: bool = False


@dataclass(frozen=True)
class FinishedShard:
    """A shard that is there."""

    number: int
    facts: ShardFacts
    is_new: bool  # it was made now, not found


DoShard = Callable[[int], FinishedShard]


class ShardWork(Protocol):
    """Plain data: it is sent to every worker."""

    def open(self, resources: Resources) -> DoShard:
        """Load what the work needs, once for many shards.

        Raises:
            ProtoleafError: the work cannot be done here.
        """


def finished(shards: ShardSet, number: int) -> FinishedShard | None:
    """A shard that an earlier run or a lost worker made, checked page by page; None where it is missing or damaged."""
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
