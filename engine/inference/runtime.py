"""The one door to ONNX Runtime: quiet sessions, no silent fallback, its errors gathered."""

import os
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from engine.errors import ModelError

CPU_PROVIDER: Final = "CPUExecutionProvider"
CUDA_PROVIDER: Final = "CUDAExecutionProvider"
_FATAL_ONLY: Final = 4  # ONNX Runtime writes to standard error by itself; reasons reach the person through us
# Searching the fastest convolution for every new batch shape costs more than it saves on small networks.
_PROVIDER_OPTIONS: Final = {CUDA_PROVIDER: {"cudnn_conv_algo_search": "HEURISTIC"}}
_ERROR_NAMES: Final = (
    "EPFail",
    "EngineError",
    "Fail",
    "InvalidArgument",
    "InvalidGraph",
    "InvalidProtobuf",
    "ModelLoadCanceled",
    "ModelRequiresCompilation",
    "NoModel",
    "NoSuchFile",
    "NotFound",
    "NotImplemented",
    "RuntimeException",
)


def runtime_errors() -> tuple[type[Exception], ...]:
    """Everything that ONNX Runtime raises; its exceptions share no base class of their own."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    own = tuple(getattr(state, name) for name in _ERROR_NAMES if hasattr(state, name))
    return (*own, RuntimeError, ValueError)


def open_session(model: Path, provider: str = CPU_PROVIDER, *, threads: int = 1) -> Any:
    """Open a model on exactly one kind of device.

    Args:
        model: ONNX file.
        provider: execution provider; the CPU takes over only operators that a GPU cannot run.
        threads: threads that share the work of one run on the CPU.

    Returns:
        An `onnxruntime.InferenceSession`.

    Raises:
        ModelError: the file is not there, is no model, or the provider does not work.
    """
    import onnxruntime

    if not model.is_file():
        raise ModelError("the model file is not there", expected=str(model))
    if provider not in onnxruntime.get_available_providers():
        raise ModelError(f"the installed ONNX Runtime has no {provider}")
    onnxruntime.set_default_logger_severity(_FATAL_ONLY)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = _FATAL_ONLY
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    names = list(dict.fromkeys((provider, CPU_PROVIDER)))
    try:
        session = onnxruntime.InferenceSession(
            os.fspath(model),
            options,
            providers=names,
            provider_options=[_PROVIDER_OPTIONS.get(name, {}) for name in names],
            enable_fallback=0,
        )
    except runtime_errors() as error:
        raise ModelError("the model cannot be opened", found=f"{model.name}: {one_line(error)}") from error
    if session.get_providers()[0] != provider:
        raise ModelError(f"{provider} does not work here", found=f"only {', '.join(session.get_providers())}")
    return session


def run_session(session: Any, inputs: dict[str, NDArray[Any]]) -> list[NDArray[np.float32]]:
    """Run a session and return all its outputs.

    Raises:
        ModelError: the run failed; most often the memory of the device is too small.
    """
    try:
        outputs: list[NDArray[np.float32]] = session.run(None, inputs)
    except runtime_errors() as error:
        raise ModelError("the model cannot be run", found=one_line(error)) from error
    return outputs


def one_line(error: BaseException) -> str:
    """Text of a library's error, on one line and of bearable length."""
    return " ".join(str(error).split())[:300] or type(error).__name__


def usable_cores() -> int:
    """CPU cores that this process may use, at least 1."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return max(1, os.cpu_count() or 1)
