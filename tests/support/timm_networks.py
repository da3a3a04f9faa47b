"""Timm networks with random weights: tiny architectures, and a local hub."""

from collections.abc import Mapping

import timm
import torch
from safetensors.torch import save
from torch import Tensor, nn

from tests.support.hub_server import HubServer

VIT = "test_vit.r160_in1k"
CONVNET = "test_convnext.r160_in1k"
"""Timm's test networks for images of 160 pixels: a vision transformer and a convolutional one."""


def random_network(name: str, seed: int = 0) -> nn.Module:
    """A timm network with head and random weights."""
    torch.manual_seed(seed)
    network: nn.Module = timm.create_model(name, pretrained=False).eval()
    for parameter in network.parameters():  # no weight is zero
        torch.nn.init.normal_(parameter, std=0.05)
    return network


def as_safetensors(state: Mapping[str, Tensor]) -> bytes:
    """The hub's file of a network."""
    return save({name: value.contiguous() for name, value in state.items()})


def hub_of(*names: str) -> HubServer:
    """A hub with random weights of these networks."""
    return HubServer(
        {
            f"timm/{name}/model.safetensors": as_safetensors(random_network(name).state_dict())
            for name in names
        }
    )
