"""Names of `import protoleaf`, and examples of the guide."""

import doctest
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import protoleaf
from engine.config import CACHE_VARIABLE
from tests.support.collections import LEAVES, Collection

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "python.md"
HEAVY = ("torch", "torchvision", "PySide6", "ray", "app", "research")


def loaded_by(program: str) -> set[str]:
    ending = "\nimport sys; print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run(
        [sys.executable, "-c", program + ending], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_importing_it_loads_no_library() -> None:
    assert not {*HEAVY, "numpy", "sklearn", "onnxruntime"} & loaded_by("import protoleaf")


@pytest.mark.slow
def test_all_but_the_torch_module_do_without_torch_and_qt() -> None:
    assert not set(HEAVY) & loaded_by("from protoleaf import *; embed, Project, category_graph")


def test_without_torch_it_says_what_to_install() -> None:
    program = "import sys; sys.modules['torch'] = None\nimport protoleaf\n"
    program += (
        "try: protoleaf.PrototypePropagationNetwork\nexcept ImportError as error: print(error)"
    )
    assert {"needs", "torch:", "'protoleaf[train]'"} <= loaded_by(program)


def test_each_name_is_there_and_described() -> None:
    assert set(protoleaf.__all__) == set(dir(protoleaf)) - {"PrototypePropagationNetwork"}
    for name in dir(protoleaf):
        found = getattr(protoleaf, name)
        assert isinstance(found, str) or found.__doc__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        protoleaf.nothing  # noqa: B018


@pytest.mark.slow
@pytest.mark.parametrize("module", ["classifier", "few_shot", "graph"])
def test_examples_in_docstrings(module: str) -> None:
    result = doctest.testmod(import_module(f"protoleaf.{module}"))
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.slow
def test_examples_of_the_guide(collection: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    """All blocks of the page in order, in a folder with photos and a project."""
    monkeypatch.chdir(collection.folder)
    monkeypatch.setenv(CACHE_VARIABLE, str(collection.caches.root))
    collection.unsorted.rename("photos")
    collection.project.rename("birds.protoleaf")
    names: dict[str, Any] = {}
    for block in re.findall(
        r"^```python\n(.+?)^```", GUIDE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    ):
        exec(compile(block, "python.md", "exec"), names)  # noqa: S102 (trusted)
    assert set(names["labels"]["class"]) == set(LEAVES)
    assert names["scores"].shape == (4, 3)
    assert names["search"].best_score_ > 0.8
