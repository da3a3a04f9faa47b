"""Numbers of the fields of ONNX messages that are looked at, as the format's published definition has them."""

from typing import Final

MODEL_FORMAT: Final = 1
MODEL_PRODUCER: Final = 2
MODEL_GRAPH: Final = 7
MODEL_OPSET: Final = 8
MODEL_NOTE: Final = 14
MODEL_FUNCTION: Final = 25

GRAPH_NODE: Final = 1
GRAPH_INITIALIZER: Final = 5
GRAPH_SPARSE_INITIALIZER: Final = 15

NODE_ATTRIBUTE: Final = 5
NODE_OPERATOR: Final = 4
NODE_DOMAIN: Final = 7

ATTRIBUTE_TENSORS: Final = frozenset({5, 10})
ATTRIBUTE_GRAPHS: Final = frozenset({6, 11})
ATTRIBUTE_SPARSE_TENSORS: Final = frozenset({22, 23})
SPARSE_TENSORS: Final = frozenset({1, 2})

TENSOR_RAW_DATA: Final = 9
TENSOR_EXTERNAL_DATA: Final = 13
TENSOR_LOCATION: Final = 14
LOCATION_EXTERNAL: Final = 1
CHOICE_BITS: Final = (1 << 32) - 1
"""What counts of a number that stands for one of several choices."""

FUNCTION_NAME: Final = 1
FUNCTION_NODE: Final = 7
FUNCTION_DOMAIN: Final = 10

OPSET_DOMAIN: Final = 1
OPSET_VERSION: Final = 2

KEY: Final = 1
VALUE: Final = 2
