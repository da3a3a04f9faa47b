"""Protoleaf in Python: hierarchical few-shot classification over a graph of classes.

    from protoleaf import PrototypePropagationClassifier, embed

    edges = [("fruit", "apple"), ("fruit", "pear")]
    model = PrototypePropagationClassifier(edges)
    model.fit(embed(photos), labels)  # names of classes, fine or coarse; None for no label
    model.predict_safe(embed(more_photos))  # the deepest class that is sure enough

These names are stable; no others are. Importing this package loads
neither torch nor Qt, and each name only what it needs itself. `PrototypePropagationNetwork` needs
torch, and is imported by its name alone, not by `*`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from engine import __version__

if TYPE_CHECKING:
    from engine.graph.category_graph import CategoryGraph
    from protoleaf.classifier import PrototypePropagationClassifier
    from protoleaf.embedding import embed
    from protoleaf.few_shot import PrototypePropagationNetwork as PrototypePropagationNetwork
    from protoleaf.graph import category_graph
    from protoleaf.labels import ClassExplanation
    from protoleaf.project import Project

__all__ = [
    "CategoryGraph",
    "ClassExplanation",
    "Project",
    "PrototypePropagationClassifier",
    "__version__",
    "category_graph",
    "embed",
]

_MODULES = {
    "CategoryGraph": "engine.graph.category_graph",
    "ClassExplanation": "protoleaf.labels",
    "Project": "protoleaf.project",
    "PrototypePropagationClassifier": "protoleaf.classifier",
    "PrototypePropagationNetwork": "protoleaf.few_shot",
    "category_graph": "protoleaf.graph",
    "embed": "protoleaf.embedding",
}
"""Module of each name, imported when the name is first used (PEP 562)."""


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        found = globals()[name] = getattr(import_module(_MODULES[name]), name)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise ImportError(f"{name} needs torch: pip install 'protoleaf[train]'") from error
    return found


def __dir__() -> list[str]:
    return [*_MODULES, "__version__"]
