"""An HTML page with thumbnails of all screenshots, a row per screen, linked to full size."""

import html
from collections import defaultdict
from pathlib import Path

NAME = "index.html"
_STYLE = """
body { font: 14px sans-serif; margin: 24px; background: #808080; color: #ffffff }
div { display: flex; gap: 12px; overflow-x: auto; padding-bottom: 12px }
figure { margin: 0 } img { height: 280px; display: block } \
figcaption { font-size: 12px; padding: 4px 0 }
"""


def write_contact_sheet(folder: Path) -> Path:
    """Write the page for all pictures NAME-SCHEME-SCALE-SIZE.png of a folder; returns its path."""
    rows: defaultdict[str, list[Path]] = defaultdict(list)
    for path in sorted(folder.glob("*.png")):
        name, *_look = path.stem.rsplit("-", 3)
        rows[name].append(path)
    parts = [f"<!doctype html><meta charset=utf-8><title>Screens</title><style>{_STYLE}</style>"]
    for name, paths in rows.items():
        figures = "".join(_figure(path, path.stem.removeprefix(f"{name}-")) for path in paths)
        parts.append(f"<h2>{html.escape(name)}</h2><div>{figures}</div>")
    page = folder / NAME
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text("\n".join(parts), encoding="utf-8")
    return page


def _figure(path: Path, caption: str) -> str:
    source, words = html.escape(path.name), html.escape(caption)
    return (
        f'<figure><a href="{source}"><img src="{source}" alt="{words}"></a>'
        f"<figcaption>{words}</figcaption></figure>"
    )
