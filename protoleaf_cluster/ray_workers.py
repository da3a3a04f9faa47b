"""Dynamic scheduling of shards on Ray workers; the shard of a lost worker is retried.

Shards are planned in advance, independent, and published atomically. Only shard numbers go through
Ray, a lost worker costs one shard, and nodes can join or leave without a new plan (decision 89).
"""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, final

from engine import __version__
from engine.errors import InputError, ModelError, ProtoleafError
from engine.events import CancelToken
from protoleaf_cluster.ray_cluster import ClusterSize
from protoleaf_cluster.shard_work import DoShard, FinishedShard, Resources, ShardWork

_POLL_S = 0.1  # delay until a cancellation is noticed, at most
_MOST_ATTEMPTS = 3  # attempts per shard. Chosen: a node may be lost twice.
_MOST_STARTS = 3  # consecutive workers that may fail before their first shard

OnShard = Callable[[FinishedShard], None]


@final
class RayWorker:
    """Actor in its own process on a node; returns errors of the program, others end it."""

    def __init__(self, work: ShardWork, resources: Resources, version: str) -> None:
        self._work = work
        self._resources = resources
        self._version = version
        self._do: DoShard | None = None

    def open(self) -> ProtoleafError | None:
        """Load what the work needs; return the error if that fails."""
        if self._version != __version__:
            return InputError(
                "a node of the cluster has another version of Protoleaf",
                expected=self._version,
                found=__version__,
                remedy="install the same version on every node",
            )
        try:
            self._do = self._work.open(self._resources)
        except ProtoleafError as error:
            return error
        return None

    def do(self, number: int) -> FinishedShard | ProtoleafError:
        """Process one shard."""
        assert self._do is not None
        try:
            return self._do(number)
        except ProtoleafError as error:
            return error


@dataclass
class _Running:
    """A worker and its shard; None while it is loading."""

    worker: Any
    number: int | None


def run_shards(
    work: ShardWork,
    numbers: Iterable[int],
    size: ClusterSize,
    on_shard: OnShard,
    cancel: CancelToken,
    *,
    with_gpu: bool,
    on_wait: Callable[[], None],
) -> None:
    """Process shards on the cluster.

    `on_shard` and `on_wait`, several times a second, are called on this thread.

    Raises:
        ProtoleafError: an error of a worker, such as a full disk; finished shards are kept.
        ModelError: a shard repeatedly ended its workers.
        Cancelled: `cancel` was set; finished shards are kept.
    """
    run = _Run(work, deque(numbers), on_shard, with_gpu=with_gpu)
    try:
        run.start(size)
        while run.is_going:
            cancel.raise_if_cancelled()
            run.step()
            on_wait()
    finally:
        run.end()


@final
class _Run:
    def __init__(
        self, work: ShardWork, waiting: deque[int], on_shard: OnShard, *, with_gpu: bool
    ) -> None:
        import ray

        self._ray = ray
        self._work = work
        self._waiting = waiting
        self._on_shard = on_shard
        self._with_gpu = with_gpu
        self._running: dict[Any, _Running] = {}  # by Ray object reference
        self._attempts: dict[int, int] = {}
        self._starts_lost = 0
        self._resources = Resources()

    @property
    def is_going(self) -> bool:
        """Whether a shard is pending or running; workers that are still loading do not count."""
        return bool(self._waiting) or any(
            each.number is not None for each in self._running.values()
        )

    def start(self, size: ClusterSize) -> None:
        count, self._resources = size.workers(with_gpu=self._with_gpu)
        for _worker in range(min(count, len(self._waiting))):
            self._add_worker()

    def step(self) -> None:
        """Wait briefly for results and process them."""
        ready, _others = self._ray.wait(list(self._running), timeout=_POLL_S)
        for result in ready:
            each = self._running.pop(result)
            try:
                answer = self._ray.get(result)
            except self._ray.exceptions.RayTaskError as error:
                raise error.as_instanceof_cause() from error
            except self._ray.exceptions.RayError as error:
                self._lost(each, error)
            else:
                self._answered(each, answer)

    def end(self) -> None:
        for each in self._running.values():
            self._ray.kill(each.worker)

    def _answered(self, each: _Running, answer: FinishedShard | ProtoleafError | None) -> None:
        if isinstance(answer, ProtoleafError):
            raise answer
        self._starts_lost = 0
        if answer is not None:
            self._on_shard(answer)
        if self._waiting:
            number = self._waiting.popleft()
            self._running[each.worker.do.remote(number)] = _Running(each.worker, number)

    def _lost(self, each: _Running, error: Exception) -> None:
        """Retry the shard of a worker whose node or process was lost."""
        if each.number is None:
            self._starts_lost += 1
            if self._starts_lost >= _MOST_STARTS:
                raise ModelError(
                    "workers of the cluster exit at start",
                    found=str(error).split("\n", 1)[0],
                    remedy="install Protoleaf on every node, and check Ray's log",
                ) from error
        else:
            self._attempts[each.number] = self._attempts.get(each.number, 0) + 1
            if self._attempts[each.number] >= _MOST_ATTEMPTS:
                raise ModelError(
                    "the workers of a shard exit repeatedly",
                    found="shard {number}, {attempts} times",
                    remedy="check the memory of the nodes, and Ray's log",
                    number=each.number,
                    attempts=_MOST_ATTEMPTS,
                ) from error
            self._waiting.appendleft(each.number)
        self._add_worker()

    def _add_worker(self) -> None:
        resources = {"num_cpus": self._resources.cores, "num_gpus": int(self._resources.has_gpu)}
        kind = self._ray.remote(**resources, max_restarts=0, max_task_retries=0)(RayWorker)
        worker = kind.remote(self._work, self._resources, __version__)
        self._running[worker.open.remote()] = _Running(worker, None)
