"""Size of the program by folder: `python -m research.house`.

Tokens are those of `python -m tokenize` without comments, line ends and indentation, so that each
docstring counts as one token and the width of lines does not matter.
"""

import ast
import io
import tokenize
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("app", "engine")
LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
COLUMNS = ("modules", "lines", "statements", "tokens")


def sizes_of(text: str) -> Counter[str]:
    """Lines, statements and tokens of a module."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return Counter(
        modules=1,
        lines=text.count("\n"),
        statements=sum(isinstance(node, ast.stmt) for node in ast.walk(ast.parse(text))),
        tokens=sum(token.type not in LAYOUT for token in tokens),
    )


def sizes_by_folder(root: Path, packages: tuple[str, ...] = PACKAGES) -> dict[str, Counter[str]]:
    """Sizes of each folder below the packages, largest first; top-level modules count together."""
    found: dict[str, Counter[str]] = {}
    for package in packages:
        for path in sorted((root / package).rglob("*.py")):
            inner = path.relative_to(root / package).parts
            folder = f"{package}/{inner[0] if len(inner) > 1 else '*.py'}"
            found.setdefault(folder, Counter()).update(sizes_of(path.read_text(encoding="utf-8")))
    return dict(sorted(found.items(), key=lambda item: -item[1]["tokens"]))


def main() -> None:
    """Print a table."""
    found = sizes_by_folder(ROOT)
    total = sum(found.values(), Counter[str]())
    rows = [(name, *(f"{sizes[each]:,}" for each in COLUMNS)) for name, sizes in found.items()]
    rows.append(("total", *(f"{total[each]:,}" for each in COLUMNS)))
    for name, *cells in [("folder", *COLUMNS), *rows]:
        print(f"{name:24}", *(f"{cell:>10}" for cell in cells))  # noqa: T201 (its output)


if __name__ == "__main__":
    main()
