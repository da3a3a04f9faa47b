"""What the program writes into a network's file when it takes it in: how pictures are prepared for it."""

import json
from typing import Final

from engine.model_card import BackboneCard

PREPROCESSING_KEY: Final = "protoleaf.preprocessing"
PREPROCESSING_FIELDS: Final = (
    "input_side",
    "mean",
    "std",
    "resize_share",
    "layout",
    "value_scale",
    "channel_order",
    "output",
    "pooling",
    "unit_length",
)
"""Fields of a card that decide what the embedding of a picture is."""


def stamp_of(card: BackboneCard) -> bytes:
    """Bytes to append to an ONNX file that say how pictures are prepared, as the card does.

    Protocol buffers may be joined end to end: a model that holds nothing but an entry of `metadata_props` adds that
    entry, and gigabytes of weights need not be read to write a line.
    """
    from onnx import ModelProto, StringStringEntryProto

    value = json.dumps({name: getattr(card, name) for name in PREPROCESSING_FIELDS})
    content: bytes = ModelProto(
        metadata_props=[StringStringEntryProto(key=PREPROCESSING_KEY, value=value)]
    ).SerializeToString()
    return content
