"""Selection of what goes into the program's folder, for pyinstaller.spec.

An entry of PyInstaller's tables is a name in the folder, a source path, and a kind.
"""

import re
import sys
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path, PurePosixPath

Entry = tuple[str, str, str]

SYSTEM_FOLDERS = ("/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/")
"""System library folders of Linux."""
CARRIED = (
    # Python.
    "libbz2",
    "libcrypto",
    "libexpat",
    "libffi",
    "liblzma",
    "libsqlite3",
    "libssl",
    "libuuid",
    # Qt.
    "libxcb-cursor",
    "libxcb-icccm",
    "libxcb-image",
    "libxcb-keysyms",
    "libxcb-render-util",
    "libxcb-util",
)
"""System libraries that are bundled: those of Python, and those of Qt that desktops often lack.

Others, from fonts to OpenGL and the C++ library, must match the desktop and its drivers.
"""
PLUGINS = {
    "platforms": ("qxcb", "qwayland", "qoffscreen", "qminimal.", "qwindows", "qcocoa"),
    "imageformats": ("qsvg",),  # Qt decodes no images here (decision 110)
    "networkinformation": (),
    "tls": (),
    "generic": (),
    "egldeviceintegrations": (),
    "wayland-shell-integration": ("xdg-shell",),
}
"""Included Qt plugins by folder; of other folders all."""
QT_SENTENCES = ("PySide6/Qt/translations", "PySide6/translations")
"""Folders of Qt's own translations; only those of the window's languages are included."""
TRANSLATIONS = Path(__file__).parents[2] / "assets" / "translations"
LIBRARIES = (
    "Qt6EglFS",
    "Qt6EglFs",
    "Qt6Network",
    "Qt6WlShellIntegration",
    "arrow_flight",
    "arrow_python_flight",
    "arrow_s3",
)
"""Libraries that only excluded plugins use, and Arrow's network libraries."""
NEVER = (
    "curses",
    "protoleaf_cluster",
    "research",
    "huggingface_hub",
    "matplotlib",
    "nvidia",
    "pyarrow._flight",
    "pyarrow._s3fs",
    "pyarrow.flight",
    "PySide6.QtNetwork",
    "pytest",
    "ray",
    "readline",
    "timm",
    "tkinter",
    "triton",
    "pillow_heif",  # has an encoder under the GPL: HEIC is decoded by pi_heif
    "av",  # has encoders under the GPL, and its decoders do not load without them
)
"""Modules excluded from every program: experiments, tests, clusters.

Also readline and curses, which would bundle system libraries.
"""
ONLY_TO_TRAIN = ("torch", "torchvision", "onnxscript", "safetensors", "sympy", "httpx")
"""Modules that only the training flavour includes."""
ENGINE_ONLY_TO_TRAIN = ("engine.model", "engine.training")
"""Packages of the engine that need torch."""


CUDA = ("cublas", "cublasLt", "cudart", "cudnn", "cufft", "curand", "nvJitLink", "nvrtc")
"""NVIDIA libraries that ONNX Runtime uses, and those that they load themselves."""


FOUND_BY_PATH = ("fusion_utils",)
"""Modules that ONNX Runtime's quantization imports by their bare name."""


def spoken_languages() -> list[str]:
    """Codes of the translated languages."""
    return sorted(
        path.stem.removeprefix("protoleaf_") for path in TRANSLATIONS.glob("protoleaf_*.qm")
    )


def library_folders() -> list[str]:
    """Folders that libraries add to `sys.path` at run time, which static analysis misses."""
    found = find_spec("onnxruntime")
    return [str(Path(found.origin).parent / "transformers")] if found and found.origin else []


def cuda_libraries(packages: Path) -> list[tuple[str, str]]:
    """NVIDIA libraries at the paths where ONNX Runtime looks for them, below `nvidia`.

    Args:
        packages: folder of installed packages.

    Returns:
        files, and the target folder of each.
    """
    named = re.compile(rf"(lib)?({'|'.join(CUDA)})[^/]*(\.so[.\d]*|\.dll)")
    found = sorted(
        path for path in (packages / "nvidia").glob("*/*/**/*") if named.fullmatch(path.name)
    )
    return [
        (str(path), path.parent.relative_to(packages).as_posix())
        for path in found
        if ".alt." not in path.name
    ]


def excluded_modules(*, trains: bool) -> list[str]:
    """Modules that PyInstaller excludes."""
    return [*NEVER, *(() if trains else ONLY_TO_TRAIN)]


def wanted_of_engine(name: str, *, trains: bool) -> bool:
    """Whether a module of the engine is included."""
    return not name.startswith(NEVER if trains else (*NEVER, *ENGINE_ONLY_TO_TRAIN))


def wanted(entries: Iterable[Entry]) -> list[Entry]:
    """Filter the entries of a table, in a reproducible order."""
    return sorted(entry for entry in entries if _is_wanted(*entry))


def _is_wanted(name: str, source: str, kind: str) -> bool:
    path = PurePosixPath(name.replace("\\", "/"))
    if kind != "SYMLINK" and sys.platform.startswith("linux") and source.startswith(SYSTEM_FOLDERS):
        return path.name.startswith(CARRIED)
    if str(path).startswith(QT_SENTENCES):
        return path.name.removeprefix("qtbase_").removesuffix(".qm") in spoken_languages()
    if path.name.removeprefix("lib").startswith(LIBRARIES):
        return False
    if "plugins" in path.parts and path.parent.name in PLUGINS:
        return path.name.removeprefix("lib").startswith(PLUGINS[path.parent.name])
    return True
