"""No recursion over the category graph: its maximum depth would raise RecursionError."""

import ast
from collections.abc import Iterable, Iterator, Mapping

from engine.graph.traversal import reachable
from tests.architecture.source_code import PROGRAM, Module, findings, rule

BY_NAME = "values of an option that is named ask for no best one"
SETTINGS = "settings are within settings once"
PERMITTED: Mapping[str, str] = {
    "app.actions.menu_keys._take_letter": "once for each letter and digit of the menu's texts",
    "app.actions.registry.Registry._fill_menu": "a submenu has no further one",
    "app.graph_import.logic._children_shown": "goes SHOWN_LEVELS deep",
    "engine.backbones.onnx_structure._parts": "protobuf reads at most 100 messages within one "
    "another",
    "engine.cli.output._plain": "a command's answer, whose fields are written in its module",
    "engine.bundle.card._finite": "the card's fields, which are written in its module",
    "engine.collection.training.settings._fields_of": SETTINGS,
    "engine.collection.training.settings._replaced": SETTINGS,
    "research.transfer.results.TransferResult.best_option": BY_NAME,
    "research.transfer.results.TransferResult.values": BY_NAME,
    "engine.runtime.backbone._on_device": "once more at most, in full precision",
}
"""Recursive functions with what limits their depth; never the graph."""

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
Names = Mapping[str, str]
Calls = dict[str, set[str]]


def calls_in(module: str, tree: ast.Module) -> Calls:
    """Calls of each function, as far as names tell: functions, own methods, imports."""
    calls: Calls = {}
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    known = {
        each.asname or each.name: f"{node.module}.{each.name}"
        for node in imports
        for each in node.names
    }
    waiting: list[tuple[ast.AST, str, Names, Names]] = [(tree, module, known, {})]
    for scope, name, outer, methods in waiting:  # grows during the loop
        nodes = list(own_nodes(scope))
        inner = {
            node.name: f"{name}.{node.name}" for node in nodes if isinstance(node, DEFINITIONS)
        }
        is_class = isinstance(scope, ast.ClassDef)
        own = inner if is_class else methods
        visible = (
            outer
            if is_class
            else {each: outer[each] for each in outer.keys() - bound_in(nodes)} | inner
        )
        calls[name] = set(called_in(nodes, name, visible, own))
        waiting += [
            (node, inner[node.name], visible, own)
            for node in nodes
            if isinstance(node, DEFINITIONS)
        ]
    return calls


@rule(*PROGRAM)
def calls_of(module: Module) -> Iterable[tuple[str, set[str]]]:
    """Calls of each function of a module."""
    dotted = module.name.removesuffix(".py").replace("/", ".")
    return calls_in(dotted, module.tree).items()


def own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """Statements that run when a definition is called, without nested definitions and lambdas."""
    waiting = list(ast.iter_child_nodes(scope))
    for node in waiting:  # grows during the loop
        yield node
        if not isinstance(node, (*DEFINITIONS, ast.Lambda)):
            noted = getattr(node, "annotation", None)  # a type, not a call
            waiting += (child for child in ast.iter_child_nodes(node) if child is not noted)


def bound_in(nodes: Iterable[ast.AST]) -> set[str]:
    """Parameters and variables of a function, which hide the module's functions."""
    return {node.arg for node in nodes if isinstance(node, ast.arg)} | {
        node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def called_in(nodes: Iterable[ast.AST], name: str, visible: Names, methods: Names) -> Iterator[str]:
    """Functions and own methods called by a definition; itself also as an argument, as of `map`."""
    for node in nodes:
        if isinstance(node, ast.Name) and visible.get(node.id) == name:
            yield name
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in visible
        ):
            yield visible[node.func.id]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = node.func.value
            if (
                isinstance(owner, ast.Name)
                and owner.id in {"self", "cls"}
                and node.func.attr in methods
            ):
                yield methods[node.func.attr]


def that_reach_themselves(calls: Calls) -> set[str]:
    """Functions that call themselves directly or indirectly."""
    left, before = calls, None
    while len(left) != before:  # functions without calls to the remaining ones are in no cycle
        before = len(left)
        left = {name: called for name, used in left.items() if (called := used & left.keys())}
    return {name for name in left if name in reachable(left.__getitem__, name)}


def test_no_function_calls_itself() -> None:
    """Recursive functions are listed with their limit; unneeded entries are removed."""
    calls = {name: called for found in findings(calls_of).values() for name, called in found}
    assert that_reach_themselves(calls) == set(PERMITTED)


RECURSIVE = """
def down(node):
    return [down(child) for child in node]

def outer(graph):
    def level(class_id):
        return max(map(level, graph.parents(class_id)))
    return level(1)

def one(node):
    return other(node)

def other(node):
    return one(node)

class Tree:
    def climb(self):
        return self.climb()
"""

STRAIGHT = """
def folder(path):
    folder = path.parent
    return folder

class View:
    def close(self):
        self._view.close()

    def text(self):
        return self._text.text()
"""


def test_what_is_found() -> None:
    """Functions, nested ones, mutual recursion, methods; not other objects' equal names."""
    found = that_reach_themselves(calls_in("m", ast.parse(RECURSIVE)))
    assert found == {"m.down", "m.outer.level", "m.one", "m.other", "m.Tree.climb"}
    assert that_reach_themselves(calls_in("m", ast.parse(STRAIGHT))) == set()
