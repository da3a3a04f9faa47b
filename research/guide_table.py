"""Generate the tables of roles and dialects in the user guide."""

from engine.interchange.tables.dialects import DIALECTS
from engine.interchange.tables.roles import LEVELS, RANKS, Role

BEGIN = "<!-- columns: made by `python -m research.guide_table` -->"
END = "<!-- end of columns -->"
_NAMES_SHOWN = 5


def guide_table() -> str:
    """Two tables of Markdown between markers: dialects, and roles of columns."""
    dialects = [
        f"| {each.title or 'any program'} | {', '.join(each.purposes)} | "
        f"{_code(each.signature) or 'no header'} | {each.notes} |"
        for each in DIALECTS
    ]
    roles = [f"| `{role}` | {role.about} | {_code(role.names[:_NAMES_SHOWN])} |" for role in Role]
    lines = [
        BEGIN,
        "",
        "| tables of | read as | known by the columns | note |",
        "|---|---|---|---|",
        *dialects,
        "",
        "| role | what it is | columns that mean it, such as |",
        "|---|---|---|",
        *roles,
        f"| a rank | the name of the class of that rank | {_code(tuple(RANKS)[: -len(LEVELS)])} |",
        f"| a level | the name of the class at that level, from the top down | {_code(LEVELS)} |",
        "",
        END,
    ]
    return "\n".join(lines)


def with_guide_table(page: str) -> str:
    """Replace the table in a page."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{guide_table()}{rest.partition(END)[2]}"


def _code(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{each}`" for each in names)


if __name__ == "__main__":
    from pathlib import Path

    from engine.new_file import output_file

    guide = Path("docs/guide/taxonomy.md")
    page = with_guide_table(guide.read_text(encoding="utf-8"))
    with output_file(guide) as file:
        file.write(page.encode())
