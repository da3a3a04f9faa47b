"""What can be suggested about the graph: plain values, each with its evidence and a key to remember it by."""

from dataclasses import dataclass, field

from engine.collection.graph_suggestions.kinds import Mixed
from engine.collection.graph_suggestions.placement_check import PlacementCheck
from engine.collection.graph_suggestions.strays import Stray
from engine.collection.graph_suggestions.twins import Twins
from engine.collection.graph_suggestions.underlabelled import UnderlabelledClass
from engine.everyday.classifier import ScoredClass


@dataclass(frozen=True)
class ImagesOf:
    """Images of a class that speak for a suggestion."""

    class_id: int
    image_ids: tuple[int, ...]


@dataclass(frozen=True)
class PlaceSuggestion:
    """A class at the top level seems to belong under another one."""

    class_id: int  # the class
    parents: tuple[ScoredClass, ...]  # the likeliest first
    evidence: tuple[ImagesOf, ...]  # images of the class, then of each parent

    @property
    def key(self) -> str:
        """The same whenever the same is suggested."""
        return f"place {self.class_id}"


@dataclass(frozen=True)
class TwinSuggestion:
    """Two classes look like one; accepting merges the smaller one into the other."""

    twins: Twins
    evidence: tuple[ImagesOf, ...]

    @property
    def key(self) -> str:
        """The same whenever the same is suggested, whichever has more images by then."""
        first, second = sorted((self.twins.class_id, self.twins.other_id))
        return f"twins {first} {second}"


@dataclass(frozen=True)
class StraySuggestion:
    """A class seems to stand under a wrong parent; accepting moves it."""

    stray: Stray
    evidence: tuple[ImagesOf, ...]

    @property
    def key(self) -> str:
        """The same whenever the same is suggested."""
        return f"stray {self.stray.class_id} {self.stray.from_parent} {self.stray.to_parent}"


@dataclass(frozen=True)
class MixedSuggestion:
    """A class looks like two; accepting splits it into both kinds."""

    mixed: Mixed
    evidence: tuple[ImagesOf, ...]

    @property
    def key(self) -> str:
        """The same whenever the same is suggested."""
        return f"mixed {self.mixed.class_id}"


@dataclass(frozen=True)
class UnderlabelledSuggestion:
    """A few more shots of a class would help many images; nothing is changed by accepting it."""

    underlabelled: UnderlabelledClass
    evidence: tuple[ImagesOf, ...]

    @property
    def key(self) -> str:
        """The same whenever the same is suggested."""
        return f"starving {self.underlabelled.class_id}"


GraphSuggestion = PlaceSuggestion | TwinSuggestion | StraySuggestion | MixedSuggestion | UnderlabelledSuggestion


@dataclass(frozen=True)
class GraphSuggestions:
    """All that is suggested now."""

    found: tuple[GraphSuggestion, ...] = ()  # the most useful kind first, the clearest first in each
    # how often suggested places are right where they are known
    check: PlacementCheck = field(default_factory=PlacementCheck)
    dismissed: int = 0  # how many were left out because a person dismissed them
