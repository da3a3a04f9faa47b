"""A device that fails costs speed and one notice, never a batch."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.errors import ModelError
from engine.runtime.backbone import DeviceFallback
from engine.runtime.sessions import Run

Rows = NDArray[np.float32]
FULL = ModelError("the model cannot be run", found="CUDA error 2: out of memory")
BROKEN = ModelError("the model cannot be run", found="CUDA failure 700: illegal address")


def rows(count: int, start: int = 0) -> Rows:
    """Rows that say which they are."""
    return np.arange(start, start + count, dtype=np.float32)[:, None]


def doubled(batch: Rows) -> Rows:
    """What every device computes."""
    return 2 * batch


class FakeGpu:
    """A device with room for so many rows; notes the sizes of the batches that it was given."""

    def __init__(self, room: int, error: ModelError = FULL) -> None:
        self.sizes: list[int] = []
        self._room = room
        self._error = error

    def __call__(self, batch: Rows) -> Rows:
        """Compute, or fail."""
        self.sizes.append(len(batch))
        if len(batch) > self._room:
            raise self._error
        return doubled(batch)


class CountedCpu:
    """Opens the CPU, and notes how often."""

    def __init__(self, run: Run = doubled) -> None:
        self.opened = 0
        self._run = run

    def __call__(self) -> Run:
        """Open it."""
        self.opened += 1
        return self._run


def test_a_device_that_works() -> None:
    """Batches pass through in one piece, and there is nothing to tell."""
    gpu, cpu = FakeGpu(100), CountedCpu()
    run = DeviceFallback(gpu, cpu, device_name="GPU 1")
    assert np.array_equal(run(rows(32)), doubled(rows(32)))
    assert (gpu.sizes, cpu.opened, run.notice, run.has_fallen_back) == ([32], 0, "", False)


def test_full_memory_makes_batches_smaller() -> None:
    """Batches are halved until they fit, and stay so.

    Every row comes out in its place, and nobody need know.
    """
    gpu, cpu = FakeGpu(10), CountedCpu()
    run = DeviceFallback(gpu, cpu, device_name="GPU 1")
    assert np.array_equal(run(rows(32)), doubled(rows(32)))
    assert gpu.sizes == [32, 16, 8, 8, 8, 8]
    assert np.array_equal(run(rows(9, 50)), doubled(rows(9, 50)))
    assert gpu.sizes[6:] == [8, 1]
    assert (cpu.opened, run.notice) == (0, "")


def test_memory_that_is_full_for_one_image() -> None:
    """When not even one row fits, the CPU goes on and the notice says so."""
    gpu, cpu = FakeGpu(0), CountedCpu()
    run = DeviceFallback(gpu, cpu, device_name="GPU 1")
    assert np.array_equal(run(rows(4)), doubled(rows(4)))
    assert gpu.sizes == [4, 2, 1]
    assert run.has_fallen_back
    assert (
        run.notice == "GPU 1 failed (its memory is full, even for one image); continuing on the CPU"
    )


def test_batches_of_one_size_cannot_shrink() -> None:
    """A recorded run has one size: with its memory full the CPU goes on at once."""
    gpu = FakeGpu(0)
    run = DeviceFallback(gpu, CountedCpu(), device_name="GPU 1", can_shrink=False)
    assert np.array_equal(run(rows(4)), doubled(rows(4)))
    assert gpu.sizes == [4]
    assert "out of memory" in run.notice


def test_a_device_that_breaks() -> None:
    """Another failure goes to the CPU at once, once, and the notice has the library's words."""
    gpu, cpu = FakeGpu(0, BROKEN), CountedCpu()
    run = DeviceFallback(gpu, cpu, device_name="GPU 1")
    for start in (0, 8, 16):
        assert np.array_equal(run(rows(8, start)), doubled(rows(8, start)))
    assert (gpu.sizes, cpu.opened) == ([8], 1)
    assert "CUDA failure 700" in run.notice


def test_many_threads_give_way_once() -> None:
    """Threads that fail at the same time open one CPU session, and none loses its batch."""
    together = threading.Barrier(4, timeout=30)
    cpu = CountedCpu()

    def gpu(_batch: Rows) -> Rows:
        together.wait()
        raise BROKEN

    run = DeviceFallback(gpu, cpu, device_name="GPU 1")
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda start: run(rows(3, start)), range(0, 12, 3)))
    assert np.array_equal(np.concatenate(results), doubled(rows(12)))
    assert cpu.opened == 1


@pytest.mark.parametrize("open_cpu", [None, CountedCpu(FakeGpu(0, BROKEN))])
def test_the_cpu_has_nobody_to_give_way_to(open_cpu: Callable[[], Run] | None) -> None:
    """A failure on the CPU is an error, whether it ran there from the start or not."""
    run = DeviceFallback(FakeGpu(0, BROKEN), open_cpu, device_name="GPU 1")
    with pytest.raises(ModelError, match="700"):
        run(rows(2))


def test_the_cpu_gets_batches_of_its_own_size() -> None:
    """A GPU's batch on every core at once would fill the memory.

    The batch that failed and later ones are divided.
    """
    sizes: list[int] = []

    def cpu(batch: Rows) -> Rows:
        sizes.append(len(batch))
        return doubled(batch)

    run = DeviceFallback(FakeGpu(0, BROKEN), CountedCpu(cpu), device_name="GPU 1")
    for count in (20, 9):
        assert np.array_equal(run(rows(count)), doubled(rows(count)))
    assert sizes == [8, 8, 4, 8, 1]
