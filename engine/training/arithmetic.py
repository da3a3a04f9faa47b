"""Where and in which number type a training runs: device, precision, memory, and several processes (`torchrun`)."""

import ctypes
import os
from collections.abc import Callable
from types import TracebackType
from typing import Final, final

import torch
from torch import Tensor, distributed, nn

from engine.config import make_folders
from engine.errors import InputError
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
    """Tell the C library to keep freed memory for the next iteration; whether it (glibc) took that.

    An iteration frees hundreds of megabytes and asks for them again. By default each such block is a fresh mapping
    whose pages the kernel must clear, one fault at a time: on two cores that takes up to half of Conv4's time.
    """
    try:
        tune = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # no such function: musl, macOS; no such call: Windows
        return False
    settings = ((_MAPPED_BLOCKS, 0), (_TRIM_THRESHOLD, _NEVER_TRIM), (_TOP_PADDING, _PADDING_BYTES))
    return all([tune(name, value) == 1 for name, value in settings])  # noqa: C419 (each must be tried)


@final
class Distribution:
    """The process's place among those that `torchrun` started; a single process shares with nobody."""

    def __init__(self, device: torch.device, *, rank: int = 0, size: int = 1) -> None:
        self.device = device
        self.rank = rank
        self.size = size
        self._has_joined = False

    @staticmethod
    def of_environment(wish: str) -> "Distribution":
        """Read the variables that `torchrun` sets."""
        size = int(os.environ.get("WORLD_SIZE", "1"))
        device = device_of(wish)
        if size == 1:
            return Distribution(device)
        if device.type == "cuda":
            device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        return Distribution(device, rank=int(os.environ["RANK"]), size=size)

    @property
    def is_shared(self) -> bool:
        return self.size > 1

    def share(self, module: nn.Module) -> Callable[..., Tensor]:
        """The module, with gradients averaged over the processes."""
        if not self.is_shared:
            return module
        # Not every parameter takes part in each iteration: without multi-parent classes, attention gets no gradient.
        return nn.parallel.DistributedDataParallel(module, find_unused_parameters=True)

    def __enter__(self) -> "Distribution":
        if self.is_shared and not distributed.is_initialized():
            distributed.init_process_group("nccl" if self.device.type == "cuda" else "gloo")
            self._has_joined = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._has_joined:  # a group that was there before belongs to someone else
            distributed.destroy_process_group()
            self._has_joined = False
