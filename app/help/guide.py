"""Pages of the user guide in the order of the contents, with sections as plain text. No Qt."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import starmap
from pathlib import Path

from engine.errors import FormatError, found_at

CONTENTS = "README"  # first page, with links to the others

_HEADING = re.compile(r"^#{1,6} +(.+?) *$")
_FENCE = "```"
_LINK = re.compile(r"!?\[([^\]]*)\]\(([^)\s]*)\)")
_PICTURE = re.compile(r"!\[[^\]]*\]\(([^)\s]*)\)")
_LINE_MARKS = re.compile(r"^\s*(?:[-*>]|\d+\.) +|^\|[-| :]+\|$", re.MULTILINE)
_WORD_MARKS = re.compile(r"\*+|`")
_PAGE_LINK = re.compile(r"\]\((\w[\w-]*)\.md(?:#[^)]*)?\)")


@dataclass(frozen=True)
class GuideSection:
    """Text from one heading to the next."""

    title: str  # heading as plain text
    anchor: str  # fragment of links; empty for the heading of the page
    text: str  # plain text below the heading in one line


@dataclass(frozen=True)
class GuidePage:
    """A page of the guide."""

    name: str  # of its file, without the suffix
    markdown: str  # content of the file
    sections: tuple[GuideSection, ...]  # the first has the page's own heading
    pictures: tuple[str, ...]  # file names of its pictures, as in the file

    @property
    def title(self) -> str:
        """Heading of the page."""
        return self.sections[0].title


@dataclass(frozen=True)
class Guide:
    """All pages, the contents first."""

    folder: Path  # of the files
    pages: dict[str, GuidePage]  # by name, in the order of the contents
    # Width and height in pixels by name.
    picture_sizes: dict[str, tuple[int, int]]


def read_guide(folder: Path, language: str = "") -> Guide:
    """Read all pages linked from the contents, and the sizes of their pictures.

    Args:
        language: code of a language; translated pages replace the English ones.

    Raises:
        FormatError: a page is missing or has no heading.
    """
    contents = _read_page(folder, CONTENTS)
    names = dict.fromkeys(_PAGE_LINK.findall(contents.markdown))
    english = {CONTENTS: contents} | {name: _read_page(folder, name) for name in names}
    pages = {
        name: _in_language(page, folder / language) if language else page
        for name, page in english.items()
    }
    pictures = dict.fromkeys(name for page in pages.values() for name in page.pictures)
    sizes = {name: picture_size(folder / name) for name in pictures}
    return Guide(folder, pages, {name: size for name, size in sizes.items() if size is not None})


def _in_language(english: GuidePage, folder: Path) -> GuidePage:
    """Translated page with the anchors of the English one; the English page if there is none."""
    if not (folder / f"{english.name}.md").is_file():
        return english
    markdown = (folder / f"{english.name}.md").read_text(encoding="utf-8").replace("](../", "](")
    page = make_page(english.name, markdown)
    pairs = zip(page.sections, english.sections, strict=False)
    return replace(
        page, sections=tuple(replace(section, anchor=other.anchor) for section, other in pairs)
    )


def picture_size(path: Path) -> tuple[int, int] | None:
    """Width and height in pixels; None if it cannot be read."""
    from PIL import Image

    try:
        with Image.open(path) as picture:
            return picture.size
    except OSError:
        return None


def _read_page(folder: Path, name: str) -> GuidePage:
    path = folder / f"{name}.md"
    try:
        markdown = path.read_text(encoding="utf-8")
    except OSError as error:
        raise FormatError(
            "a page of the user guide cannot be read",
            found=found_at(path, error),
            remedy="install Protoleaf again",
        ) from error
    return make_page(name, markdown)


def make_page(name: str, markdown: str) -> GuidePage:
    """Parse a page.

    Raises:
        FormatError: it does not begin with a heading.
    """
    parts = list(_parts(markdown))
    if not parts:
        raise FormatError(
            "a page of the user guide has no heading", found=name, remedy="install Protoleaf again"
        )
    titles = [inline_text(heading) for heading, _lines in parts]
    anchors = ["", *anchors_of(titles[1:])]
    texts = [plain_text("\n".join(lines)) for _heading, lines in parts]
    sections = tuple(starmap(GuideSection, zip(titles, anchors, texts, strict=True)))
    return GuidePage(name, markdown, sections, tuple(dict.fromkeys(_PICTURE.findall(markdown))))


def _parts(markdown: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each heading with the lines below it; code blocks are ignored."""
    lines: list[str] = []
    is_code = False
    for line in markdown.splitlines():
        is_code ^= line.startswith(_FENCE)
        heading = None if is_code else _HEADING.match(line)
        if heading is None:
            lines.append(line)
        else:
            lines = []
            yield heading[1], lines


def anchors_of(titles: Iterable[str]) -> Iterator[str]:
    """Anchors of headings as on GitHub: lower case, hyphens, a number for duplicates."""
    seen: Counter[str] = Counter()
    for title in titles:
        anchor = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        yield f"{anchor}-{seen[anchor]}" if seen[anchor] else anchor
        seen[anchor] += 1


def plain_text(markdown: str) -> str:
    """Text without Markdown syntax, in one line; without pictures."""
    lines = (line for line in markdown.splitlines() if not line.startswith(_FENCE))
    return " ".join(inline_text(_LINE_MARKS.sub("", "\n".join(lines))).replace("|", " ").split())


def inline_text(markdown: str) -> str:
    """Inline text without Markdown syntax."""
    return _WORD_MARKS.sub(
        "", _LINK.sub(lambda link: "" if link[0].startswith("!") else link[1], markdown)
    )
