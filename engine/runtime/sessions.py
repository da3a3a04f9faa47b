"""The one door to ONNX Runtime: quiet sessions, no silent fallback, its errors gathered."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from engine.errors import ModelError
from engine.runtime.devices.libraries import load_gpu_libraries
from engine.runtime.devices.names import CPU_PROVIDER, CUDA_PROVIDER, DIRECTML_PROVIDER, TENSORRT_PROVIDER
from engine.runtime.onnx_runtime import load_onnxruntime

_FATAL_ONLY: Final = 4  # ONNX Runtime writes to standard error by itself; reasons reach the person through us
_LONGEST_TEXT: Final = 300  # characters of an error of ONNX Runtime that a person is shown: its start and its end
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
    state = load_onnxruntime().capi.onnxruntime_pybind11_state
    own = tuple(getattr(state, name) for name in _ERROR_NAMES if hasattr(state, name))
    return (*own, RuntimeError, ValueError)


def open_session(
    model: Path,
    provider: str = CPU_PROVIDER,
    *,
    chain: Sequence[tuple[str, Mapping[str, str]]] = (),
) -> Any:
    """Open a model on exactly one kind of device, as an `onnxruntime.InferenceSession`.

    Args:
        provider: execution provider; the CPU takes over only operators that a GPU cannot run.
        chain: providers with their options, the wanted one first; by default the provider and the CPU, without options.

    Raises:
        ModelError: the file is not there, is no model, or the provider does not work.
    """
    onnxruntime = load_onnxruntime()

    if not model.is_file():
        raise ModelError("the model file is not there", expected=str(model))
    if provider not in onnxruntime.get_available_providers():
        raise ModelError("the installed ONNX Runtime has no {provider}", provider=provider)
    onnxruntime.set_default_logger_severity(_FATAL_ONLY)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = _FATAL_ONLY
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    if provider == DIRECTML_PROVIDER:
        options.enable_mem_pattern = False  # DirectML asks for it
    if provider in (CUDA_PROVIDER, TENSORRT_PROVIDER):
        load_gpu_libraries(provider)
    offered = chain or tuple((name, {}) for name in dict.fromkeys((provider, CPU_PROVIDER)))
    try:
        session = onnxruntime.InferenceSession(
            os.fspath(model),
            options,
            providers=[name for name, _options in offered],
            provider_options=[dict(settings) for _name, settings in offered],
            enable_fallback=0,
        )
    except runtime_errors() as error:
        raise ModelError("the model cannot be opened", found=f"{model.name}: {one_line(error)}") from error
    if session.get_providers()[0] != provider:
        raise ModelError(
            "{provider} does not work here",
            found="only {providers}",
            provider=provider,
            providers=", ".join(session.get_providers()),
        )
    return session


def run_session(
    session: Any, inputs: dict[str, NDArray[Any]], outputs: list[str] | None = None
) -> list[NDArray[np.float32]]:
    """Run a session and return the outputs of these names, or all.

    Raises:
        ModelError: the run failed; most often the memory of the device is too small.
    """
    try:
        found: list[NDArray[np.float32]] = session.run(outputs, inputs)
    except runtime_errors() as error:
        raise ModelError("the model cannot be run", found=one_line(error)) from error
    return found


def one_line(error: BaseException) -> str:
    """Text of a library's error, on one line and of bearable length."""
    text = " ".join(str(error).split()) or type(error).__name__
    # ONNX Runtime says where in its source first and what is wrong last.
    return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT // 2]} ... {text[-_LONGEST_TEXT // 2 :]}"


def usable_cores() -> int:
    """CPU cores that this process may use, at least 1."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return max(1, os.cpu_count() or 1)
