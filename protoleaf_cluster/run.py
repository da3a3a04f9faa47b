"""Processing of all shards of a folder on a cluster, with progress."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from filelock import FileLock, Timeout

from engine.dataset.described_folder import SHARDS, ShardFacts, shard_path
from engine.errors import InputError, UsageError
from engine.events import CancelToken, OnProgress, Progress, ProgressMeter
from engine.new_file import clear_abandoned_drafts
from protoleaf_cluster.ray_cluster import LOCAL, connected
from protoleaf_cluster.ray_workers import run_shards
from protoleaf_cluster.shard_work import FinishedShard, ShardWork


@dataclass(frozen=True)
class Places:
    """Cluster, device and cores of a run."""

    address: str  # of the cluster, see `connected`
    # "auto": GPUs if the cluster has any; "cpu"; "cuda": an error without a GPU.
    device: str = "auto"
    cores: int | None = None  # of a local cluster; None: all

    def has_gpu(self, gpus: int) -> bool:
        """Whether workers compute on GPUs; raises `UsageError` if required and there is none."""
        if self.device == "cuda" and not gpus:
            raise UsageError(
                "the cluster has no GPU",
                expected="--device auto or cpu",
                found="--device cuda at {address}",
                address=self.address,
            )
        return self.device != "cpu" and gpus > 0


@dataclass(frozen=True)
class ClusterRun:
    """Results of a run."""

    shards: tuple[FinishedShard, ...]  # all, in order
    seconds: float  # excludes the start of the cluster

    @property
    def facts(self) -> tuple[ShardFacts, ...]:
        return tuple(each.facts for each in self.shards)

    @property
    def rows(self) -> int:
        """Number of images of all shards."""
        return sum(facts.rows for facts in self.facts)

    @property
    def failed(self) -> int:
        """Number of images without an embedding or a prediction."""
        return sum(facts.failed for facts in self.facts)

    @property
    def new_shards(self) -> int:
        """Number of shards computed by this run."""
        return sum(each.is_new for each in self.shards)

    @property
    def new_rows_per_s(self) -> float:
        """Throughput of the shards of this run, in images per second."""
        return sum(each.facts.rows for each in self.shards if each.is_new) / self.seconds


HERE = Places(LOCAL)
_LOCK = ".protoleaf-lock"


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
    """Process every shard that is missing or damaged, and return all.

    Args:
        folder: of the shards.
        images: of all shards together; None if unknown: progress counts shards.

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
            # The shard of a worker that was lost right after writing it counts as new.
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


@contextmanager
def one_run(folder: Path) -> Iterator[None]:
    """Lock a folder for one run and remove drafts of killed runs; raises `InputError` if locked."""
    lock = FileLock(folder / _LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise InputError(
            "another run is writing to this folder",
            found=str(folder),
            remedy="wait for it, or stop it",
        ) from error
    try:
        _clear_drafts(folder)
        yield
    finally:
        _clear_drafts(folder)  # of killed workers
        lock.release()


def _clear_drafts(folder: Path) -> None:
    for each in (folder, folder / SHARDS):
        clear_abandoned_drafts(each)
