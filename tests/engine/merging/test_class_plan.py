"""Matching classes of two graphs: equal, new, and listed as problems."""

from collections.abc import Mapping, Sequence

import pytest

from engine.graph.category_graph import CategoryGraph
from engine.graph.class_attributes import ClassAttributes
from engine.merging.class_plan import ClassPlan, Divergence, plan_classes
from engine.project.fork import Fork, Since


def graph(
    tree: Mapping[str, Sequence[str]], ids: Mapping[str, str] | None = None, start: int = 1
) -> CategoryGraph:
    """A graph from names to parents, with source ids; class ids begin at `start`."""
    made, known = CategoryGraph(), dict[str, int]()
    made.reserve_ids(start - 1)
    for name, parents in tree.items():
        attributes = ClassAttributes(source_id=(ids or {}).get(name, ""))
        known[name] = made.add_class(name, [known[each] for each in parents], attributes=attributes)
    return made


def plan(ours: CategoryGraph, theirs: CategoryGraph, fork: Fork | None = None) -> ClassPlan:
    before = list(ours.edges()), {each: ours.name(each) for each in ours.classes()}
    found = plan_classes(ours, theirs, fork)
    assert (list(ours.edges()), {each: ours.name(each) for each in ours.classes()}) == before
    return found


def matched(found: ClassPlan, ours: CategoryGraph, theirs: CategoryGraph) -> dict[str, str]:
    """Our path by their path, of matched classes."""
    pairs = {their: our for their, our in found.pairs.items() if our in ours}
    return {theirs.path_text(their): ours.path_text(our) for their, our in pairs.items()}


def listed(found: ClassPlan) -> set[tuple[Divergence, str, str]]:
    return {(each.kind, each.theirs, each.ours) for each in found.differences}


def test_paths_first_then_unique_names() -> None:
    """A name matches under another parent only if unique on both sides, and is listed."""
    ours = graph({"Animal": (), "Bird": ("Animal",), "Gull": ("Bird",), "Plant": ()})
    theirs = graph({"Plant": (), "Animal": (), "Gull": ("Animal",)}, start=20)
    found = plan(ours, theirs)
    assert matched(found, ours, theirs) == {
        "Plant": "Plant",
        "Animal": "Animal",
        "Animal/Gull": "Animal/Bird/Gull",
    }
    assert listed(found) == {
        (Divergence.BY_NAME_ALONE, "Animal/Gull", "Animal/Bird/Gull"),
        (Divergence.PLACED_OTHERWISE, "Animal/Gull", "Animal/Bird/Gull"),
    }
    assert found.edits == ()


def test_source_ids_speak_before_names() -> None:
    """A renamed class matches by source id; the name stays."""
    ours = graph({"Bird": (), "Seagull": ("Bird",)}, {"Bird": "1", "Seagull": "n02041246"})
    theirs = graph({"Bird": (), "Gull": ("Bird",)}, {"Bird": "1", "Gull": "n02041246"}, start=20)
    found = plan(ours, theirs)
    assert matched(found, ours, theirs) == {"Bird": "Bird", "Bird/Gull": "Bird/Seagull"}
    assert listed(found) == {(Divergence.RENAMED, "Bird/Gull", "Bird/Seagull")}


def test_numbers_of_another_list_match_nothing() -> None:
    """Equal ids with other names: no class is matched or added by id."""
    ours = graph({"Apple": (), "Pear": (), "Plum": ()}, {"Apple": "1", "Pear": "2", "Plum": "3"})
    theirs = graph(
        {"Plum": (), "Apple": (), "Pear": ()}, {"Plum": "1", "Apple": "2", "Pear": "3"}, start=20
    )
    found = plan(ours, theirs)
    assert (matched(found, ours, theirs), found.edits) == ({}, ())
    assert listed(found) == {
        (Divergence.NAME_TAKEN, each, "") for each in ("Plum", "Apple", "Pear")
    }


def test_names_that_differ_by_case_or_unicode_form_are_one() -> None:
    """If unique on either side.

    Two spellings side by side are two classes.
    """
    ours = graph({"Bird": (), "Möwe": ("Bird",), "ﬁnch": ("Bird",), "Fox": ()})
    theirs = graph(
        {"BIRD": (), "MÖWE": ("BIRD",), "Finch": ("BIRD",), "fox": (), "Fox": ()}, start=20
    )
    found = plan(ours, theirs)
    assert matched(found, ours, theirs) == {
        "BIRD": "Bird",
        "BIRD/MÖWE": "Bird/Möwe",
        "BIRD/Finch": "Bird/ﬁnch",
        "Fox": "Fox",
    }
    assert [found.after.path_text(each) for each in found.new.values()] == ["fox"]
    decomposed = graph({"Bird": (), "Mo\u0308we": ("Bird",)}, start=40)
    assert len(matched(plan(ours, decomposed), ours, decomposed)) == 2


def test_new_classes_come_with_their_edges() -> None:
    """Between two of ours, below two of ours, and below another new one."""
    ours = graph({"Bird": (), "Eagle": ("Bird",), "Night": ()})
    theirs = graph(
        {
            "Bird": (),
            "Night": (),
            "Raptor": ("Bird",),
            "Eagle": ("Raptor",),
            "Owl": ("Raptor", "Night"),
        },
        start=20,
    )
    after = plan(ours, theirs).after
    assert {after.path_text(each) for each in after.parents(after.find("Eagle"))} == {
        "Bird",
        "Bird/Raptor",
    }
    assert {after.path_text(each) for each in after.parents(after.find("Owl"))} == {
        "Night",
        "Bird/Raptor",
    }


def test_a_circle_between_both_graphs_is_listed() -> None:
    """Ours: Pet above Dog. Theirs: Dog above Tame, above Pet.

    Tame is added, the edge that closes the cycle is not.
    """
    ours = graph({"Pet": (), "Dog": ("Pet",)})
    theirs = graph({"Dog": (), "Tame": ("Dog",), "Pet": ("Tame",)}, start=20)
    found = plan(ours, theirs)
    assert found.after.path_text(next(iter(found.new.values()))) == "Pet/Dog/Tame"
    assert (Divergence.CYCLE, "Dog/Tame/Pet", "Pet") in listed(found)
    turned = graph({"Dog": (), "Pet": ("Dog",)}, start=40)
    assert listed(plan(ours, turned)) >= {(Divergence.CYCLE, "Dog/Pet", "Pet")}


def test_attributes_of_ours_are_completed_and_never_changed() -> None:
    """Existing attributes stay; thresholds are not merged."""
    ours, theirs = graph({"Gull": ()}), graph({"Gull": ()})
    ours.set_attributes(1, ClassAttributes(note="Ours", synonyms=("Larus",)))
    theirs.set_attributes(
        1, ClassAttributes(note="Theirs", synonyms=("Mew",), colour="#102030", bar=0.9)
    )
    after = plan(ours, theirs).after.attributes(1)
    assert after == ClassAttributes(note="Ours", synonyms=("Larus",), colour="#102030")


def test_common_history_decides_for_copies() -> None:
    """Renamed on both sides it is one class; made after the fork with one id they are two.

    Removed here stays removed.
    """
    ours = graph({"Bird": (), "Seagull": ("Bird",), "Ours": ("Bird",)})
    theirs = graph(
        {"Bird": (), "Gull": ("Bird",), "Theirs": ("Bird",), "Lost": ("Bird",), "Below": ("Lost",)}
    )
    fork = Fork(Since(classes_made=frozenset({3})), Since(classes_made=frozenset({3, 5})))
    found = plan(ours, theirs, fork)
    assert matched(found, ours, theirs) == {"Bird": "Bird", "Bird/Gull": "Bird/Seagull"}
    assert {found.after.path_text(each) for each in found.new.values()} == {
        "Bird/Theirs",
        "Bird/Below",
    }
    assert listed(found) == {
        (Divergence.REMOVED_HERE, "Bird/Lost", ""),
        (Divergence.RENAMED, "Bird/Gull", "Bird/Seagull"),
    }


def test_what_hangs_below_a_refused_class_is_listed_with_it() -> None:
    """Its subclasses are refused, too."""
    ours = graph({"Apple": (), "Pear": ()}, {"Apple": "1", "Pear": "2"})
    theirs = graph({"Apple": (), "Russet": ("Apple",)}, {"Apple": "2"}, start=20)
    assert listed(plan(ours, theirs)) == {
        (Divergence.NAME_TAKEN, "Apple", ""),
        (Divergence.PARENT_MISSING, "Apple/Russet", ""),
    }


@pytest.mark.slow
@pytest.mark.parametrize("is_alike", [True, False])
def test_ten_thousand_classes(is_alike: bool) -> None:
    """New or equal: within a second."""
    tops = {f"Top {number}": () for number in range(100)}
    theirs = graph(
        tops | {f"Class {number}": (f"Top {number % 100}",) for number in range(10_000)}, start=20
    )
    ours = theirs.copy() if is_alike else graph({"Top 1": ()})
    found = plan(ours, theirs)
    assert len(found.new) == (0 if is_alike else 10_099)
