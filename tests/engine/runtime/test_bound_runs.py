"""Runs with bound buffers give what plain runs give. The CPU's memory is bound like a GPU's."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.errors import ModelError
from engine.runtime.sessions import BoundRuns, Run, filled_up, open_session, plain_run
from tests.support.backbones import SIDE, write_tiny_backbone

BATCH = 4


@pytest.fixture
def session(tmp_path: Path) -> Any:
    write_tiny_backbone(tmp_path / "tiny.onnx")
    return open_session(tmp_path / "tiny.onnx")


def bound(session: Any, *, is_fixed: bool = False) -> BoundRuns:
    """Runs with buffers for four images in the CPU's memory."""
    return BoundRuns(session, "images", "embeddings", BATCH, memory="cpu", is_fixed=is_fixed)


def images(count: int, seed: int = 0) -> NDArray[np.float32]:
    """Prepared noise."""
    return np.random.default_rng(seed).standard_normal((count, 3, SIDE, SIDE)).astype(np.float32)


def close(run: Run, plain: Run, batch: NDArray[np.float32]) -> bool:
    """Whether two ways of running agree, in values and rows."""
    found, expected = run(batch), plain(batch)
    return found.shape == expected.shape and np.allclose(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("is_fixed", [False, True])
@pytest.mark.parametrize("count", [1, 3, BATCH])
def test_same_numbers(session: Any, count: int, is_fixed: bool) -> None:
    """Any batch up to the buffers' size gives what a plain run gives."""
    assert close(
        bound(session, is_fixed=is_fixed), plain_run(session, "images", "embeddings"), images(count)
    )


def test_results_are_not_overwritten(session: Any) -> None:
    """The next run uses the same buffers and leaves earlier results alone."""
    run = bound(session)
    first = run(images(BATCH, 1))
    kept = first.copy()
    run(images(BATCH, 2))
    assert np.array_equal(first, kept)


def test_buffers_are_used_again(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """One worker makes one pair of buffers, however many batches it runs."""
    made: list[int] = []
    run = bound(session)
    make = run._make_buffers  # noqa: SLF001 (memory of a device runs out exactly here)

    def count_and_make(batch: NDArray[np.float32]) -> Any:
        made.append(len(batch))
        return make(batch)

    monkeypatch.setattr(run, "_make_buffers", count_and_make)
    for seed in range(5):
        run(images(BATCH, seed))
    assert made == [BATCH]


@pytest.mark.parametrize("is_fixed", [False, True])
def test_several_threads(session: Any, is_fixed: bool) -> None:
    """Threads do not mix their batches up."""
    run = bound(session, is_fixed=is_fixed)
    plain = plain_run(session, "images", "embeddings", one_at_a_time=True)
    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(lambda seed: close(run, plain, images(BATCH, seed)), range(20)))


def test_larger_batches(session: Any) -> None:
    """A batch beyond the buffers runs plainly, and is refused where the size is fixed."""
    assert close(bound(session), plain_run(session, "images", "embeddings"), images(BATCH + 3))
    with pytest.raises(ValueError, match="1 to 4 rows, found 7"):
        bound(session, is_fixed=True)(images(BATCH + 3))


def test_filling_up() -> None:
    """The last row is repeated, and a full batch stays as it is."""
    rows = np.arange(6, dtype=np.float32).reshape(3, 2)
    assert filled_up(rows, 5).tolist() == [[0, 1], [2, 3], [4, 5], [4, 5], [4, 5]]
    assert filled_up(rows, 3) is rows
    with pytest.raises(ValueError, match="found 0"):
        filled_up(rows[:0], 3)


class FailingSession:
    """A session whose device gives up, as a GPU does."""

    def __init__(self, session: Any) -> None:
        self._session = session

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    def io_binding(self) -> Any:
        """Bind to the real session."""
        return self._session.io_binding()

    def run_with_iobinding(self, _binding: object) -> None:
        """Fail."""
        raise RuntimeError("CUDA failure 700: an illegal memory access was encountered")


def test_failures_are_model_errors(session: Any) -> None:
    """What the library says is in the error."""
    with pytest.raises(ModelError, match="CUDA failure 700"):
        bound(FailingSession(session))(images(BATCH))
