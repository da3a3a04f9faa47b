"""How large a card is drawn, and how far cards keep from one another."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CardSize:
    """All in scene units.

    Attributes:
        width: of a card.
        height: of a card.
        gap_across: between neighbours of one layer, and between the rows of a block.
        gap_along: between one layer and the next, where the edges run.
    """

    width: float
    height: float
    gap_across: float
    gap_along: float
