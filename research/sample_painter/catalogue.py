"""Contents of the collection: classes, numbers of labelled pictures, and painters."""

from dataclasses import dataclass

from research.sample_painter import flowers, fruits, insects, leaves, strays
from research.sample_painter.photo import Painter, Scene

FEW_SHOTS = 3
NO_SHOTS = 0

GARDEN = Scene(("meadow", "meadow", "moss", "soil", "sky", "paper", "linen"), turn=40)
GROUND = Scene(("paper", "paper", "linen", "wood", "stone"), turn=75)
CABINET = Scene(("paper", "paper", "linen", "wood", "stone", "moss", "meadow"))
BUSH = Scene(("meadow", "meadow", "paper", "linen", "wood", "stone", "sky"), turn=50)
TABLE = Scene(("paper", "linen", "wood", "stone", "soil"))


@dataclass(frozen=True)
class Kind:
    """A leaf class.

    Attributes:
        name: unique in the collection.
        parents: names of the groups it belongs to.
        draw: painter of one specimen.
        scene: where it is shown.
        shots: number of labelled pictures.
    """

    name: str
    parents: tuple[str, ...]
    draw: Painter
    scene: Scene
    shots: int = 5


GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Flowers", ()),
    ("Leaves", ()),
    ("Insects", ()),
    ("Fruits", ()),
    ("Daisies", ("Flowers",)),
    ("Roses", ("Flowers",)),
    ("Poppies", ("Flowers",)),
    ("Spring bulbs", ("Flowers",)),
    ("Lobed leaves", ("Leaves",)),
    ("Toothed leaves", ("Leaves",)),
    ("Compound leaves", ("Leaves",)),
    ("Beetles", ("Insects",)),
    ("Butterflies", ("Insects",)),
    ("Berries", ("Fruits",)),
    ("Nuts", ("Fruits",)),
)
"""Classes above the leaf classes, each after its parents."""

KINDS: tuple[Kind, ...] = (
    Kind("Ox-eye daisy", ("Daisies",), flowers.draw_ox_eye_daisy, GARDEN),
    Kind("Common daisy", ("Daisies",), flowers.draw_common_daisy, GARDEN),
    Kind("Coneflower", ("Daisies",), flowers.draw_coneflower, GARDEN),
    Kind("Dog rose", ("Roses",), flowers.draw_dog_rose, GARDEN),
    Kind("Damask rose", ("Roses",), flowers.draw_damask_rose, GARDEN),
    Kind("Rose hip", ("Roses", "Berries"), fruits.draw_rose_hip, BUSH),
    Kind("Field poppy", ("Poppies",), flowers.draw_field_poppy, GARDEN),
    Kind("Welsh poppy", ("Poppies",), flowers.draw_welsh_poppy, GARDEN),
    Kind("Daffodil", ("Spring bulbs",), flowers.draw_daffodil, GARDEN),
    Kind("Crocus", ("Spring bulbs",), flowers.draw_crocus, GARDEN, FEW_SHOTS),
    Kind("Oak leaf", ("Lobed leaves",), leaves.draw_oak_leaf, GROUND),
    Kind("Maple leaf", ("Lobed leaves",), leaves.draw_maple_leaf, GROUND),
    Kind("Birch leaf", ("Toothed leaves",), leaves.draw_birch_leaf, GROUND),
    Kind("Beech leaf", ("Toothed leaves",), leaves.draw_beech_leaf, GROUND, FEW_SHOTS),
    Kind("Rowan leaf", ("Compound leaves",), leaves.draw_rowan_leaf, GROUND),
    Kind("Clover leaf", ("Compound leaves",), leaves.draw_clover_leaf, GROUND),
    Kind("Seven-spot ladybird", ("Beetles",), insects.draw_ladybird, CABINET),
    Kind("Rose chafer", ("Beetles",), insects.draw_rose_chafer, CABINET),
    Kind("Stag beetle", ("Beetles",), insects.draw_stag_beetle, CABINET, FEW_SHOTS),
    Kind("Monarch", ("Butterflies",), insects.draw_monarch, CABINET),
    Kind("Peacock", ("Butterflies",), insects.draw_peacock, CABINET),
    Kind("Brimstone", ("Butterflies",), insects.draw_brimstone, CABINET, NO_SHOTS),
    Kind("Blackberry", ("Berries",), fruits.draw_blackberry, BUSH),
    Kind("Blueberry", ("Berries",), fruits.draw_blueberry, BUSH),
    Kind("Redcurrant", ("Berries",), fruits.draw_redcurrant, BUSH, NO_SHOTS),
    Kind("Acorn", ("Nuts",), fruits.draw_acorn, BUSH),
    Kind("Hazelnut", ("Nuts",), fruits.draw_hazelnut, BUSH, FEW_SHOTS),
)

COARSELY_LABELLED = ("Butterflies", "Berries")
"""Groups of which some pictures are labelled as the group only."""

STRAYS: tuple[tuple[Painter, Scene], ...] = (
    (strays.draw_pebble, TABLE),
    (strays.draw_key, TABLE),
    (strays.draw_button, TABLE),
)
"""Subjects that belong to no class."""
