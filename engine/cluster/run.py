"""All shards of a folder done on a cluster, with progress; embedding and classifying share it."""

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from engine.cluster.ray_cluster import LOCAL, connected
from engine.cluster.ray_workers import run_shards
from engine.cluster.shard_work import FinishedShard, ShardWork
from engine.dataset.described_folder import ShardFacts, shard_path
from engine.errors import UsageError
from engine.events import CancelToken, OnProgress, Progress, ProgressMeter


@dataclass(frozen=True)
class Places:
    """Where work is done."""

    address: str  # of the cluster, see `connected`
    device: str = (
        "auto"  # "auto": GPUs where the cluster has any; "cpu"; "cuda": refused without a GPU
    )
    cores: int | None = None  # of a local cluster; all of this computer when None

    def has_gpu(self, gpus: int) -> bool:
        """Whether workers compute on GPUs; raises `UsageError` where they are to and there is none."""
        if self.device == "cuda" and not gpus:
            raise UsageError(
                "the cluster has no GPU", expected="--device auto or cpu", found="--device cuda at {address}",
                address=self.address,
            )  # fmt: skip
        return self.device != "cpu" and gpus > 0


@dataclass(frozen=True)
class ClusterRun:
    """What was done."""

    shards: tuple[FinishedShard, ...]  # all, in their order
    seconds: float  # without starting the cluster

    @property
    def facts(self) -> tuple[ShardFacts, ...]:
        return tuple(each.facts for each in self.shards)

    @property
    def new_shards(self) -> int:
        """How many were made now."""
        return sum(each.is_new for each in self.shards)

    @property
    def new_rows_per_s(self) -> float:
        """Images a second of those."""
        return sum(each.facts.rows for each in self.shards if each.is_new) / self.seconds


HERE: Final = Places(LOCAL)


def do_all(
    work: ShardWork,
    folder: Path,
    shard_count: int,
    images: int | None,
    places: Places,
    *,
    on_progress: OnProgress,
    cancel: CancelToken,
    may_use_gpu: bool = True,
) -> ClusterRun:
    """Do every shard that is not there and sound, and answer with all.

    Args:
        folder: that the shards go to.
        images: of all shards together; None where that is unknown: progress counts shards then.

    Raises:
        ProtoleafError: as `connected` and `run_shards`.
        Cancelled: finished shards are kept.
    """
    done: dict[int, FinishedShard] = {}
    earlier = {number for number in range(shard_count) if shard_path(folder, number).exists()}
    total, unit = (shard_count, "shards") if images is None else (images, "images")
    on_progress(Progress(0, total, unit, note="waiting for the cluster"))
    with connected(places.address, cancel, cores=places.cores) as size:
        with_gpu = may_use_gpu and places.has_gpu(size.gpus)
        started_s = time.monotonic()
        meter = ProgressMeter(total, on_progress, unit=unit)
        meter.note = (
            f"nodes: {size.nodes}, {f'GPUs: {size.gpus}' if with_gpu else f'cores: {size.cores}'}"
        )

        def on_shard(shard: FinishedShard) -> None:
            # A worker may be lost right after its shard is there; the next one finds it.
            is_new = shard.is_new or shard.number not in earlier
            done[shard.number] = replace(shard, is_new=is_new)
            count = 1 if images is None else shard.facts.rows
            if is_new:
                meter.advance(count)
            else:
                meter.skip(count)

        run_shards(
            work, range(shard_count), size, on_shard, cancel, with_gpu=with_gpu, on_wait=meter.pulse
        )
        seconds = time.monotonic() - started_s
    return ClusterRun(tuple(done[number] for number in range(shard_count)), seconds)
