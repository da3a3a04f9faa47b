"""How large a card is drawn, and how far cards keep from one another."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CardSize:
    """All in scene units."""

    width: float  # of a card
    height: float  # of a card
    gap_across: float  # between neighbours of one layer, and between the rows of a block
    gap_along: float  # between one layer and the next, where the edges run
