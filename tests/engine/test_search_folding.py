"""Search ignores case and accents."""

import pytest

from engine.graph.category_graph import CategoryGraph
from engine.graph.class_attributes import ClassAttributes
from engine.search_folding import folded


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Großer Käfer", "grosser kafer"),
        ("Øresund", "oresund"),
        ("Łódź", "lodz"),
        ("ÆBLE", "aeble"),
        ("Σκύλος", "\u03c3\u03ba\u03c5\u03bb\u03bf\u03c3"),
        ("Ёж", "\u0435\u0436"),
        ("İstanbul", "istanbul"),
        ("L\u2019île", "l'ile"),
        ("ﾊﾟﾝ", "ハン"),
        ("plain", "plain"),
    ],
)
def test_folding_by_hand(text: str, plain: str) -> None:
    assert folded(text) == plain
    assert folded(plain) == plain


def test_classes_are_found_without_accents_in_any_script() -> None:
    """By names and synonyms, with accents as well; the name is unchanged."""
    graph = CategoryGraph()
    beetle, otter, owl = (
        graph.add_class(name) for name in ("Großer Käfer", "Выдра ёлочная", "フクロウ")
    )
    graph.set_attributes(owl, ClassAttributes(synonyms=("Chouette hulotte mâle",)))
    for text in ("grosser kafer", "GROSSER", "Käfer", "kafer"):
        assert graph.search(text) == [beetle]
    assert graph.search("елочная") == graph.search("ЁЛОЧНАЯ") == [otter]
    assert graph.search("フク") == graph.search("male") == graph.search("MÂLE") == [owl]
    assert graph.name(beetle) == "Großer Käfer"
