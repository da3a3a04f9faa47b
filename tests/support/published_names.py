"""Parameter names of EfficientNet-Lite in published files."""

from torch import Tensor

from engine.model.efficientnet_lite import EfficientNetLite

_NAMES = {
    "stem.0": "_conv_stem",
    "stem.1": "_bn0",
    "head.0": "_conv_head",
    "head.1": "_bn1",
    "expand.0": "_expand_conv",
    "expand.1": "_bn0",
    "depthwise.0": "_depthwise_conv",
    "depthwise.1": "_bn1",
    "project.0": "_project_conv",
    "project.1": "_bn2",
}


def published_names(network: EfficientNetLite) -> dict[str, Tensor]:
    """The network's parameters with published names."""
    published: dict[str, Tensor] = {}
    numbers: dict[tuple[str, ...], int] = {}
    for name, value in network.state_dict().items():
        *place, part, kind, array = name.split(".")
        prefix = f"_blocks.{numbers.setdefault(tuple(place), len(numbers))}." if place else ""
        published[f"{prefix}{_NAMES[f'{part}.{kind}']}.{array}"] = value
    return published
