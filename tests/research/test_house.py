"""Sizes of the program by folder."""

from pathlib import Path

from research.house import sizes_by_folder

MODULE = '''"""A docstring is a token."""

# A comment is none.
WIDE = {
    "a": 1,
}
'''


def test_tokens_without_layout(tmp_path: Path) -> None:
    """Docstring, name, =, {, key, :, value, comma and }."""
    for name in ("app/shell.py", "app/map/view.py", "app/map/inner/model.py", "engine/log.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(MODULE)
    sizes = sizes_by_folder(tmp_path)
    assert sizes.keys() == {"app/map", "app/*.py", "engine/*.py"}
    assert sizes["app/map"] == {"modules": 2, "lines": 12, "statements": 4, "tokens": 18}
