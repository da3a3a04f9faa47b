"""What libraries must know before they are loaded: that they send nothing, and where their files belong.

ONNX Runtime 1.31 brings telemetry that is on by default: it writes a device id and a queue of events to the user's
cache folder the moment it is loaded, and its own thread looks up its maker's host some seconds later. It reads its
variable once, at that moment, so `engine` settles it before anything of ours can load it; children inherit it.
"""

import os
from collections.abc import Mapping, MutableMapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from engine.config import CacheFolders

SWITCHES: Final[Mapping[str, str]] = {
    "ORT_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
    "TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS": "0",  # they would stay in the temporary folder, whatever is set below
}
"""Fixed for every process: a setting found in the environment does not switch reporting on."""

FOLDERS: Final[Mapping[str, str]] = {
    "CUDA_CACHE_PATH": "cuda",
    "MPLCONFIGDIR": "matplotlib",
    "PYTORCH_KERNEL_CACHE_PATH": "torch-kernels",
    "TORCHINDUCTOR_CACHE_DIR": "torch-compiled",
    "TRITON_CACHE_DIR": "triton",
}
"""Where libraries keep what they compiled or found, below our cache instead of folders of their own."""


def settle(environment: MutableMapping[str, str] = os.environ) -> None:
    """Write the variables into the environment of this process, which its children inherit.

    A folder that a person chose stays.
    """
    root = CacheFolders.default().libraries
    environment.update(SWITCHES)
    for variable, name in FOLDERS.items():
        environment.setdefault(variable, str(root / name))


def make_folders(environment: Mapping[str, str] = os.environ) -> None:
    """Make the folders that libraries keep their files in, before a GPU is used.

    torch makes only the last part of a path, and warns when it cannot. A folder that cannot be made costs time alone.
    """
    for variable in FOLDERS:
        with suppress(OSError):
            Path(environment[variable]).mkdir(parents=True, exist_ok=True)
