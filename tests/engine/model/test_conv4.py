import pytest
import torch
from torch import nn

from engine.errors import InputError
from engine.model.backbone import LAST_SCALE, Conv4


@pytest.mark.parametrize(("side", "width"), [(84, 64 * 5 * 5), (32, 64 * 2 * 2), (16, 64)])
def test_width_of_the_embedding(side: int, width: int) -> None:
    """Four halvings, rounded down: 84, 42, 21, 10, 5 and 32, 16, 8, 4, 2."""
    backbone = Conv4(side).eval()
    assert backbone.embedding_width == width
    assert backbone(torch.zeros(1, 3, side, side)).shape == (1, width)


def test_four_blocks() -> None:
    """Section 4: four times 64 filters of 3x3, batch norm, 2x2 max-pooling and ReLU."""
    layers = list(Conv4(84).layers)
    kinds = [nn.Conv2d, nn.BatchNorm2d, nn.MaxPool2d, nn.ReLU]
    assert [type(layer) for layer in layers] == kinds * 4 + [nn.Flatten]
    for number, convolution in enumerate(layers[0:16:4]):
        assert isinstance(convolution, nn.Conv2d)
        assert (convolution.in_channels, convolution.out_channels) == (3 if number == 0 else 64, 64)
        assert (convolution.kernel_size, convolution.stride, convolution.padding) == (
            (3, 3),
            (1, 1),
            (1, 1),
        )
    assert all(layer.kernel_size == 2 for layer in layers if isinstance(layer, nn.MaxPool2d))


def test_pooling_before_relu_is_the_papers_network() -> None:
    """Embeddings and gradients are those of the paper's order.

    Convolution, batch norm, ReLU, pooling.
    """
    torch.manual_seed(0)
    backbone = Conv4(16, 4)
    layers = list(backbone.layers)
    blocks = [(*layers[at : at + 2], nn.ReLU(), nn.MaxPool2d(2)) for at in range(0, 16, 4)]
    paper = nn.Sequential(*(layer for block in blocks for layer in block), nn.Flatten())
    images = torch.randn(4, 3, 16, 16)
    found = []
    for network in (backbone, paper):
        backbone.zero_grad()
        embeddings = network(images)
        torch.autograd.backward(embeddings.square().sum())
        found.append((embeddings, *[parameter.grad for parameter in backbone.parameters()]))
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs)


def test_number_of_parameters() -> None:
    """3*64*9 + 64 in the first convolution, 64*64*9 + 64 in the others, 128 in each batch norm.

    113,088.
    """
    count = sum(parameter.numel() for parameter in Conv4(84).parameters())
    assert count == (1_728 + 64) + 3 * (36_864 + 64) + 4 * 128 == 113_088


def test_embeddings_start_short() -> None:
    """The last batch norm multiplies by `last_scale`, so embeddings are as many times shorter.

    The others by 1.
    """
    images = torch.randn(8, 3, 16, 16, generator=torch.Generator().manual_seed(0))
    torch.manual_seed(0)
    short = Conv4(16, 8)
    torch.manual_seed(0)
    usual = Conv4(16, 8, last_scale=1.0)
    torch.testing.assert_close(short(images), LAST_SCALE * usual(images))
    norms = [
        sorted(set(layer.weight.tolist()))
        for layer in short.layers
        if isinstance(layer, nn.BatchNorm2d)
    ]
    assert norms == [[1.0], [1.0], [1.0], [pytest.approx(LAST_SCALE)]]


def test_too_small_images() -> None:
    """Images that cannot be halved four times are refused at once."""
    with pytest.raises(
        InputError, match=r"too small for Conv4: expected a side of at least 16 px, found 15 px"
    ):
        Conv4(15)
