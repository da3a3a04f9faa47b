"""The bundled backbone as a torch module again, ready to be trained on.

An exported file has its batch normalisation folded into the convolutions. Here each convolution gets one back: its mean
and variance are measured on images of the new collection, and its scale and shift undo them. So the network starts as
exactly the function that the file computes, and what follows is trained with normal batch normalisation.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Final, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from engine.errors import ModelError
from engine.model.backbone import LeafNet, Whitened
from engine.training.onnx_weights import read_weights

_PREFIX: Final = "backbone.backbone."
_WHITENING: Final = "backbone.whitening."
_BIAS: Final = "_bias"

ConvolutionAndNorm = tuple[str, nn.Conv2d, nn.BatchNorm2d]


@final
class ScaledEmbedding(nn.Module):
    """Embeddings of length 1 / sqrt(temperature): their plain squared distances are those of unit ones over it.

    Args:
        backbone: gives embeddings of length 1.
        temperature: what Eq. 2 divides squared distances of unit embeddings by.
    """

    def __init__(self, backbone: nn.Module, temperature: float) -> None:
        super().__init__()
        self.backbone = backbone
        self.scale = temperature**-0.5

    def forward(self, images: Tensor) -> Tensor:
        """Map images (B, 3, H, W), normalised float, to embeddings (B, d) float."""
        embeddings: Tensor = self.backbone(images) * self.scale
        return embeddings


def thawed_leaf_net(path: Path, images: Tensor) -> Whitened:
    """Make the network of an exported LeafNet.

    Args:
        path: the ONNX file.
        images: (B, 3, H, W) float32, normalised: what mean and variance are measured on.

    Returns:
        The network in evaluation mode; up to rounding it does what the file does.

    Raises:
        ModelError: the file is no LeafNet.
    """
    network, weights = LeafNet().eval(), read_weights(path)
    with torch.no_grad():
        for name, convolution, norm in _pairs(network):
            convolution.weight.copy_(_weight(weights, name, convolution.weight.shape, path))
            norm.bias.copy_(_weight(weights, name + _BIAS, norm.bias.shape, path))
            _running(norm)[1].fill_(1.0 - norm.eps)
        statistics = _statistics(network, images)
        for name, _, norm in _pairs(network):
            mean, variance = statistics[name]
            for running, measured in zip(_running(norm), (mean, variance), strict=True):
                running.copy_(measured)
            norm.weight.copy_((variance + norm.eps).sqrt())
            norm.bias.add_(mean)
    return _with_head(network, weights, path)


def _with_head(network: LeafNet, weights: Mapping[str, NDArray[np.float32]], path: Path) -> Whitened:
    """The network with the affine map that ends the file; training may change it too."""
    matrix = weights.get(f"{_WHITENING}weight")
    rows = 0 if matrix is None else len(matrix)
    head = Whitened(network, torch.zeros(network.embedding_width), torch.zeros(rows, network.embedding_width))
    with torch.no_grad():
        for name, values in head.whitening.named_parameters():
            values.copy_(_weight(weights, _WHITENING + name, values.shape, path))
    return head.eval()


def _pairs(network: nn.Module) -> Iterator[ConvolutionAndNorm]:
    """Each convolution with its name and the normalisation that follows it."""
    for prefix, module in network.named_modules():
        if isinstance(module, nn.Sequential):
            children = list(module.named_children())
            for (name, first), (_, second) in pairwise(children):
                if isinstance(first, nn.Conv2d) and isinstance(second, nn.BatchNorm2d):
                    yield f"{_PREFIX}{prefix}.{name}.weight", first, second


def _running(norm: nn.BatchNorm2d) -> tuple[Tensor, Tensor]:
    """Mean and variance (channels,) that evaluation goes by."""
    assert norm.running_mean is not None, "LeafNet's normalisation keeps statistics"
    assert norm.running_var is not None, "LeafNet's normalisation keeps statistics"
    return norm.running_mean, norm.running_var


def _weight(weights: Mapping[str, NDArray[np.float32]], name: str, shape: torch.Size, path: Path) -> Tensor:
    found = weights.get(name)
    if found is None or found.shape != tuple(shape):
        raise ModelError(
            "training cannot continue from this backbone",
            expected=f"{name} of shape {tuple(shape)}",
            found=f"{'nothing' if found is None else found.shape} in {path}",
            remedy="start from another network",
        )
    return torch.from_numpy(found)


def _statistics(network: nn.Module, images: Tensor) -> Mapping[str, tuple[Tensor, Tensor]]:
    """Mean and variance (channels,) of each convolution's output."""
    found: dict[str, tuple[Tensor, Tensor]] = {}

    def listener(name: str) -> Callable[[nn.Module, tuple[Tensor, ...], Tensor], None]:
        def listen(_module: nn.Module, _inputs: tuple[Tensor, ...], output: Tensor) -> None:
            found[name] = output.mean(dim=(0, 2, 3)), output.var(dim=(0, 2, 3), unbiased=False)

        return listen

    hooks = [convolution.register_forward_hook(listener(name)) for name, convolution, _ in _pairs(network)]
    network(images)
    for hook in hooks:
        hook.remove()
    return found
