"""No import cycles between modules and folders."""

import grimp
import networkx as nx
import pytest

PACKAGES = ("app", "engine", "protoleaf", "protoleaf_cluster", "research")


@pytest.fixture(scope="module")
def modules() -> "nx.DiGraph[str]":
    """Every module of the program, with an edge to each import, also for types only."""
    graph = grimp.build_graph(*PACKAGES, include_external_packages=False)
    found: nx.DiGraph[str] = nx.DiGraph()
    for module in graph.modules:
        found.add_edges_from(
            (module, imported) for imported in graph.find_modules_directly_imported_by(module)
        )
    return found


def circles(graph: "nx.DiGraph[str]") -> list[list[str]]:
    """Strongly connected components of several nodes."""
    return [sorted(group) for group in nx.strongly_connected_components(graph) if len(group) > 1]


def test_no_modules_import_one_another(modules: "nx.DiGraph[str]") -> None:
    """Between modules."""
    assert circles(modules) == []


def test_no_rooms_import_one_another(modules: "nx.DiGraph[str]") -> None:
    """Between folders: the first folder below the package."""

    def room_of(module: str) -> str:
        return ".".join(module.split(".")[:2])

    rooms: nx.DiGraph[str] = nx.DiGraph(
        (room_of(a), room_of(b)) for a, b in modules.edges if room_of(a) != room_of(b)
    )
    assert circles(rooms) == []
