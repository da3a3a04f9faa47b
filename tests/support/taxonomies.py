"""A synthetic taxonomy of some thousand terms, written in formats and read again."""

from collections.abc import Iterable
from dataclasses import dataclass

from engine.graph.class_attributes import ClassAttributes
from engine.interchange.imported import ImportedGraph

SOME_THOUSAND = 3_000
CHILDREN = 7
SECOND_PARENT_EVERY = 11


@dataclass(frozen=True)
class Term:
    """One class of the taxonomy.

    Attributes:
        number: from 0, the only top-level one; parents have smaller ones.
        parents: their numbers.
    """

    number: int
    parents: tuple[int, ...]

    @property
    def name(self) -> str:
        """With a non-ASCII letter."""
        return f"Ärt {self.number}"

    @property
    def synonym(self) -> str:
        """Another name."""
        return f"Species “{self.number}”"

    @property
    def note(self) -> str:
        """A definition, with special characters of most formats."""
        return f'What "{self.number}" is: <small> & tidy.'


def made_terms(count: int = SOME_THOUSAND, *, several_parents: bool = True) -> list[Term]:
    """Terms in a tree of seven children each; optionally every eleventh has a second parent."""
    terms = []
    for number in range(count):
        parents = [(number - 1) // CHILDREN] if number else []
        if several_parents and number % SECOND_PARENT_EVERY == 0 and number > CHILDREN**2:
            parents.append(number - 1)
        terms.append(Term(number, tuple(parents)))
    return terms


Facts = dict[str, tuple[frozenset[str], ClassAttributes]]
"""Names of the parents and attributes of each class by its name."""


def facts_of(graph: ImportedGraph) -> Facts:
    """The facts read, without keys."""
    names = {each.key: each.name for each in graph.classes}
    parents = graph.parent_keys
    return {
        each.name: (frozenset(names[key] for key in parents[each.key]), each.attributes)
        for each in graph.classes
    }


def expected_facts(
    terms: Iterable[Term], source_id: str = "", *, synonyms: bool = True, notes: bool = True
) -> Facts:
    """The facts expected.

    Args:
        terms: that were written.
        source_id: of each, with {} for the number.
        synonyms: whether the format has them.
        notes: likewise.
    """
    terms = list(terms)
    return {
        each.name: (
            frozenset(terms[parent].name for parent in each.parents),
            ClassAttributes(
                source_id.format(each.number),
                (each.synonym,) if synonyms else (),
                each.note if notes else "",
            ),
        )
        for each in terms
    }
