"""Extraction and compilation of translatable texts, and pseudo-languages for testing."""

import argparse
import ast
import functools
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PACKAGES = ("app", "engine", "protoleaf_cluster")
SOURCES = ROOT / "translations"
COMPILED = ROOT / "assets" / "translations"
BUILD = ROOT / "build" / "translations"
PSEUDO = "protoleaf_pseudo"
RIGHT_TO_LEFT = f"{PSEUDO}_rtl"
_PARTS = (
    "what",
    "expected",
    "found",
    "remedy",
    "cannot_carry",
    "description",
    "tails",
    "details",
    "frame",
    "title",
)
_NAMES_OF_PARTS = frozenset(
    (
        *_PARTS,
        "large",
        "within",
        "refusal",
        "note",
        "unit",
        "reason",
        "status",
        "other_status",
        "steps",
        "words",
    )
)
_FIRST = slice(0, 1)
_WITH_TEXTS = {
    "tr": _FIRST,
    "marked": _FIRST,
    "Message": _FIRST,
    "phrase": _FIRST,
    **dict.fromkeys(("text_column", "class_column", "count_column", "share_column"), _FIRST),
    "Preset": _FIRST,
    "make_reason": slice(1, None),
    **dict.fromkeys(
        (
            "step",
            "missing",
            "reading",
            "storage_error",
            "writing",
            "ImageFormat",
            "ActionText",
            "Attribute",
            "alone",
        ),
        slice(None),
    ),
}
"""Functions besides errors, and which of their arguments are translatable."""
_OF_OTHERS = (
    "No such file or directory",
    "Permission denied",
    "Is a directory",
    "Not a directory",
    "Input/output error",
    "File name too long",
    "Read-only file system",
    "Transport endpoint is not connected",
    "Stale file handle",
    "database disk image is malformed",
    "file is not a database",
    "list index out of range",
)
"""Frequent errors of the system, SQLite and Python that `engine.errors.reason_of` passes on."""
_LONGER = 0.4
_ACCENTS = str.maketrans("aeiounycsAEIOUNYCS", "áéíóúñýçšÁÉÍÓÚÑÝÇŠ")
_HEBREW = str.maketrans(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", "אבגדהופגחיכלמנעפקרסתוושצזת" * 2
)
_PLACES = re.compile(r"(\{\w+(?::[^{}]*)?\}|<[^>]*>|&\w+;|https?://\S+)")
_LETTER_OR_PLACE = re.compile(r"[^\W\d_]|\{")
_CODE = re.compile(r"[a-z]+(?:[_:=]\S*)+|[a-z]+\.json")


def main(words: list[str]) -> int:
    """Update and compile `translations/*.ts`, and generate the pseudo-languages.

    Returns:
        1 if a language is incomplete, with a line for each text.
    """
    parser = argparse.ArgumentParser(description=(main.__doc__ or "").partition("\n")[0])
    parser.add_argument("languages", nargs="*", help="languages to begin, de for German")
    parser.add_argument(
        "--pseudo-only", type=Path, metavar="FOLDER", help="only pseudo-languages, into this folder"
    )
    chosen = parser.parse_args(words)
    build: Path = chosen.pseudo_only or BUILD
    mirror(build)
    status = 0
    if chosen.pseudo_only is None:
        names = {path.stem for path in SOURCES.glob("*.ts")} | {
            f"protoleaf_{each}" for each in chosen.languages
        }
        for name in sorted(names):
            update(SOURCES / f"{name}.ts", build)
            compile_one(SOURCES / f"{name}.ts", COMPILED / f"{name}.qm")
            for fault in faults_of(SOURCES / f"{name}.ts"):
                sys.stdout.write(f"{name}: {fault}\n")
                status = 1
    make_pseudo(build)
    return status


def make_pseudo(build: Path) -> None:
    """Regenerate the pseudo-languages: one left to right, one right to left."""
    for name, language, translate in (
        (PSEUDO, "", pseudo),
        (RIGHT_TO_LEFT, "he_IL", pseudo_hebrew),
    ):
        source = build / f"{name}.ts"
        source.unlink(missing_ok=True)
        update(source, build, language)
        fill_pseudo(source, translate)
        compile_one(source, build / f"{name}.qm")


def sources() -> Iterator[Path]:
    """Modules with translatable texts."""
    for package in PACKAGES:
        yield from sorted((ROOT / package).rglob("*.py"))


@functools.cache
def all_texts() -> set[tuple[str, str]]:
    """All translatable texts, with their context where one is given."""
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in sources())
    own = {(found.text, found.about) for tree in trees for found in texts_in(tree)}
    return own | {(text, "") for text in _OF_OTHERS}


def faults_of(path: Path) -> list[str]:
    """Faults of a file of translations: missing texts, and translations with lost placeholders."""
    faults, known = [], set[tuple[str, str]]()
    for message in ET.parse(path).iter("message"):  # noqa: S314 (ours)
        text, translation = message.findtext("source") or "", message.find("translation")
        known.add((text, message.findtext("comment") or ""))
        forms = [] if translation is None else translation.findall("numerusform") or [translation]
        if (
            translation is None
            or translation.get("type")
            or not all((form.text or "").strip() for form in forms)
        ):
            faults.append(f"not translated: {text}")
            continue
        faults += [
            f"{fault}: {text} | {form.text}"
            for form in forms
            for fault in _lost(text, form.text or "", forms)
        ]
    return faults + [f"not translated: {text}" for text, _about in sorted(all_texts() - known)]


def _lost(text: str, translation: str, forms: Sequence[object]) -> Iterator[str]:
    wanted, found = sorted(_PLACES.findall(text)), sorted(_PLACES.findall(translation))
    if len(forms) > 1:  # the form for exactly one may omit the number
        wanted, found = (
            [place for place in places if place != "{n}"] for places in (wanted, found)
        )
    if wanted != found:
        yield "other places for values"
    if text.endswith("…") != translation.endswith("…"):
        yield "other dots at the end"
    if (text[:1] == " ", text[-1:] == " ") != (translation[:1] == " ", translation[-1:] == " "):
        yield "other spaces at the ends"
    if "&" in re.sub(r"&\w+;", "", translation) and "&" not in text:
        yield "a key of its own"


def mirror(build: Path) -> None:
    """Write the texts of each source file, on their lines, in the form that lupdate reads."""
    for package in PACKAGES:
        shutil.rmtree(build / package, ignore_errors=True)  # of modules that are gone
    for path in sources():
        found = list(texts_in(ast.parse(path.read_text(encoding="utf-8"))))
        copy = build / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        lines: dict[int, list[str]] = {1: ["class Protoleaf:"]}
        for each in found:
            call = (
                f"self.tr({_quoted(each.text)}, "
                f"{_quoted(each.about)}{', count' if each.is_plural else ''})"
            )
            lines.setdefault(max(2, each.line), []).append(call)
        last = max(lines)
        written = (
            lines[1][0],
            *("    " + "; ".join(lines.get(line, ["pass"])) for line in range(2, last + 1)),
        )
        copy.write_text("\n".join(written) + "\n", encoding="utf-8")
    others = "; ".join(f"self.tr({_quoted(text)})" for text in _OF_OTHERS)
    (build / "engine" / "of_others.py").write_text(
        f"class Protoleaf:\n    {others}\n", encoding="utf-8"
    )


class Text(NamedTuple):
    """A translatable text."""

    line: int
    text: str
    is_plural: bool = False  # depends on a count
    about: str = ""  # context, where other languages need two texts for one in English


def texts_in(tree: ast.Module) -> Iterator[Text]:
    """Yield texts that are marked in a module or are part of an error."""
    yield from _of_a_count(tree)
    for call in _calls_in(tree):
        name = getattr(call.func, "id", getattr(call.func, "attr", ""))
        arguments, texts, about = call.args, list[ast.expr](), ""
        if name == "partial" and arguments:
            name, arguments = getattr(arguments[0], "id", ""), arguments[1:]
        if name in _WITH_TEXTS or name.endswith("Error"):
            texts = [*arguments[_WITH_TEXTS.get(name, slice(None))]]
            texts += [keyword.value for keyword in call.keywords if keyword.arg in _PARTS]
        if name in {"tr", "marked"}:
            about = next(
                (ast.literal_eval(each.value) for each in call.keywords if each.arg == "about"), ""
            )
        texts += [
            keyword.value for keyword in call.keywords if keyword.arg in {"unit", "note", "noun"}
        ]
        yield from (found._replace(about=about) for found in _all_constants(texts))
    for own in (
        node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and _is_error(node)
    ):
        for call in _calls_in(own):
            if ast.unparse(call.func) == "super().__init__":
                texts = [
                    *call.args,
                    *(keyword.value for keyword in call.keywords if keyword.arg in _PARTS),
                ]
                yield from _all_constants(texts)
    for node in ast.walk(tree):  # parts of errors assigned to a variable
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            yield from _all_constants(_parts_in(node))


def _all_constants(values: Iterable[ast.expr]) -> Iterator[Text]:
    return (Text(node.lineno, text) for each in values for node, text in _constants(each))


def _calls_in(tree: ast.AST) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def _is_error(node: ast.ClassDef) -> bool:
    return any(getattr(base, "id", "").endswith("Error") for base in node.bases)


def _of_a_count(tree: ast.Module) -> Iterator[Text]:
    for call in _calls_in(tree):
        name = getattr(call.func, "id", "")
        if name == "plural" and len(call.args) >= len(("count", "one", "many")):
            yield from (
                Text(node.lineno, text, is_plural=True) for node, text in _constants(call.args[2])
            )
        elif name == "counted" and len(call.args) > 1:
            nouns = [text for arg in call.args[1:] for _node, text in _constants(arg)]
            if nouns:
                several = nouns[1] if len(nouns) > 1 else nouns[0] + "s"
                yield Text(call.lineno, "{count:,} " + several, is_plural=True)
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.AnnAssign)
            and getattr(node.target, "id", "") == "_COUNTS"
            and node.value is not None
        ):
            nouns = [each.elts[1] for each in ast.walk(node.value) if isinstance(each, ast.Tuple)]
            yield from (
                found._replace(text="{count:,} " + found.text, is_plural=True)
                for found in _all_constants(nouns)
            )


def _parts_in(node: ast.Assign | ast.AnnAssign) -> Iterator[ast.expr]:
    """Yield values assigned to names of error parts; of `what, code = "…", "…"` only the former."""
    targets, value = node.targets if isinstance(node, ast.Assign) else [node.target], node.value
    for target in targets:
        pairs = [(target, value)]
        if (
            isinstance(target, ast.Tuple)
            and isinstance(value, ast.Tuple)
            and len(target.elts) == len(value.elts)
        ):
            pairs = list(zip(target.elts, value.elts, strict=True))
        yield from (
            given
            for name, given in pairs
            if given is not None and any(map(_is_part, ast.walk(name)))
        )


def _is_part(node: ast.AST) -> bool:
    name = str(getattr(node, "id", getattr(node, "attr", ""))).lower().strip("_")
    return name in _NAMES_OF_PARTS or name.endswith(("remedy", "remedies"))


def _constants(node: ast.expr) -> Iterator[tuple[ast.expr, str]]:
    waiting: list[ast.expr] = [node]
    for each in waiting:  # grows during iteration
        match each:
            case ast.Constant(value=str(text)) if is_text(text):
                yield each, text
            case ast.IfExp():
                waiting += (each.body, each.orelse)
            case ast.BoolOp():
                waiting += each.values
            case ast.Tuple():
                waiting += each.elts
            case ast.Dict():
                waiting += each.values


def is_text(text: str) -> bool:
    """Whether a text is translatable: no bare placeholder, address, or code such as `no_gpu`."""
    rest = _PLACES.sub("", text).strip()
    return bool(rest) and bool(_LETTER_OR_PLACE.search(text)) and not _CODE.fullmatch(text)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def update(path: Path, mirrored: Path, language: str = "") -> None:
    """Merge the current texts into a file of translations; existing translations are kept.

    Args:
        path: the file.
        mirrored: folder of the texts in the form that lupdate reads.
        language: code of the language if the name of the file does not contain it.
    """
    path.parent.mkdir(exist_ok=True)
    _run(
        "lupdate",
        "-silent",
        "-no-obsolete",
        "-locations",
        "none",
        "-extensions",
        "py",
        *(("-target-language", language) if language else ()),
        *(str(mirrored / package) for package in PACKAGES),
        "-ts",
        str(path),
    )


def compile_one(source: Path, target: Path) -> None:
    """Compile a file of translations for the window."""
    target.parent.mkdir(exist_ok=True)
    _run("lrelease", "-silent", str(source), "-qm", str(target))


def fill_pseudo(path: Path, translate: Callable[[str], str]) -> None:
    """Fill all translations with a pseudo-language."""
    tree = ET.parse(path)  # noqa: S314 (lupdate wrote it)
    for message in tree.iter("message"):
        translation, text = message.find("translation"), message.findtext("source") or ""
        if translation is None:
            continue
        translation.attrib.pop("type", None)
        forms = translation.findall("numerusform")
        for place in forms or [translation]:
            place.text = translate(text)
    tree.write(path, encoding="utf-8", xml_declaration=True)


def pseudo(text: str) -> str:
    """`Open project` becomes `[Ópéñ prójéçt·····]`; placeholders are unchanged."""
    if _only_joins(text):
        return text
    return f"[{_outside_places(text, _ACCENTS)}{'·' * max(1, round(len(text) * _LONGER))}]"


def pseudo_hebrew(text: str) -> str:
    """`Open {1}` becomes `[עפהנ {1}]`, read from right to left; the length is unchanged."""
    return text if _only_joins(text) else f"[{_outside_places(text, _HEBREW)}]"


def _only_joins(text: str) -> bool:
    """Whether a text only joins placeholders."""
    return not re.search(r"[^\W\d_]", "".join(_PLACES.split(text)[::2]))


def _outside_places(text: str, letters: Mapping[int, int]) -> str:
    """Replace letters outside placeholders."""
    parts = _PLACES.split(text)
    return "".join(
        part if number % 2 else part.translate(letters) for number, part in enumerate(parts)
    )


def _run(tool: str, *words: str) -> None:
    subprocess.run([str(Path(sys.executable).parent / f"pyside6-{tool}"), *words], check=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
