"""Which output of a network can be an embedding: looked at as declared and as it came out."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from engine.backbones.onnx_files.facts import TensorFacts
from engine.errors import ModelError
from engine.runtime.backbone_input import OUTPUT_TYPES

LEAST_WIDTH: Final = 2
MOST_WIDTH: Final = 16_384
_LIKELY: Final = ("image_embed", "embed", "pooler", "pooled", "feature", "last_hidden_state")
_UNLIKELY: Final = ("logit", "prob", "softmax", "score", "class", "label")
_MAP: Final = 4
_VECTOR: Final = 2
_CHANNELS_AT: Final[Mapping[str, int]] = {"nchw": 1, "nhwc": 3}

Shapes = Sequence[tuple[int, ...] | None]


def judged(output: TensorFacts, shapes: Shapes, *, layout: str) -> TensorFacts:
    """Say whether an output can be an embedding.

    Args:
        shapes: that it had for one image, for another image, and for two at once if the network takes two; None where
            it was no array.
        layout: "nchw" or "nhwc", where a map has its channels.
    """
    observed = shapes[0] or ()
    refused = _refused(output.kind, shapes)
    if refused:
        return replace(output, observed=observed, refused=refused)
    width = observed[_CHANNELS_AT[layout]] if len(observed) == _MAP else observed[-1]
    if not LEAST_WIDTH <= width <= MOST_WIDTH:
        reason = f"it has {width:,} values for an image, not {LEAST_WIDTH} to {MOST_WIDTH:,}"
        return replace(output, observed=observed, refused=reason)
    return replace(output, observed=observed, pooling="none" if len(observed) == _VECTOR else "mean", width=width)


def _refused(kind: str, shapes: Shapes) -> str:
    first, second, *both = shapes
    if first is None or second is None or not kind.startswith("tensor("):
        return "it is a list, not an array"
    rows = both[0][0] if both and both[0] else 2
    reasons = {
        f"it holds {kind[len('tensor(') : -1]} values, such as labels, not a vector": kind not in OUTPUT_TYPES,
        "it is one number for each image": len(first) < _VECTOR,
        f"it has {len(first)} axes": len(first) > _MAP,
        f"it gives {first[0] if first else 0} rows for one image": first[:1] != (1,),
        "its width changes from image to image": first != second,
        f"it gives {rows} rows for two images": rows != 2,  # noqa: PLR2004
    }
    return next((reason for reason, is_so in reasons.items() if is_so), "")


def likeliest_first(outputs: Sequence[TensorFacts]) -> tuple[TensorFacts, ...]:
    """Sort outputs by how likely they are the embedding.

    Raises:
        ModelError: none of them can be one.
    """
    if all(output.refused for output in outputs):
        found = "; ".join(f"{output.name}: {output.refused}" for output in outputs) or "no output"
        raise ModelError(
            "no output of the model can be an embedding",
            expected="a vector, a map or tokens for each image",
            found=found,
            remedy="export the network without its last step, so that it gives its features",
        )
    return tuple(sorted(outputs, key=_unlikeliness))


def _unlikeliness(output: TensorFacts) -> tuple[bool, bool, int, bool]:
    name = output.name.lower()
    rank = next((place for place, word in enumerate(_LIKELY) if word in name), len(_LIKELY))
    return bool(output.refused), looks_like_scores(output), rank, output.pooling != "none"


def looks_like_scores(output: TensorFacts) -> bool:
    """Whether an output's name says that it scores classes, rather than describes an image."""
    return any(word in output.name.lower() for word in _UNLIKELY)
