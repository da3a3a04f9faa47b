"""Options that say how pictures are prepared for an ONNX file; what is not given is told by the file or guessed."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

import typer

from engine.errors import UsageError

RANGES: Final[Mapping[str, Mapping[str, Any]]] = {
    "0-1": {"value_scale": 1.0},
    "0-255": {"value_scale": 255.0},
    "symmetric": {"value_scale": 1.0, "mean": (0.5, 0.5, 0.5), "std": (0.5, 0.5, 0.5)},
}

PresetName = Annotated[
    str | None,
    typer.Option(
        "--preset",
        help="A usual preprocessing: imagenet, minus-one-to-one, zero-to-one, zero-to-255, caffe or clip.",
    ),
]
InputSide = Annotated[int | None, typer.Option("--input-side", metavar="PIXELS", help="Side of the square input.")]
Mean = Annotated[
    str | None, typer.Option("--mean", metavar="R,G,B", help="Subtracted from red, green and blue, in this order.")
]
Deviation = Annotated[str | None, typer.Option("--std", metavar="R,G,B", help="Standard deviation to divide by.")]
Range = Annotated[
    str | None,
    typer.Option("--range", help="0-1 or 0-255: the range that mean and std refer to; symmetric: -1 to 1."),
]
Layout = Annotated[str | None, typer.Option("--layout", help="nchw or nhwc; checked against the file.")]
ChannelOrder = Annotated[str | None, typer.Option("--channel-order", help="rgb, bgr or grey.")]
ResizeShare = Annotated[
    float | None,
    typer.Option("--resize-share", help="Centre crop as a share of the short side, such as 0.875."),
]
Output = Annotated[str | None, typer.Option("--output", metavar="NAME", help="Output to take embeddings from.")]
Pooling = Annotated[str | None, typer.Option("--pooling", help="none, mean (of a map or tokens) or first (token).")]
UnitLength = Annotated[
    bool | None, typer.Option("--unit-length/--own-length", help="Normalise embeddings to unit length, the default.")
]


def chosen_fields(
    *,
    preset_name: str | None = None,
    value_range: str | None = None,
    mean: str | None = None,
    std: str | None = None,
    **others: object,
) -> dict[str, Any]:
    """Fields of `Preprocessing` that the options choose; a single option counts more than a preset.

    Raises:
        UsageError: an option's value cannot be read, or there is no such preset.
    """
    from engine.backbones.preprocessing import PRESETS, preset, three_numbers

    if preset_name is not None and preset_name not in PRESETS:
        raise UsageError("there is no such preset", expected=", ".join(PRESETS), found=preset_name)
    chosen: dict[str, Any] = {} if preset_name is None else dict(preset(preset_name))
    if value_range is not None:
        if value_range not in RANGES:
            raise UsageError("no such range", expected=" or ".join(RANGES), found=value_range)
        chosen |= RANGES[value_range]
    for name, text in (("mean", mean), ("std", std)):
        try:
            chosen |= {} if text is None else {name: three_numbers(text)}
        except ValueError as error:
            expected = "R,G,B, such as 0.5,0.5,0.5"
            raise UsageError(f"--{name} cannot be read", expected=expected, found=str(text)) from error
    return chosen | {name: value for name, value in others.items() if value is not None}
