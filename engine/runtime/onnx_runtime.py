"""The one place that loads ONNX Runtime: its reporting is switched off before, and stays off."""

import functools
from pathlib import Path
from typing import Any

from engine.config import settle
from engine.errors import ModelError
from engine.files import read_regular


@functools.cache
def load_onnxruntime() -> Any:
    """ONNX Runtime's module, loaded on the first call.

    Its own switch is no substitute for the variable: on Linux it stops neither the files nor the
    look-up. Windows packages that report through the system's event tracing read no variable, and
    there it is the one that counts.
    """
    settle()
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    return onnxruntime


def load_quantiser() -> Any:
    """The part of ONNX Runtime that makes eight-bit networks; it needs the `onnx` package."""
    load_onnxruntime()
    from onnxruntime import quantization

    return quantization


def load_half_conversion() -> Any:
    """ONNX Runtime's module for conversion to float16; needs the `onnx` package."""
    load_onnxruntime()
    from onnxruntime.transformers import onnx_model

    return onnx_model


def read_network(model: Path) -> Any:
    """Load a network as an `onnx.ModelProto`, without external data; needs the `onnx` package.

    Raises:
        ModelError: it cannot be read.
    """
    import onnx
    from google.protobuf.message import DecodeError

    try:
        return onnx.load_model_from_string(read_regular(model))
    except (OSError, DecodeError) as error:
        raise ModelError("the model cannot be opened", found=model.name) from error
