"""Training on several devices under `torchrun`: PyTorch's DistributedDataParallel with what the loop asks of it."""

import os
from collections.abc import Callable
from types import TracebackType
from typing import final

import torch
from torch import Tensor, distributed, nn

from engine.training.arithmetic import device_of


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
        """Whether several processes train together."""
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
