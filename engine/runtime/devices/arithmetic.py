"""Count a network's operations, and measure a device's peak arithmetic throughput."""

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from engine.config import assets_folder
from engine.errors import ModelError
from engine.new_folder import scratch_folder
from engine.runtime.devices.facts import CPU_PROVIDER, CUDA_PROVIDER
from engine.runtime.onnx_runtime import load_onnxruntime
from engine.runtime.sessions import one_line, open_session, runtime_errors

PRODUCT_MODEL = "models/product.onnx"
_CPU_SIDE = 512  # larger ones leave the cache of a core, and are slower
_GPU_SIDE = 4096  # side of a GPU's product: large enough to keep it busy (decision 95)
_PRODUCTS = frozenset({"MatMul", "Gemm", "FusedMatMul"})
_CONVOLUTIONS = frozenset({"Conv", "FusedConv"})


def operations_of(model: Path, input_shape: Sequence[int]) -> float:
    """Multiplications and additions of a network's convolutions and matrix products for one image.

    ONNX Runtime's own profile of one run on the CPU names every operator with the shapes of its
    tensors. The input shape is without the batch. Raises `ModelError` where the model does not run.
    """
    onnxruntime = load_onnxruntime()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.enable_profiling = True
    # Fused operators hide shapes
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    with scratch_folder() as folder:
        options.profile_file_prefix = str(folder / "profile")
        try:
            session = onnxruntime.InferenceSession(str(model), options, providers=[CPU_PROVIDER])
            taken = session.get_inputs()[0]
            dtype = np.float16 if taken.type == "tensor(float16)" else np.float32
            session.run(None, {taken.name: np.zeros((1, *input_shape), dtype=dtype)})
            events = json.loads(Path(session.end_profiling()).read_text(encoding="utf-8"))
        except runtime_errors() as error:
            raise ModelError("the model cannot be run", found=one_line(error)) from error
    return sum(_operations(event.get("args", {})) for event in events if event.get("cat") == "Node")


def _operations(node: Mapping[str, Any]) -> float:
    """Operations of one operator: two for each product that is summed into its output."""
    kind = node.get("op_name", "")
    if kind not in _CONVOLUTIONS | _PRODUCTS:
        return 0.0
    inputs, outputs = _shapes(node, "input_type_shape"), _shapes(node, "output_type_shape")
    summed = math.prod(inputs[1][1:]) if kind in _CONVOLUTIONS else inputs[0][-1]
    return 2.0 * math.prod(outputs[0]) * summed


def _shapes(node: Mapping[str, Any], name: str) -> list[list[int]]:
    return [next(iter(entry.values())) for entry in node[name]]


class Product:
    """A big float32 matrix product on one device: what its arithmetic gives in the best case.

    It runs as a backbone does: on the CPU each of some workers multiplies on one core; a GPU has
    one worker.

    Args:
        workers: on the CPU, cores that multiply at the same time.
        side: of the square matrices; 512 on the CPU and 4096 on a GPU when 0.

    Raises:
        ModelError: the provider does not work, or its memory is full.
    """

    def __init__(
        self,
        provider: str,
        options: Mapping[str, str] | None = None,
        *,
        workers: int = 1,
        side: int = 0,
    ) -> None:
        is_cpu = provider == CPU_PROVIDER
        self._side = side or (_CPU_SIDE if is_cpu else _GPU_SIDE)
        model = assets_folder() / PRODUCT_MODEL
        self._session = open_session(model, provider, provider_options=options)
        memory = "cuda" if provider == CUDA_PROVIDER else "cpu"
        try:
            self._bindings = [self._bound(memory) for _worker in range(workers if is_cpu else 1)]
            self._multiply(self._bindings[0])  # the first run sets up
        except runtime_errors() as error:
            raise ModelError("the matrix product cannot be run", found=one_line(error)) from error

    def measure(self, seconds: float) -> float:
        """Operations a second of all workers, measured for seconds; raises `ModelError`."""
        products = [partial(self._multiply, binding) for binding in self._bindings]
        try:
            return 2.0 * self._side**3 * done_per_s(products, seconds)
        except runtime_errors() as error:
            raise ModelError("the matrix product cannot be run", found=one_line(error)) from error

    def _bound(self, memory: str) -> Any:
        values = load_onnxruntime().OrtValue
        shape = (self._side, self._side)
        matrix = np.random.default_rng(0).standard_normal(shape, dtype=np.float32)
        binding = self._session.io_binding()
        for name in ("a", "b"):
            binding.bind_ortvalue_input(name, values.ortvalue_from_numpy(matrix, memory))
        binding.bind_ortvalue_output(
            "product", values.ortvalue_from_shape_and_type(shape, np.float32, memory)
        )
        return binding

    def _multiply(self, binding: Any) -> int:
        """Multiply once."""
        self._session.run_with_iobinding(binding)
        binding.synchronize_outputs()
        return 1


def done_per_s(tasks: Sequence[Callable[[], int]], seconds: float) -> float:
    """What tasks do a second, each repeated on a thread of its own for so long, at least once.

    Args:
        tasks: return how much they did.
    """
    started_s = time.perf_counter()

    def repeat(task: Callable[[], int]) -> int:
        done = 0
        while not done or time.perf_counter() - started_s < seconds:
            done += task()
        return done

    with ThreadPoolExecutor(len(tasks)) as pool:
        total = sum(pool.map(repeat, tasks))
    return total / (time.perf_counter() - started_s)
