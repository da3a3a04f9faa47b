"""What the side panels read from a worker's events."""

import pytest

from app.side_panel.logic import measured


@pytest.mark.parametrize(("value", "figure"), [(0.5, 0.5), (0, 0.0), (None, None), ("0.5", None)])
def test_only_a_number_is_a_figure(value: object, figure: float | None) -> None:
    """Nothing is no figure, and neither are words."""
    assert measured(value) == figure
