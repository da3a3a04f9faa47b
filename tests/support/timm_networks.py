"""Networks of timm with random weights: its own tiny architectures, and a hub on this computer that has them."""

from collections.abc import Mapping
from typing import Final

import timm
import torch
from safetensors.torch import save
from torch import Tensor, nn

from tests.support.hub_server import HubServer

VIT: Final = "test_vit.r160_in1k"
CONVNET: Final = "test_convnext.r160_in1k"
"""timm's own networks for tests: a vision transformer and a network of convolutions for images of 160 pixels."""


def random_network(name: str, seed: int = 0) -> nn.Module:
    """A network of timm with its head and random weights."""
    torch.manual_seed(seed)
    network: nn.Module = timm.create_model(name, pretrained=False).eval()
    for (
        parameter
    ) in network.parameters():  # nothing is left at zero, so that every weight has a say
        torch.nn.init.normal_(parameter, std=0.05)
    return network


def as_safetensors(state: Mapping[str, Tensor]) -> bytes:
    """The file that the hub would have of it."""
    return save({name: value.contiguous() for name, value in state.items()})


def hub_of(*names: str) -> HubServer:
    """A hub with random weights of these networks."""
    return HubServer(
        {
            f"timm/{name}/model.safetensors": as_safetensors(random_network(name).state_dict())
            for name in names
        }
    )
