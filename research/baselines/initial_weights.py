"""Linear layers whose initial weights come from a given generator, never from the global one."""

import math

import torch
from torch import nn


def uniform_linear(
    width_in: int, width_out: int, generator: torch.Generator, *, bias: bool = True
) -> nn.Linear:
    """A linear layer with weights and bias drawn evenly from ±1/√width_in, as torch draws them by default.

    Args:
        width_in: length of an input.
        width_out: length of an output.
        generator: source of the initial weights, on the CPU.
        bias: whether there is one.

    Returns:
        The layer, on the CPU.
    """
    # Made without storage first: nn.Linear would draw from the global generator and so disturb other seeds.
    linear = nn.Linear(width_in, width_out, bias=bias, device="meta").to_empty(device="cpu")
    bound = 1.0 / math.sqrt(width_in)
    for parameter in linear.parameters():
        nn.init.uniform_(parameter, -bound, bound, generator=generator)
    return linear
