"""What goes into the program's folder and what stays out.

Asked by pyinstaller.spec. A row of PyInstaller's tables is a name in the folder, where it comes from, and a kind.
"""

import re
import sys
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Final

Entry = tuple[str, str, str]

SYSTEM_FOLDERS: Final = ("/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/")
"""Where Linux keeps the libraries of all programs."""
CARRIED: Final = (
    "libbz2", "libcrypto", "libexpat", "libffi", "liblzma", "libsqlite3", "libssl", "libuuid",  # Python's own
    "libxcb-cursor", "libxcb-icccm", "libxcb-image", "libxcb-keysyms", "libxcb-render-util", "libxcb-util",  # Qt's
)  # fmt: skip
"""Libraries of the building computer that the program carries: Python's, and those of Qt that desktops often lack. The
others, from fonts to OpenGL and the C++ library, must fit the desktop and its drivers, so they are the desktop's."""
PLUGINS: Final = {
    "platforms": ("qxcb", "qwayland", "qoffscreen", "qminimal.", "qwindows", "qcocoa"),
    "imageformats": ("qsvg",),  # Qt reads no pictures here (decision 110)
    "networkinformation": (),
    "tls": (),
    "generic": (),
    "egldeviceintegrations": (),
    "wayland-shell-integration": ("xdg-shell",),
}
"""Which of Qt's plugins are wanted, by folder; all of the folders that are not named."""
QT_SENTENCES: Final = ("PySide6/Qt/translations", "PySide6/translations")
"""Folders of Qt's own sentences, of which those in the window's languages are wanted."""
TRANSLATIONS: Final = Path(__file__).parents[2] / "assets" / "translations"
LIBRARIES: Final = (
    "Qt6EglFS", "Qt6EglFs", "Qt6Network", "Qt6WlShellIntegration",
    "arrow_flight", "arrow_python_flight", "arrow_s3",
)  # fmt: skip
"""Libraries that only those plugins use, and Arrow's ways to other computers."""
NEVER: Final = (
    "curses", "research", "huggingface_hub", "matplotlib", "nvidia", "pyarrow._flight", "pyarrow._s3fs",
    "pyarrow.flight", "PySide6.QtNetwork", "pytest", "ray", "readline", "timm", "tkinter", "triton",
    "pillow_heif",  # its encoder is under the GPL: HEIC is read by pi_heif
    "av",  # its encoders are under the GPL, and its decoders do not load without them
)  # fmt: skip
"""Modules that stay out of every program: the paper's experiments, what only they and tests use, clusters, and what
would bring libraries of the building computer (readline, curses)."""
ONLY_TO_TRAIN: Final = ("torch", "torchvision", "onnxscript", "safetensors", "sympy", "httpx")
"""Modules that only the program that trains has."""
ENGINE_ONLY_TO_TRAIN: Final = ("engine.model", "engine.training")
"""The engine's packages that need torch."""


CUDA: Final = ("cublas", "cublasLt", "cudart", "cudnn", "cufft", "curand", "nvJitLink", "nvrtc")
"""NVIDIA's libraries that ONNX Runtime uses, and those that they load themselves."""


FOUND_BY_PATH: Final = ("fusion_utils",)
"""Modules of ONNX Runtime that its part for eight-bit networks imports by their last name alone."""


def spoken_languages() -> list[str]:
    """Codes of the languages that come along beside English."""
    return sorted(
        path.stem.removeprefix("protoleaf_") for path in TRANSLATIONS.glob("protoleaf_*.qm")
    )


def library_folders() -> list[str]:
    """Folders that libraries add to Python's path while they run, which nobody sees who only reads their code."""
    found = find_spec("onnxruntime")
    return [str(Path(found.origin).parent / "transformers")] if found and found.origin else []


def cuda_libraries(packages: Path) -> list[tuple[str, str]]:
    """NVIDIA's libraries where ONNX Runtime looks for them: below `nvidia`, beside its own folder.

    Args:
        packages: folder of installed packages.

    Returns:
        files, and the folder that each goes to.
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
    """Modules that PyInstaller leaves out."""
    return [*NEVER, *(() if trains else ONLY_TO_TRAIN)]


def wanted_of_engine(name: str, *, trains: bool) -> bool:
    """Whether a module of the engine comes along."""
    return not name.startswith(NEVER if trains else (*NEVER, *ENGINE_ONLY_TO_TRAIN))


def wanted(entries: Iterable[Entry]) -> list[Entry]:
    """Those entries of a table that are wanted, in an order that does not depend on the computer."""
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
