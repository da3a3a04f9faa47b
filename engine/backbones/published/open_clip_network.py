"""The image half of a CLIP network of open_clip, such as BioCLIP, as the network of timm that takes its weights."""

from collections.abc import Mapping
from typing import Any, Final

OPEN_CLIP_WEIGHTS: Final = (
    "open_clip_model.safetensors", "open_clip_pytorch_model.safetensors", "open_clip_pytorch_model.bin",
)  # fmt: skip
"""Names on the hub, the best first."""
_MEAN: Final = (0.48145466, 0.4578275, 0.40821073)  # with the next:
_STD: Final = (0.26862954, 0.26130258, 0.27577711)
"""Of OpenAI's CLIP, which open_clip takes where nothing else is said."""
_ARCHITECTURES: Final[Mapping[tuple[int, int, int], str]] = {
    (768, 12, 32): "vit_base_patch32_clip{}_224",
    (768, 12, 16): "vit_base_patch16_clip{}_224",
    (1024, 24, 14): "vit_large_patch14_clip{}_224",
    (1280, 32, 14): "vit_huge_patch14_clip{}_224",
}
"""By width, layers and patch; the networks above them have settings of their own."""


def settings_of_open_clip(config: Mapping[str, Any]) -> dict[str, Any] | None:
    """What timm must know to build the image half; None where timm has no such network.

    Raises:
        KeyError, TypeError, ValueError: the configuration is not open_clip's.
    """
    model = config["model_cfg"]
    vision, preparation = model["vision_cfg"], config.get("preprocess_cfg", {})
    side = vision.get("image_size", 224)
    found = _of_timm(model, vision) or _of_open_clip(model, vision)
    if found is None or not isinstance(side, int):
        return None
    architecture, classes = found
    return {
        "architecture": architecture,
        "pretrained_cfg": {
            "input_size": [3, side, side],
            "crop_pct": 1.0,
            "crop_mode": "squash" if preparation.get("resize_mode") == "squash" else "center",
            "interpolation": preparation.get("interpolation", "bicubic"),
            "mean": list(preparation.get("mean", _MEAN)),
            "std": list(preparation.get("std", _STD)),
            "fixed_input_size": True,
            "num_classes": classes,
            "first_conv": "patch_embed.proj",
            "classifier": "head",
        },
        "model_args": {},
    }


def _of_timm(model: Mapping[str, Any], vision: Mapping[str, Any]) -> tuple[str, int] | None:
    """A network that open_clip itself takes from timm."""
    name = vision.get("timm_model_name")
    if name is None:
        return None
    return str(name), int(model["embed_dim"]) if vision.get("timm_proj") == "linear" else 0


def _of_open_clip(model: Mapping[str, Any], vision: Mapping[str, Any]) -> tuple[str, int] | None:
    """open_clip's own ViT, which is OpenAI's; its projection is a head for timm."""
    if not isinstance(vision.get("layers"), int):  # a list of four: a ResNet
        return None
    kind = int(vision["width"]), int(vision["layers"]), int(vision["patch_size"])
    if kind not in _ARCHITECTURES:
        return None
    return _ARCHITECTURES[kind].format("_quickgelu" if model.get("quick_gelu") else ""), int(model["embed_dim"])
