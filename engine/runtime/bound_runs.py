"""Runs of a session from arrays to arrays: plainly, or with input and output buffers that stay on the device."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from engine.errors import ModelError
from engine.runtime.onnx_runtime import load_onnxruntime
from engine.runtime.sessions import one_line, run_session, runtime_errors

_TYPES: Final[dict[str, type]] = {"tensor(float)": np.float32, "tensor(float16)": np.float16}
_ANY_NUMBER: Final = 1 << 20  # runs at a time where there is no limit: more than there are threads

Run = Callable[[NDArray[Any]], NDArray[Any]]
"""From a network's input, batch first, to the output that is wanted, batch first."""


def plain_run(session: Any, input_name: str, output_name: str, *, one_at_a_time: bool = False) -> Run:
    """Run with arrays that ONNX Runtime copies as it likes; right for the CPU, where nothing need be copied.

    Args:
        one_at_a_time: whether the session must not be run from two threads at once.
    """
    turn = threading.Semaphore(1 if one_at_a_time else _ANY_NUMBER)

    def run(batch: NDArray[Any]) -> NDArray[Any]:
        with turn:
            return run_session(session, {input_name: batch}, [output_name])[0]

    return run


@dataclass(frozen=True)
class _Buffers:
    """One worker's memory on the device, bound to the session."""

    binding: Any
    source: Any
    result: Any


@final
class BoundRuns:
    """Runs whose input and output lie in buffers on the device, taken in turn by whoever runs.

    Buffers have one size. A smaller batch is filled up with its last row when `is_fixed`, and runs plainly when not.

    Args:
        batch: rows of the buffers.
        memory: ONNX Runtime's name of the device's memory, "cuda"; "cpu" works the same way.
        is_fixed: whether the session takes batches of this size only, one run after the other, from the same memory,
            as recorded runs (CUDA graphs) do.
    """

    def __init__(
        self, session: Any, input_name: str, output_name: str, batch: int, *, memory: str, is_fixed: bool = False
    ) -> None:
        self.batch = batch
        self.is_fixed = is_fixed
        self._session = session
        self._input_name = input_name
        self._output_name = output_name
        self._output = _output(session, output_name, batch)
        self._memory = memory
        self._plain = plain_run(session, input_name, output_name)
        self._lock = threading.Lock()
        self._turn = threading.Semaphore(1 if is_fixed else _ANY_NUMBER)
        self._free: list[_Buffers] = []

    def __call__(self, batch: NDArray[Any]) -> NDArray[Any]:
        """Run one batch; may be called from several threads.

        Args:
            batch: at most `self.batch` rows when `is_fixed`.

        Raises:
            ModelError: the run failed; most often the memory of the device is too small.
            ValueError: a fixed batch is too large.
        """
        if not self.is_fixed and (len(batch) != self.batch or self._output is None):
            return self._plain(batch)
        full = np.ascontiguousarray(filled_up(batch, self.batch))
        try:
            with self._turn, self._buffers(full) as buffers:
                buffers.source.update_inplace(full)
                buffers.binding.synchronize_inputs()
                self._session.run_with_iobinding(buffers.binding)
                buffers.binding.synchronize_outputs()
                return np.array(buffers.result.numpy()[: len(batch)])
        except runtime_errors() as error:
            raise ModelError("the model cannot be run", found=one_line(error)) from error

    @contextmanager
    def _buffers(self, batch: NDArray[Any]) -> Iterator[_Buffers]:
        """Take buffers that nobody uses; they are given back only when the run went well."""
        with self._lock:
            buffers = self._free.pop() if self._free else None
        buffers = buffers or self._make_buffers(batch)
        yield buffers
        with self._lock:
            self._free.append(buffers)

    def _make_buffers(self, batch: NDArray[Any]) -> _Buffers:
        if self._output is None:
            raise ModelError("this network's output has no fixed shape", remedy="switch cuda_graphs off")
        values = load_onnxruntime().OrtValue
        source = values.ortvalue_from_shape_and_type(batch.shape, batch.dtype.type, self._memory)
        result = values.ortvalue_from_shape_and_type(*self._output, self._memory)
        binding = self._session.io_binding()
        binding.bind_ortvalue_input(self._input_name, source)
        binding.bind_ortvalue_output(self._output_name, result)
        return _Buffers(binding, source, result)


def filled_up(batch: NDArray[Any], rows: int) -> NDArray[Any]:
    """Repeat the last row until there are `rows`.

    Raises:
        ValueError: there are more already, or none.
    """
    if not 0 < len(batch) <= rows:
        raise ValueError(f"expected 1 to {rows} rows, found {len(batch)}")
    if len(batch) == rows:
        return batch
    return np.concatenate([batch, np.repeat(batch[-1:], rows - len(batch), axis=0)])


def _output(session: Any, name: str, batch: int) -> tuple[list[int], type] | None:
    """Shape and dtype of an output for a batch; None when more of it than the batch is open."""
    output = next(output for output in session.get_outputs() if output.name == name)
    shape, dtype = list(output.shape or []), _TYPES.get(output.type)
    if dtype is None or not shape or not all(isinstance(side, int) for side in shape[1:]):
        return None
    return [batch, *shape[1:]], dtype
