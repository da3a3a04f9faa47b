"""Where a reader was: back and forward, as in a browser. No Qt."""

from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class GuideSpot:
    """A place in the guide.

    Attributes:
        page: name of the page.
        anchor: of a heading; empty for the top.
        scrolled: where the page was left, in pixels; None for one that was not left yet.
    """

    page: str
    anchor: str = ""
    scrolled: int | None = None


@dataclass
class History:
    """The places that were visited, and the one of them where the reader is."""

    spots: list[GuideSpot] = field(default_factory=list)
    at: int = -1

    @property
    def spot(self) -> GuideSpot | None:
        """Where the reader is; None before the first page."""
        return self.spots[self.at] if self.spots else None

    @property
    def can_go_back(self) -> bool:
        """Whether there is an earlier place."""
        return self.at > 0

    @property
    def can_go_forward(self) -> bool:
        """Whether there is a later place."""
        return self.at < len(self.spots) - 1

    def visit(self, spot: GuideSpot) -> None:
        """Go somewhere new; what was ahead is forgotten."""
        self.spots = [*self.spots[: self.at + 1], spot]
        self.at = len(self.spots) - 1

    def leave(self, scrolled: int) -> None:
        """Remember how far the page was scrolled when the reader went away."""
        if self.spots:
            self.spots[self.at] = replace(self.spots[self.at], scrolled=scrolled)

    def go(self, steps: int) -> GuideSpot | None:
        """Go back (-1) or forward (1); None where there is nothing."""
        if not 0 <= self.at + steps < len(self.spots):
            return None
        self.at += steps
        return self.spots[self.at]
