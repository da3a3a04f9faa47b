"""Where and in which number type a training runs, and how the allocator is told to keep memory."""

import ctypes
from typing import Final

import torch

from engine.errors import InputError
from engine.nothing_sent import make_folders
from engine.training.settings import Precision

# Arguments of glibc's mallopt (malloc.h), and what they are set to: decision 17.
_TRIM_THRESHOLD: Final = -1
_TOP_PADDING: Final = -2
_MAPPED_BLOCKS: Final = -4
_PADDING_BYTES: Final = 64 << 20
_NEVER_TRIM: Final = 2**31 - 1


def device_of(wish: str) -> torch.device:
    """The device for "auto", "cpu" or "cuda".

    Raises:
        InputError: "cuda" was asked for and is not there, or the word is none of the three.
    """
    if wish not in {"auto", "cpu", "cuda"}:
        raise InputError("there is no such device", expected="auto, cpu or cuda", found=f"“{wish}”")
    if wish == "cuda" and not torch.cuda.is_available():
        raise InputError(
            "CUDA is not available to PyTorch", found="no usable GPU", remedy="`protoleaf doctor` says what is missing"
        )
    if wish == "cpu" or not torch.cuda.is_available():
        return torch.device("cpu")
    make_folders()
    return torch.device("cuda")


def number_type(precision: Precision, device: torch.device) -> torch.dtype:
    """The number type for a precision on a device; "auto" takes bfloat16 only where instructions for it exist."""
    if precision != "auto":
        return torch.bfloat16 if precision == "bfloat16" else torch.float32
    if device.type == "cuda":
        is_fast = torch.cuda.is_bf16_supported(including_emulation=False)
    else:
        is_fast = torch.cpu._is_avx512_bf16_supported()  # noqa: SLF001 (torch has no public question for it)
    return torch.bfloat16 if is_fast else torch.float32


def keep_freed_memory() -> bool:
    """Tell the C library to keep freed memory for the next iteration instead of giving it back.

    An iteration frees hundreds of megabytes and asks for them again. By default each such block is a fresh mapping
    whose pages the kernel must clear, one fault at a time: on two cores that takes up to half of Conv4's time.

    Returns:
        Whether this C library (glibc) took it.
    """
    try:
        tune = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # no such function: musl, macOS; no such call: Windows
        return False
    settings = ((_MAPPED_BLOCKS, 0), (_TRIM_THRESHOLD, _NEVER_TRIM), (_TOP_PADDING, _PADDING_BYTES))
    return all([tune(name, value) == 1 for name, value in settings])  # noqa: C419 (each must be tried)
