"""Linear layers whose initial weights come from a given generator, never from the global one."""

import math

import torch
from torch import nn


def uniform_linear(
    width_in: int, width_out: int, generator: torch.Generator, *, bias: bool = True
) -> nn.Linear:
    """Linear layer with weights and bias uniform in ±1/√width_in, as torch initialises them.

    Args:
        width_in: length of an input.
        width_out: length of an output.
        generator: source of the initial weights, on the CPU.
        bias: whether there is one.

    Returns:
        The layer, on the CPU.
    """
    # Created without storage first: nn.Linear would draw from the global generator and so affect
    # other seeds.
    linear = nn.Linear(width_in, width_out, bias=bias, device="meta").to_empty(device="cpu")
    bound = 1.0 / math.sqrt(width_in)
    for parameter in linear.parameters():
        nn.init.uniform_(parameter, -bound, bound, generator=generator)
    return linear
