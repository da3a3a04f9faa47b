"""Names of published networks as people write them."""

import pytest

from engine.backbones.published.titles import library_title, network_title


@pytest.mark.parametrize(
    ("network", "weights", "title"),
    [
        ("convnext_tiny", "IMAGENET1K_V1", "ConvNeXt Tiny"),
        ("densenet121", "IMAGENET1K_V1", "DenseNet-121"),
        ("efficientnet_b0", "IMAGENET1K_V1", "EfficientNet B0"),
        ("efficientnet_v2_s", "IMAGENET1K_V1", "EfficientNet V2 Small"),
        ("googlenet", "IMAGENET1K_V1", "GoogLeNet"),
        ("mnasnet0_75", "IMAGENET1K_V1", "MNASNet 0.75"),
        ("mobilenet_v3_large", "IMAGENET1K_V2", "MobileNet V3 Large (V2)"),
        ("regnet_x_1_6gf", "IMAGENET1K_V1", "RegNet X 1.6 GF"),
        ("regnet_y_400mf", "IMAGENET1K_V2", "RegNet Y 400 MF (V2)"),
        ("resnet50", "IMAGENET1K_V2", "ResNet-50 (V2)"),
        ("resnext101_32x8d", "IMAGENET1K_V1", "ResNeXt-101 32\N{MULTIPLICATION SIGN}8d"),
        ("shufflenet_v2_x1_5", "IMAGENET1K_V1", "ShuffleNet V2 \N{MULTIPLICATION SIGN}1.5"),
        ("vgg16_bn", "IMAGENET1K_V1", "VGG-16 BN"),
        ("vit_b_16", "IMAGENET1K_SWAG_E2E_V1", "ViT Base/16 (SWAG)"),
        ("vit_b_16", "IMAGENET1K_SWAG_LINEAR_V1", "ViT Base/16 (SWAG linear)"),
        ("wide_resnet50_2", "IMAGENET1K_V1", "Wide ResNet-50 2"),
        ("a_family_of_tomorrow", "IMAGENET1K_V1", "A family of tomorrow"),
    ],
)
def test_a_network_has_a_name_for_people(network: str, weights: str, title: str) -> None:
    """Also in the library, where names are in lower case."""
    assert network_title(network, weights) == title
    assert library_title(f"torchvision-{network}-{weights.lower()}") == title


@pytest.mark.parametrize("name", ["leafnet", "my own network", "torchvision-mine"])
def test_other_names_stay(name: str) -> None:
    """Those of bundled backbones and of ONNX files."""
    assert library_title(name) == name
