"""Settings of a device: every switch, its default, and the options of ONNX Runtime."""

from dataclasses import dataclass

from engine.runtime.devices.facts import CUDA_PROVIDER

SMALLEST_BATCH = 8
"""A GPU's images in one run, at least. Chosen without a GPU to measure with."""
LARGEST_BATCH = 128
"""At most: more only takes memory. Chosen without a GPU to measure with."""
_DEFAULT_BATCH = 32
"""Where free memory is unknown. Chosen without a GPU to measure with."""
_MEMORY_SHARE = 0.25
"""Share of the free memory for a batch. Chosen: driver and other programs need the rest."""
_COPIES = 64
"""An image's activations, as float32 copies of its input; a ResNet-50 needs about 30."""
_BYTES = 4  # of a float32


@dataclass(frozen=True)
class DeviceSettings:
    """Switches of a run by CUDA; other devices only know `batch`."""

    batch: int = 0  # images in one run; 0: by the memory of the device
    io_binding: bool = True  # keep one input and one output buffer on the device for each worker
    # Record the run once and replay it: one launch instead of hundreds. Every batch is padded to
    # the same size, and runs follow one another.
    cuda_graphs: bool = False
    # cuDNN's search for convolutions: "HEURISTIC", "EXHAUSTIVE" (measures), or "DEFAULT"
    algorithm_search: str = "HEURISTIC"
    # Lay out images as (B, height, width, channels), which tensor cores prefer
    channels_last: bool = False
    # Let float32 products use tensor cores, with 10 bits of mantissa instead of 23
    tf32: bool = True
    half: bool = False  # compute layers in float16; used only if embeddings agree with the CPU's
    # Grow the memory by what is needed, instead of to the next power of two
    spare_memory: bool = True


def provider_options(provider: str, settings: DeviceSettings) -> dict[str, str]:
    """Options of an execution provider; only that of CUDA has any.

    Searching the fastest convolution for every new batch size costs more than it saves on small
    networks, so the search is by heuristic. Memory that grows by doubling is partly unused, and
    other programs lack it.
    """
    if provider != CUDA_PROVIDER:
        return {}
    return {
        "cudnn_conv_algo_search": settings.algorithm_search,
        "arena_extend_strategy": "kSameAsRequested" if settings.spare_memory else "kNextPowerOfTwo",
        "prefer_nhwc": _flag(settings.channels_last),
        "use_tf32": _flag(settings.tf32),
        "enable_cuda_graph": _flag(settings.cuda_graphs),
    }


def batch_for(free_bytes: int | None, side: int, settings: DeviceSettings) -> int:
    """Batch size that fits a quarter of the free memory: a power of two in [8, 128]; 32 if unknown.

    `side` is that of the network's input in pixels; a batch in the settings takes precedence.
    """
    if settings.batch:
        return settings.batch
    if free_bytes is None:
        return _DEFAULT_BATCH
    image_bytes = side * side * 3 * _BYTES * _COPIES
    fitting = int(free_bytes * _MEMORY_SHARE / image_bytes)
    power = 1 << max(0, fitting.bit_length() - 1)
    return max(SMALLEST_BATCH, min(LARGEST_BATCH, power))


def _flag(is_on: bool) -> str:
    return str(int(is_on))
