"""The guide's table of columns."""

from pathlib import Path

from research.guide_table import with_guide_table

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "taxonomy.md"


def test_the_guide_has_the_table_that_is_made() -> None:
    """`python -m research.guide_table` writes the current table."""
    page = GUIDE.read_text(encoding="utf-8")
    assert with_guide_table(page) == page
