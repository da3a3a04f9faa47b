"""The only module that opens ONNX Runtime sessions: quiet, without silent fallback."""

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Floats
from engine.errors import ModelError
from engine.runtime.backbone_input import INPUT_TYPES
from engine.runtime.devices.facts import CPU_PROVIDER
from engine.runtime.devices.gather import load_gpu_libraries
from engine.runtime.onnx_runtime import load_onnxruntime
from engine.texts import enumerated

_FATAL_ONLY = 4
"""ONNX Runtime writes to standard error by itself; reasons reach the person through us."""
_LONGEST_TEXT = 300
"""Characters of an error of ONNX Runtime that a person is shown: its start and its end."""


def runtime_errors() -> tuple[type[Exception], ...]:
    """Everything that ONNX Runtime raises; its exceptions share no base class of their own."""
    state = vars(load_onnxruntime().capi.onnxruntime_pybind11_state)
    own = (
        kind for kind in state.values() if isinstance(kind, type) and issubclass(kind, Exception)
    )
    return (*own, RuntimeError, ValueError)


def open_session(
    model: Path,
    provider: str = CPU_PROVIDER,
    *,
    provider_options: Mapping[str, str] | None = None,
    folds_weights: bool = False,
    threads: int = 1,
) -> Any:
    """Open a model on exactly one kind of device, as an `onnxruntime.InferenceSession`.

    Args:
        provider: execution provider; the CPU only runs operators that a GPU cannot.
        provider_options: of the provider, see `engine.runtime.devices.settings`.
        folds_weights: whether weights of few bits become float32 ones, which GPUs compute with.
        threads: cores that one run shares on the CPU.

    Raises:
        ModelError: the file is not there, is not a model, or the provider does not work.
    """
    onnxruntime = load_onnxruntime()
    if not model.is_file():
        raise ModelError("the model file is not there", expected=str(model))
    if provider not in onnxruntime.get_available_providers():
        raise ModelError("the installed ONNX Runtime has no {provider}", provider=provider)
    onnxruntime.set_default_logger_severity(_FATAL_ONLY)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = _FATAL_ONLY
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    if folds_weights:
        options.add_session_config_entry("session.disable_quant_qdq", "1")
    if provider != CPU_PROVIDER:
        load_gpu_libraries()
    offered = {provider: dict(provider_options or {}), CPU_PROVIDER: dict[str, str]()}
    try:
        session = onnxruntime.InferenceSession(
            os.fspath(model),
            options,
            providers=list(offered),
            provider_options=list(offered.values()),
            enable_fallback=0,
        )
    except runtime_errors() as error:
        raise ModelError(
            "the model cannot be opened", found=f"{model.name}: {one_line(error)}"
        ) from error
    if session.get_providers()[0] != provider:
        raise ModelError(
            "{provider} does not work here",
            found="only {providers}",
            provider=provider,
            providers=enumerated(session.get_providers()),
        )
    return session


def run_session(
    session: Any, inputs: dict[str, NDArray[Any]], outputs: list[str] | None = None
) -> list[Floats]:
    """Run a session and return the outputs of these names, or all.

    Raises:
        ModelError: the run failed; most often the memory of the device is too small.
    """
    try:
        found: list[Floats] = session.run(outputs, inputs)
    except runtime_errors() as error:
        raise ModelError("the model cannot be run", found=one_line(error)) from error
    return found


def one_line(error: BaseException) -> str:
    """Text of a library's error, on one line and of bearable length."""
    text = " ".join(str(error).split()) or type(error).__name__
    # ONNX Runtime puts the place in its source first and the error last.
    return (
        text
        if len(text) <= _LONGEST_TEXT
        else f"{text[: _LONGEST_TEXT // 2]} ... {text[-_LONGEST_TEXT // 2 :]}"
    )


def usable_cores() -> int:
    """CPU cores that this process may use, at least 1."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_ANY_NUMBER = 1 << 20  # runs at a time where there is no limit: more than there are threads

Run = Callable[[NDArray[Any]], NDArray[Any]]
"""From a network's input, batch first, to the output that is wanted, batch first."""


def plain_run(
    session: Any, input_name: str, output_name: str, *, one_at_a_time: bool = False
) -> Run:
    """Return a run with arrays that ONNX Runtime copies; right for the CPU."""
    turn = threading.Semaphore(1 if one_at_a_time else _ANY_NUMBER)

    def run_copied(batch: NDArray[Any]) -> NDArray[Any]:
        with turn:
            return run_session(session, {input_name: batch}, [output_name])[0]

    return run_copied


@dataclass(frozen=True)
class _Buffers:
    """One worker's memory on the device, bound to the session."""

    binding: Any
    source: Any
    result: Any


@final
class BoundRuns:
    """Runs with input and output in device buffers, which threads take in turn.

    Buffers have one size. A smaller batch is filled up with its last row when `is_fixed`, and runs
    plainly when not.

    Args:
        memory: ONNX Runtime's name of the device's memory, "cuda"; "cpu" works the same way.
        is_fixed: whether the session takes batches of this size only, one run after the other, from
            the same memory, as recorded runs (CUDA graphs) do.
    """

    def __init__(
        self,
        session: Any,
        input_name: str,
        output_name: str,
        batch: int,
        *,
        memory: str,
        is_fixed: bool = False,
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
        """Run one batch, at most `self.batch` rows when `is_fixed`; thread-safe.

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
        """Take free buffers; they are returned only after a successful run."""
        with self._lock:
            buffers = self._free.pop() if self._free else None
        buffers = buffers or self._make_buffers(batch)
        yield buffers
        with self._lock:
            self._free.append(buffers)

    def _make_buffers(self, batch: NDArray[Any]) -> _Buffers:
        if self._output is None:
            raise ModelError(
                "this network's output has no fixed shape", remedy="switch cuda_graphs off"
            )
        values = load_onnxruntime().OrtValue
        source = values.ortvalue_from_shape_and_type(batch.shape, batch.dtype.type, self._memory)
        result = values.ortvalue_from_shape_and_type(*self._output, self._memory)
        binding = self._session.io_binding()
        binding.bind_ortvalue_input(self._input_name, source)
        binding.bind_ortvalue_output(self._output_name, result)
        return _Buffers(binding, source, result)


def filled_up(batch: NDArray[Any], rows: int) -> NDArray[Any]:
    """Pad a batch to `rows` by its last row; raises `ValueError` for more rows, or none."""
    if not 0 < len(batch) <= rows:
        raise ValueError(f"expected 1 to {rows} rows, found {len(batch)}")
    if len(batch) == rows:
        return batch
    return np.concatenate([batch, np.repeat(batch[-1:], rows - len(batch), axis=0)])


def _output(session: Any, name: str, batch: int) -> tuple[list[int], type] | None:
    """Shape and dtype of an output for a batch; None when more of it than the batch is open."""
    output = next(output for output in session.get_outputs() if output.name == name)
    shape, dtype = list(output.shape or []), INPUT_TYPES.get(output.type)
    if dtype is None or not shape or not all(isinstance(side, int) for side in shape[1:]):
        return None
    return [batch, *shape[1:]], dtype
