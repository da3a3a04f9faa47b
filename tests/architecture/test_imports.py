"""Which imports are permitted, tested in new interpreters."""

import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import app
import engine
import protoleaf_cluster

PACKAGES = {"app": app, "engine": engine, "protoleaf_cluster": protoleaf_cluster}

WITHOUT_TORCH = (
    "app",
    "protoleaf_cluster",
    "engine.runtime",
    "engine.embedding",
    "engine.everyday",
    "engine.project",
    "engine.images",
    "engine.graph",
    "engine.interchange",
    "engine.worker",
    "engine.dataset",
    "engine.collection",
    "engine.backbones",
    "engine.detection",
    "engine.jobs",
    "engine.cli",
)
NEEDS_TORCH = (
    "engine.collection.training.backbone",
    *(
        f"engine.backbones.published.{name}"
        for name in ("export", "hub_network", "timm_", "torchvision_", "weight_file")
    ),
    "engine.backbones.convert",
)
STARTS_THE_PROGRAM = (".__main__",)


def modules_of(package_name: str) -> list[str]:
    """All modules below a package, without those that start a program when imported."""
    package = PACKAGES[package_name.split(".", maxsplit=1)[0]]
    found = [
        module.name for module in pkgutil.walk_packages(package.__path__, package.__name__ + ".")
    ]
    return [
        name
        for name in found
        if name.startswith(package_name + ".") and not name.endswith(STARTS_THE_PROGRAM)
    ]


def loaded_by(modules: list[str], *, blocked: tuple[str, ...] = ()) -> set[str]:
    """Top-level packages of a new interpreter after importing modules with others blocked."""
    program = (
        "import sys, importlib\n"
        f"for name in {blocked!r}: sys.modules[name] = None\n"
        f"for name in {modules!r}: importlib.import_module(name)\n"
        "print(' '.join({name.split('.')[0] for name, module in sys.modules.items() if module is "
        "not None}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def first_that_loads(package: str, modules: list[str]) -> str:
    """The first of these modules that loads a package in a new interpreter; "" for none."""
    program = (
        "import sys, importlib\n"
        f"for name in {modules!r}:\n"
        "    importlib.import_module(name)\n"
        f"    if {package!r} in sys.modules: sys.exit(print(name))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.mark.slow
def test_engine_works_without_qt() -> None:
    """Every module of the engine can be imported with Qt blocked, and none imports the window."""
    loaded = loaded_by(
        [*modules_of("engine"), *modules_of("protoleaf_cluster")], blocked=("PySide6", "shiboken6")
    )
    assert "app" not in loaded


def test_torch_stays_out() -> None:
    """The window, inference and commands other than training never load torch."""
    modules = [
        name
        for package in WITHOUT_TORCH
        for name in modules_of(package)
        if not name.startswith(NEEDS_TORCH)
    ]
    assert first_that_loads("torch", modules) == ""


def test_window_starts_without_heavy_libraries() -> None:
    """The window's modules load nothing that would delay the first paint."""
    heavy = {
        "onnxruntime",
        "torch",
        "networkx",
        "msgspec",
        "psutil",
        "onnx",
        "httpx",
        "ssl",
    }
    assert heavy & loaded_by(["app.main_window"]) == set()


@pytest.mark.parametrize(
    ("words", "allowed"),
    [
        (["--version"], set()),
        (["--help"], {"typer"}),
        (["classify", "missing.protoleaf", "-o", "out.csv"], {"typer", "pydantic", "numpy"}),
    ],
)
def test_commands_load_what_they_use(words: list[str], allowed: set[str]) -> None:
    """Version and help load no libraries of commands, and a command loads them on first use."""
    heavy = {
        "typer",
        "pydantic",
        "numpy",
        "onnxruntime",
        "torch",
        "PIL",
        "PySide6",
        "rich",
        "pyarrow",
        "lxml",
        "httpx",
        "networkx",
        "psutil",
        "asyncio",
        "multiprocessing",
        "research",
    }
    program = (
        f"import sys\nfrom app.__main__ import main\nmain({words!r})\n"
        "print(' '.join({name.split('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert heavy.intersection(done.stdout.splitlines()[-1].split()) == allowed


def test_the_program_starts_without_qt() -> None:
    """Arguments are parsed before Qt is imported; on Windows ONNX Runtime must be loaded first."""
    assert first_that_loads("PySide6", ["app.__main__"]) == ""


def test_qt_reads_no_images() -> None:
    """Qt's image readers are not used: on a thread they can deadlock (app/images/pixels.py)."""
    sources = Path(app.__path__[0]).rglob("*.py")
    readers = ("QImage.fromData", "QImageReader", "QPixmap.fromData", "loadFromData")
    found = [
        path.name
        for path in sources
        if any(reader in path.read_text(encoding="utf-8") for reader in readers)
    ]
    assert found == []


def test_annotations_of_the_window_are_not_quoted() -> None:
    """Imports for annotations only need `from __future__ import annotations` (ruff unquotes)."""
    for path in Path(app.__path__[0]).rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert "if TYPE_CHECKING:" not in text or "from __future__ import annotations" in text, path


@pytest.mark.slow
def test_what_opens_a_project_loads_no_graph_library() -> None:
    """Projects open without networkx (130 ms, 20 MB), which only training needs."""
    opened = [
        "app.main_window",
        "app.training.logic",
        "engine.collection.live",
        "engine.collection.training.trained",
    ]
    assert "networkx" not in loaded_by(opened)
