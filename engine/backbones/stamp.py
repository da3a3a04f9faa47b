"""What the program writes into a network's file when it takes it in: how pictures are prepared for it.

Protocol buffers may be joined end to end: appending an entry of `metadata_props` to an ONNX file adds that entry. So no
library is needed that would read gigabytes to write a line.
"""

import json
from dataclasses import asdict
from typing import Final

from engine.backbones.onnx_files.fields import KEY, MODEL_NOTE, VALUE
from engine.backbones.onnx_files.protocol_buffer import encoded_field
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
    """Bytes to append to an ONNX file that say how pictures are prepared, as the card does."""
    fields = asdict(card)
    return _entry(PREPROCESSING_KEY, json.dumps({name: fields[name] for name in PREPROCESSING_FIELDS}))


def _entry(key: str, value: str) -> bytes:
    return encoded_field(MODEL_NOTE, encoded_field(KEY, key.encode()) + encoded_field(VALUE, value.encode()))
