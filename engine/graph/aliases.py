"""What else a class is called: its id in the source that it came from, and synonyms of its name."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, final

from engine.errors import GraphError
from engine.graph.limits import LONGEST_SOURCE_ID, MOST_SYNONYMS
from engine.graph.names import clean_name

ClassId = int


@dataclass(frozen=True, slots=True)
class Aliases:
    """A class's source id ("n01440764"), empty where it has none, and its synonyms ("Tinca tinca")."""

    source_id: str = ""
    synonyms: tuple[str, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """All of them, the source id first."""
        return (self.source_id, *self.synonyms) if self.source_id else self.synonyms

    def __bool__(self) -> bool:
        return bool(self.source_id or self.synonyms)

    def with_part(self, text: str) -> str:
        """The alias that a typed text is a part of, the shortest of several; empty when there is none."""
        wanted = text.strip().casefold()
        return min((alias for alias in self.texts if wanted in alias.casefold()), key=len, default="")

    def filled_in(self, news: "Aliases") -> "Aliases":
        """The same with what was missing: a source id only where there is none, and further synonyms at the end."""
        synonyms = tuple(dict.fromkeys((*self.synonyms, *news.synonyms)))
        return Aliases(self.source_id or news.source_id, synonyms)


NO_ALIASES: Final = Aliases()


def clean_aliases(aliases: Aliases, name: str) -> Aliases:
    """Normalise as class names are; blanks, repetitions and the class's own name are left out.

    Raises:
        GraphError: one of them could not be a name, or there are too many.
    """
    if not aliases:
        return NO_ALIASES
    source_id = aliases.source_id.strip()
    if source_id:
        source_id = clean_name(source_id, noun="source id", longest=LONGEST_SOURCE_ID)
    synonyms = dict.fromkeys(clean_name(each, noun="synonym") for each in aliases.synonyms if each.strip())
    synonyms.pop(name, None)
    if len(synonyms) > MOST_SYNONYMS:
        raise GraphError(
            f'the class "{name}" has too many synonyms',
            expected=f"at most {MOST_SYNONYMS:,}",
            found=f"{len(synonyms):,}",
            remedy="leave some of them out",
        )
    return Aliases(source_id, tuple(synonyms))


@final
class AliasTable:
    """The aliases of all classes. The index by text is made when it is first asked for, since few sessions do."""

    def __init__(self) -> None:
        self._of: dict[ClassId, Aliases] = {}
        self._classes_by_folded: Mapping[str, tuple[ClassId, ...]] | None = None

    def of(self, class_id: ClassId) -> Aliases:
        """The aliases of a class."""
        return self._of.get(class_id, NO_ALIASES)

    def put(self, class_id: ClassId, aliases: Aliases) -> None:
        """Give a class these aliases, in place of those that it has."""
        if self._of.pop(class_id, NO_ALIASES) or aliases:
            self._classes_by_folded = None
        if aliases:
            self._of[class_id] = aliases

    def known_as(self, text: str) -> list[ClassId]:
        """Classes of which this is exactly the source id or a synonym, oldest first."""
        return [each for each in self.by_folded().get(text.casefold(), ()) if text in self._of[each].texts]

    def by_folded(self) -> Mapping[str, tuple[ClassId, ...]]:
        """Classes by each case-folded alias, oldest first."""
        if self._classes_by_folded is None:
            index: dict[str, tuple[ClassId, ...]] = {}
            for class_id in sorted(self._of):
                for alias in self._of[class_id].texts:
                    known = index.setdefault(alias.casefold(), (class_id,))
                    if known[-1] != class_id:
                        index[alias.casefold()] = (*known, class_id)
            self._classes_by_folded = index
        return self._classes_by_folded

    def copy(self) -> "AliasTable":
        """Make an equal table that goes its own way from here."""
        twin = AliasTable()
        twin._of = self._of.copy()
        twin._classes_by_folded = self._classes_by_folded
        return twin
