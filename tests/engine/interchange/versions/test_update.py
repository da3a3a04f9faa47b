"""Three-way merge: changes of the source are applied, those of the user stay."""

import random
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import GraphError
from engine.graph.category_graph import CategoryGraph
from engine.graph.class_attributes import ClassAttributes
from engine.interchange.imported import ImportedGraph
from engine.interchange.versions.plan import Clash, ImportPlan
from engine.interchange.versions.source_version import SourceVersion, version_in
from engine.interchange.versions.update import plan_update
from tests.support.graphs import content_of, graph_of, names_of, shape_of
from tests.support.sources import imported_project, source_of

BIRDS: Mapping[str, Sequence[str]] = {
    "Animal": [],
    "Bird": ["Animal"],
    "Gull": ["Bird"],
    "Tern": ["Bird"],
    "Seal": ["Animal"],
}
IDS = {name: f"n{number}" for number, name in enumerate(BIRDS)}


def updated(graph: CategoryGraph, base: SourceVersion | None, source: ImportedGraph) -> ImportPlan:
    """The plan, after it was carried out."""
    plan = plan_update(graph, source, "v2.csv", base)
    graph.apply(plan.edits)
    return plan


def test_what_the_source_changed_is_done() -> None:
    """New, renamed and moved classes; the same classes keep their ids, so labels stay with them."""
    graph, base = imported_project(source_of(BIRDS, ids=IDS))
    gull, seal = graph.find("Gull"), graph.find("Seal")
    after = source_of(
        {
            "Animal": [],
            "Bird": ["Animal"],
            "Larus": ["Bird"],
            "Tern": ["Bird"],
            "Sea": ["Animal"],
            "Seal": ["Sea"],
        },
        ids={**IDS, "Larus": IDS["Gull"], "Sea": "n9"},
        synonyms={"Tern": ["Sterna"]},
    )
    plan = updated(graph, base, after)
    assert (plan.renamed, plan.moved, names_of(graph, plan.new)) == ((gull,), (seal,), ["Sea"])
    assert (graph.name(gull), graph.path_text(seal)) == ("Larus", "Animal/Sea/Seal")
    assert graph.attributes(graph.find("Tern")) == ClassAttributes("n3", ("Sterna",))
    assert (plan.same_count, plan.gone, plan.kept) == (2, (), ())
    assert not plan_update(graph, after, "v2.csv", plan.version).changes_graph


def test_what_the_person_changed_stays() -> None:
    """User changes stay if the source is unchanged: names, parents, own and removed classes."""
    source = source_of(BIRDS)
    graph, base = imported_project(source)
    graph.rename(graph.find("Gull"), "Möwe")
    graph.move(graph.find("Seal"), graph.find("Animal"), None)
    mine = graph.add_class("Mine")
    graph.link(mine, graph.find("Bird"))
    graph.unlink(graph.find("Animal"), graph.find("Bird"))
    graph.remove(graph.find("Tern"))
    before = content_of(graph)
    plan = updated(graph, base, source)
    assert content_of(graph) == before
    assert (plan.removed_here, plan.kept, plan.new) == (("Tern",), (), ())
    assert plan_update(graph, source, "v3.csv", plan.version).removed_here == ("Tern",)


def test_both_changed_the_same_thing_otherwise() -> None:
    """The person's word stays and is reported; where both say the same there is nothing to tell."""
    graph, base = imported_project(source_of(BIRDS, ids=IDS))
    gull, tern, seal = (graph.find(name) for name in ("Gull", "Tern", "Seal"))
    graph.rename(gull, "Möwe")
    graph.rename(tern, "Sterna")
    place = graph.add_class("Coast")
    graph.move(seal, graph.find("Animal"), place)
    after = source_of(
        {
            "Animal": [],
            "Bird": ["Animal"],
            "Larus": ["Bird"],
            "Sterna": ["Bird"],
            "Sea": [],
            "Seal": ["Sea"],
        },
        ids={**IDS, "Larus": "n2", "Sterna": "n3", "Sea": "n9"},
    )
    plan = updated(graph, base, after)
    assert {(each.class_id, each.clash, each.theirs) for each in plan.kept} == {
        (gull, Clash.NAME, "Larus"),
        (seal, Clash.PLACE, "Sea/Seal"),
    }
    assert (graph.name(gull), graph.path_text(seal)) == ("Möwe", "Coast/Seal")
    assert (plan.renamed, plan.moved) == ((), ())


def test_places_that_go_together_are_both_kept() -> None:
    """An additional parent by the user does not conflict with a move by the source."""
    graph, base = imported_project(source_of(BIRDS))
    favourites = graph.add_class("Favourites")
    seal = graph.find("Seal")
    graph.link(favourites, seal)
    updated(graph, base, source_of({**BIRDS, "Sea": [], "Seal": ["Sea"]}))
    assert names_of(graph, graph.parents(seal)) == ["Favourites", "Sea"]


def test_names_are_exchanged_and_edges_turned_round() -> None:
    """What is possible only all at once is done all at once."""
    graph, base = imported_project(source_of(BIRDS, ids=IDS))
    gull, tern, seal = (graph.find(name) for name in ("Gull", "Tern", "Seal"))
    after = source_of(
        {"Seal": [], "Animal": ["Seal"], "Bird": ["Animal"], "Tern": ["Bird"], "Gull": ["Bird"]},
        ids={**IDS, "Tern": IDS["Gull"], "Gull": IDS["Tern"]},
    )
    plan = updated(graph, base, after)
    assert (graph.name(gull), graph.name(tern), plan.kept) == ("Tern", "Gull", ())
    assert graph.path_text(graph.find("Gull")) == "Seal/Animal/Bird/Gull"
    assert graph.roots() == (seal,)


def test_what_together_would_be_no_graph_is_left_out() -> None:
    """A cycle with the user's move; a name of an own class; a new class of a sibling's name."""
    graph, base = imported_project(source_of(BIRDS, ids=IDS))
    animal, bird, gull, seal = (graph.find(name) for name in ("Animal", "Bird", "Gull", "Seal"))
    graph.move(animal, None, graph.add_class("Life"))
    graph.unlink(animal, seal)
    graph.move(graph.find("Life"), None, seal)
    graph.add_class("Larus", [bird])
    graph.rename(graph.find("Tern"), "Skua")
    after = source_of(
        {
            "Animal": [],
            "Bird": ["Animal"],
            "Larus": ["Bird"],
            "Tern": ["Bird"],
            "Skua": ["Bird"],
            "Seal": ["Gull/x"],
            "Gull/x": ["Larus"],
        },
        ids={**IDS, "Larus": "n2", "Skua": "n8", "Gull/x": "n9"},
    )
    plan = updated(graph, base, after)
    assert {(each.class_id, each.clash) for each in plan.kept} == {
        (gull, Clash.NAME_TAKEN),
        (seal, Clash.CYCLE),
    }
    assert names_of(graph, graph.children(bird)) == ["Gull", "Larus", "Skua", "Skua (2)"]
    check_is_graph(graph)


def test_children_of_what_a_person_removed_find_a_place() -> None:
    """Under the class it was merged into; else under the nearest one above that is left."""
    after = source_of({**BIRDS, "Herring gull": ["Gull"], "Little tern": ["Tern"]})
    graph, base = imported_project(source_of(BIRDS))
    graph.remove(graph.find("Tern"))
    graph.merge(graph.find("Gull"), graph.find("Seal"))
    plan = updated(graph, base, after)
    assert plan.removed_here == ("Tern",)
    assert shape_of(graph) >= {"Animal > Seal > Herring gull", "Animal > Bird > Little tern"}


def test_gone_merged_and_split_classes_are_reported_and_stay() -> None:
    """The plan removes nothing; merging is for the project, which has the labels."""
    wide = {**BIRDS, "Auk": ["Bird"], "Skua": ["Bird"]}
    graph, base = imported_project(source_of(wide))
    left = {name: parents for name, parents in BIRDS.items() if name != "Tern"}
    after = source_of(
        {**left, "Black skua": ["Bird"], "Brown skua": ["Bird"]}, synonyms={"Gull": ["Auk"]}
    )
    plan = updated(graph, base, after)
    auk, skua = (
        graph.find("Auk"),
        next(each for each in graph.classes() if graph.name(each) == "Skua"),
    )
    assert plan.merged == ((auk, graph.find("Gull")),)
    assert [(each, names_of(graph, parts)) for each, parts in plan.split] == [
        (skua, ["Black skua", "Brown skua"])
    ]
    assert names_of(graph, plan.gone) == ["Tern"]
    assert len(graph) == 9


def test_an_own_class_is_met_not_doubled() -> None:
    """A class by the user at a place of the source becomes the source's from then on."""
    graph, base = imported_project(source_of(BIRDS, ids=IDS))
    auk = graph.add_class("Auk", [graph.find("Bird")])
    v2 = source_of({**BIRDS, "Auk": ["Bird"]}, ids={**IDS, "Auk": "n7"})
    plan = updated(graph, base, v2)
    assert (plan.new, graph.attributes(auk)) == ((), ClassAttributes("n7"))
    v3 = source_of({**BIRDS, "Alca": ["Bird"]}, ids={**IDS, "Alca": "n7"})
    updated(graph, plan.version, v3)
    assert graph.name(auk) == "Alca"


def test_a_project_from_before_is_compared_with_itself() -> None:
    """Without a remembered version ids and paths tell; own classes and places are left alone."""
    graph = graph_of(
        {"Animal": [], "Bird": ["Animal"], "Gull": ["Bird"], "Mine": [], "Seal": ["Animal", "Mine"]}
    )
    graph.set_attributes(graph.find("Gull"), ClassAttributes("n2"))
    after = source_of(
        {"Animal": [], "Bird": ["Animal"], "Larus": ["Bird"], "Sea": [], "Seal": ["Animal"]},
        ids={"Larus": "n2"},
    )
    plan = updated(graph, None, after)
    assert shape_of(graph) == {
        "Animal",
        "Animal > Bird",
        "Animal > Bird > Larus",
        "Animal > Seal",
        "Mine",
        "Mine > Seal",
        "Sea",
    }
    assert plan.gone == ()
    assert updated(graph, version_in(graph), source_of({"Animal": [], "Bird": ["Animal"]})).gone


def check_is_graph(graph: CategoryGraph) -> None:
    """No circle, and siblings have different names: the same graph can be made by checked edits."""
    again = CategoryGraph()
    for level in graph.levels():
        for class_id in level:
            again.add_class(graph.name(class_id), graph.parents(class_id), class_id=class_id)
    assert content_of(again) == content_of(graph)


def drawn(generator: random.Random, count: int) -> ImportedGraph:
    """A source of some classes, of which some share names and some have ids."""
    keys = [f"k{number}/name {generator.randrange(count)}" for number in range(count)]
    parents_of: dict[str, list[str]] = {}
    names_at: set[tuple[str, str]] = set()
    for number, key in enumerate(keys):
        parents = generator.sample(keys[:number], min(number, generator.choice([0, 1, 1, 2])))
        name = key.split("/")[1]
        free = [
            parent
            for parent in parents
            if (parent in parents_of) and (parent, name) not in names_at
        ]
        if free or ("", name) not in names_at:
            parents_of[key] = free
            names_at.update((parent, name) for parent in free or [""])
    chosen = generator.sample(sorted(parents_of), len(parents_of) // 2)
    ids = {key: f"id {generator.randrange(3 * count)}" for key in chosen}
    return source_of(
        parents_of,
        ids=ids,
        synonyms={key: [f"name {generator.randrange(count)}"] for key in chosen[:3]},
    )


def edit_as_a_person(graph: CategoryGraph, generator: random.Random) -> None:
    """Some edits of all kinds; those that cannot be made are not."""
    for _ in range(6):
        classes = graph.classes()
        one, other = generator.choice(classes), generator.choice(classes)
        edits = (
            lambda one=one: graph.rename(one, f"name {generator.randrange(12)}"),
            lambda one=one, other=other: graph.link(one, other),
            lambda one=one: graph.remove(one),
            lambda one=one, other=other: graph.merge(one, other),
            lambda one=one: graph.add_class(f"name {generator.randrange(12)}", [one]),
            lambda one=one, other=other: graph.move(
                one, next(iter(graph.parents(one)), None), other
            ),
        )
        try:
            generator.choice(edits)()
        except GraphError:
            continue
        if len(graph) < 2:
            return


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 12))
def test_any_update_of_any_project_is_a_graph(seed: int, before: int, after: int) -> None:
    """Any changes of both give a graph; no class is removed; a second import changes nothing."""
    generator = random.Random(seed)
    first, second = drawn(generator, before), drawn(generator, after)
    graph, base = imported_project(first)
    edit_as_a_person(graph, generator)
    classes = set(graph.classes())
    plan = updated(graph, generator.choice([base, None, version_in(graph)]), second)
    check_is_graph(graph)
    assert classes | set(plan.new) == set(graph.classes())
    assert plan.class_ids.keys() == {each.key for each in second.classes}
    again = plan_update(graph, second, "v2.csv", plan.version)
    assert (again.new, again.renamed, again.gone, again.merged) == ((), (), (), ())
