"""Every text of the program as a translator gets it, compiled, and a pseudo-language that shows what was forgotten."""

import argparse
import ast
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
SOURCES: Final = ROOT / "translations"
COMPILED: Final = ROOT / "assets" / "translations"
BUILD: Final = ROOT / "build" / "translations"
PSEUDO: Final = "protoleaf_pseudo"
RIGHT_TO_LEFT: Final = f"{PSEUDO}_rtl"
_PARTS: Final = (
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
_WITH_TEXTS: Final = {
    "tr", "marked", "Message", "step", "missing", "reading", "storage_error", "writing", "make_reason",
    "ImageFormat", "ActionText", "Attribute", "Preset", "phrase",
}  # fmt: skip
"""Functions whose arguments are texts, besides errors."""
_OF_OTHERS: Final = (
    "No such file or directory", "Permission denied", "Is a directory", "Not a directory", "Input/output error",
    "File name too long", "Read-only file system", "Transport endpoint is not connected", "Stale file handle",
    "database disk image is malformed", "file is not a database",
    "list index out of range",
)  # fmt: skip
"""What systems, SQLite and Python say most often, which the engine passes on (`engine.errors.reason_of`)."""
_LONGER: Final = 0.4
_ACCENTS: Final = str.maketrans("aeiounycsAEIOUNYCS", "áéíóúñýçšÁÉÍÓÚÑÝÇŠ")
_HEBREW: Final = str.maketrans("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", "אבגדהופגחיכלמנעפקרסתוושצזת" * 2)
_PLACES: Final = re.compile(r"(%L?\d|%n|\{\w+(?::[^{}]*)?\}|<[^>]*>|&\w+;|https?://\S+)")


def main(words: list[str]) -> int:
    """Bring `translations/*.ts` up to date, begin those of new languages, compile all, and make the pseudo-languages.

    Returns:
        1 where a language is not finished, with a line for each text.
    """
    parser = argparse.ArgumentParser(description=(main.__doc__ or "").partition("\n")[0])
    parser.add_argument("languages", nargs="*", help="languages to begin, de for German")
    parser.add_argument("--pseudo-only", type=Path, metavar="FOLDER", help="only pseudo-languages, into this folder")
    chosen = parser.parse_args(words)
    build: Path = chosen.pseudo_only or BUILD
    mirror(build)
    status = 0
    if chosen.pseudo_only is None:
        names = {path.stem for path in SOURCES.glob("*.ts")} | {f"protoleaf_{each}" for each in chosen.languages}
        for name in sorted(names):
            update(SOURCES / f"{name}.ts", build)
            compile_one(SOURCES / f"{name}.ts", COMPILED / f"{name}.qm")
            for fault in faults_of(SOURCES / f"{name}.ts"):
                sys.stdout.write(f"{name}: {fault}\n")
                status = 1
    make_pseudo(build)
    return status


def make_pseudo(build: Path) -> None:
    """Make the pseudo-languages anew from the mirrored texts: one as English is written, one from right to left."""
    for name, language, translate in ((PSEUDO, "", pseudo), (RIGHT_TO_LEFT, "he_IL", pseudo_hebrew)):
        source = build / f"{name}.ts"
        source.unlink(missing_ok=True)
        update(source, build, language)
        fill_pseudo(source, translate)
        compile_one(source, build / f"{name}.qm")


def sources() -> Iterator[Path]:
    """The modules of the window and the engine."""
    yield from sorted([*(ROOT / "app").rglob("*.py"), *(ROOT / "engine").rglob("*.py")])


def all_texts() -> set[str]:
    """What a finished language translates."""
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in sources())
    return {text for tree in trees for _line, text, _is_plural in texts_in(tree)} | set(_OF_OTHERS)


def faults_of(path: Path) -> list[str]:
    """What a finished file of translations must not have: texts that lack, and translations that lost something."""
    faults, known = [], set[str]()
    for message in ET.parse(path).iter("message"):  # noqa: S314 (ours)
        text, translation = message.findtext("source") or "", message.find("translation")
        known.add(text)
        forms = [] if translation is None else translation.findall("numerusform") or [translation]
        if translation is None or translation.get("type") or not all((form.text or "").strip() for form in forms):
            faults.append(f"not translated: {text}")
            continue
        faults += [f"{fault}: {text} | {form.text}" for form in forms for fault in _lost(text, form.text or "", forms)]
    return faults + [f"not translated: {text}" for text in sorted(all_texts() - known)]


def _lost(text: str, translation: str, forms: Sequence[object]) -> Iterator[str]:
    wanted, found = sorted(_PLACES.findall(text)), sorted(_PLACES.findall(translation))
    if len(forms) > 1:  # the form of exactly one may do without the number
        wanted, found = ([place for place in places if place != "%n"] for places in (wanted, found))
    if wanted != found:
        yield "other places for values"
    if text.endswith("…") != translation.endswith("…"):
        yield "other dots at the end"
    if (text[:1] == " ", text[-1:] == " ") != (translation[:1] == " ", translation[-1:] == " "):
        yield "other spaces at the ends"
    if "&" in re.sub(r"&\w+;", "", translation) and "&" not in text:
        yield "a key of its own"


def mirror(build: Path) -> None:
    """Write each source file's texts, on the lines where they stand, in the form that lupdate reads."""
    for path in sources():
        found = list(texts_in(ast.parse(path.read_text(encoding="utf-8"))))
        copy = build / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        lines: dict[int, list[str]] = {1: ["class Protoleaf:"]}
        for line, text, is_plural in found:
            call = f'self.tr({_quoted(text)}, "", count)' if is_plural else f"self.tr({_quoted(text)})"
            lines.setdefault(max(2, line), []).append(call)
        last = max(lines)
        written = (lines[1][0], *("    " + "; ".join(lines.get(line, ["pass"])) for line in range(2, last + 1)))
        copy.write_text("\n".join(written) + "\n", encoding="utf-8")
    others = "; ".join(f"self.tr({_quoted(text)})" for text in _OF_OTHERS)
    (build / "engine" / "of_others.py").write_text(f"class Protoleaf:\n    {others}\n", encoding="utf-8")


def texts_in(tree: ast.Module) -> Iterator[tuple[int, str, bool]]:
    """Line, text, and whether it depends on a count, of all that is marked in a module or is part of an error."""
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        name = getattr(call.func, "id", getattr(call.func, "attr", ""))
        texts: list[ast.expr] = []
        if name == "plural" and len(call.args) >= len(("count", "one", "many")):
            yield from ((node.lineno, text, True) for node, text in _constants(call.args[2]))
        elif name == "counted" and len(call.args) > 1:
            nouns = [text for arg in call.args[1:] for _node, text in _constants(arg)]
            yield from (
                [(call.lineno, "{count:,} " + (nouns[1] if len(nouns) > 1 else nouns[0] + "s"), True)] if nouns else []
            )
        elif name in _WITH_TEXTS or name.endswith("Error"):
            texts = [*call.args[: 1 if name in {"tr", "marked", "Message", "phrase"} else None]]
            texts += [keyword.value for keyword in call.keywords if keyword.arg in _PARTS]
        texts += [keyword.value for keyword in call.keywords if keyword.arg in {"unit", "note", "noun"}]
        yield from ((node.lineno, text, False) for each in texts for node, text in _constants(each))
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign) and getattr(node.target, "id", "") == "_COUNTS" and node.value is not None:
            nouns = [each.elts[1] for each in ast.walk(node.value) if isinstance(each, ast.Tuple)]
            yield from ((noun.lineno, "{count:,} " + text, True) for each in nouns for noun, text in _constants(each))
    for node in ast.walk(tree):  # parts of errors that are chosen before
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None and _is_part(node):
            yield from ((each.lineno, text, False) for each, text in _constants(node.value))


def _is_part(node: ast.Assign | ast.AnnAssign) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    names = {
        each.id.lower().strip("_") for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)
    }
    return bool(
        names
        & {*_PARTS, "large", "within", "refusal", "note", "unit", "reason", "status", "other_status", "steps", "words"}
    ) or any(name.endswith("remedy") for name in names)


def _constants(node: ast.expr) -> Iterator[tuple[ast.expr, str]]:
    waiting: list[ast.expr] = [node]
    for each in waiting:  # grows while it is walked
        match each:
            case ast.Constant(value=str(text)) if re.search(r"[^\W\d_]|%\d", text):
                yield each, text
            case ast.IfExp():
                waiting += (each.body, each.orelse)
            case ast.BoolOp():
                waiting += each.values
            case ast.Tuple():
                waiting += each.elts
            case ast.Dict():
                waiting += each.values


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def update(path: Path, mirrored: Path, language: str = "") -> None:
    """Merge today's texts into a file of translations; what was translated stays.

    Args:
        path: the file.
        mirrored: folder of the texts in the form that lupdate reads.
        language: code of the language where the name of the file does not tell it.
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
        str(mirrored / "app"),
        str(mirrored / "engine"),
        "-ts",
        str(path),
    )


def compile_one(source: Path, target: Path) -> None:
    """Make what the window reads."""
    target.parent.mkdir(exist_ok=True)
    _run("lrelease", "-silent", str(source), "-qm", str(target))


def fill_pseudo(path: Path, translate: Callable[[str], str]) -> None:
    """Translate everything into a pseudo-language."""
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
    """`Open project` becomes `[Ópéñ prójéçt·····]`; places for values stay as they are."""
    if _only_joins(text):
        return text
    return f"[{_outside_places(text, _ACCENTS)}{'·' * max(1, round(len(text) * _LONGER))}]"


def pseudo_hebrew(text: str) -> str:
    """`Open %1` becomes `[עפהנ %1]`, which is read from right to left; as long as it was."""
    return text if _only_joins(text) else f"[{_outside_places(text, _HEBREW)}]"


def _only_joins(text: str) -> bool:
    """Whether it only joins values, which are translated themselves."""
    return not re.search(r"[^\W\d_]", "".join(_PLACES.split(text)[::2]))


def _outside_places(text: str, letters: Mapping[int, int]) -> str:
    """Replace letters, but for those in places for values."""
    parts = _PLACES.split(text)
    return "".join(part if number % 2 else part.translate(letters) for number, part in enumerate(parts))


def _run(tool: str, *words: str) -> None:
    subprocess.run([str(Path(sys.executable).parent / f"pyside6-{tool}"), *words], check=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
