"""What the collection holds: its classes, how many pictures of each are labelled, and who paints them."""

from dataclasses import dataclass
from typing import Final

from engine.sample_collection import flowers
from engine.sample_collection.photo import Painter, Scene

GARDEN: Final = Scene(("meadow", "meadow", "moss", "soil", "sky", "paper", "linen"), turn=40)


@dataclass(frozen=True)
class Kind:
    """A leaf class.

    Attributes:
        name: unique in the collection.
        parents: names of the groups it belongs to.
        draw: paints one specimen.
        scene: where it is found.
        shots: how many pictures a person has labelled.
    """

    name: str
    parents: tuple[str, ...]
    draw: Painter
    scene: Scene
    shots: int = 5


GROUPS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("Flowers", ()),
    ("Daisies", ("Flowers",)),
    ("Roses", ("Flowers",)),
    ("Poppies", ("Flowers",)),
    ("Spring bulbs", ("Flowers",)),
)

KINDS: Final[tuple[Kind, ...]] = (
    Kind("Ox-eye daisy", ("Daisies",), flowers.draw_ox_eye_daisy, GARDEN),
    Kind("Common daisy", ("Daisies",), flowers.draw_common_daisy, GARDEN),
    Kind("Coneflower", ("Daisies",), flowers.draw_coneflower, GARDEN),
    Kind("Dog rose", ("Roses",), flowers.draw_dog_rose, GARDEN),
    Kind("Damask rose", ("Roses",), flowers.draw_damask_rose, GARDEN),
    Kind("Field poppy", ("Poppies",), flowers.draw_field_poppy, GARDEN),
    Kind("Welsh poppy", ("Poppies",), flowers.draw_welsh_poppy, GARDEN),
    Kind("Daffodil", ("Spring bulbs",), flowers.draw_daffodil, GARDEN),
    Kind("Crocus", ("Spring bulbs",), flowers.draw_crocus, GARDEN, shots=3),
)

COARSELY_LABELLED: Final[tuple[str, ...]] = ()
STRAYS: Final[tuple[tuple[Painter, Scene], ...]] = ((flowers.draw_crocus, GARDEN),)
