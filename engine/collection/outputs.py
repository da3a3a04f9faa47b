"""Check output files: which files may be overwritten, and which never.

Files of the program and images of the project are never overwritten under any name: links, folders
with two names, hard links and other spellings are resolved by file identity. An earlier output of
the same kind is overwritten without asking; it is recognised by content, never by name. Other
files are overwritten only on request. Decision 72.
"""

import json
import os
import re
import stat
import zipfile
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from engine.config import PROJECT_SUFFIX, CacheFolders, backups_folder
from engine.errors import InputError, TakenError
from engine.files import open_regular
from engine.interchange.csv_edges import HEADER as EDGES_HEADER
from engine.interchange.labelled_images.table_rows import COLUMNS as LABEL_COLUMNS
from engine.interchange.predictions_file import COLUMNS as PREDICTION_COLUMNS
from engine.interchange.predictions_file import LABELLED_BY
from engine.new_file import is_stream
from engine.new_folder import check_is_free
from engine.project import Project
from engine.project.file.on_disk import SIDE_SUFFIXES, is_of_this_program
from engine.texts import Message, marked

# start of text files with comments; metadata of pictures
WRITTEN_BY = "Written by Protoleaf"
PREDICTIONS = "predictions"
FIGURES = "figures"
CONFLICTS = "conflicts"
AGREEMENT = "agreement"
# kinds of reports by suffix
REPORT_KINDS = {
    ".html": "report-html",
    ".pdf": "report-pdf",
    ".csv": "report-csv",
    ".zip": "report-zip",
}
ARCHIVE = "copy"  # of a project with its photos
MAP = "map"  # with the suffix of its file
_BEGINNING_BYTES = 65_536  # chosen: a first line of JSON with the longest names fits
_LARGEST_METADATA = 1_000_000  # bytes of an archive's description; ours have a few thousand


def is_own_output(path: Path, kind: str) -> bool:
    """Whether a file is an earlier output of a kind (a key of `_RECOGNISED`), or empty."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return False
        with open_regular(path) as file:
            beginning = file.read(_BEGINNING_BYTES).removeprefix(BOM_UTF8)
        return not beginning or (kind in _RECOGNISED and _RECOGNISED[kind](path, beginning))
    except (OSError, ValueError, zipfile.BadZipFile, ImportError):
        return False


def _begins(*lines: str) -> Callable[[Path, bytes], bool]:
    starts = tuple(line.encode() for line in lines)
    return lambda _path, beginning: beginning.startswith(starts)


def _looks(pattern: str) -> Callable[[Path, bytes], bool]:
    compiled = re.compile(pattern.encode(), re.DOTALL)
    return lambda _path, beginning: compiled.match(beginning) is not None


def _is_own_json_lines(_path: Path, beginning: bytes) -> bool:
    row = json.loads(beginning.split(b"\n", 1)[0])
    return isinstance(row, dict) and tuple(row) == LABEL_COLUMNS


def _is_own_parquet(path: Path, beginning: bytes) -> bool:
    if not beginning.startswith(b"PAR1"):
        return False
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return tuple(pq.read_schema(path).names) == LABEL_COLUMNS
    except pa.ArrowException:
        return False


def _is_own_archive(path: Path, beginning: bytes) -> bool:
    if not beginning.startswith(b"PK\x03\x04"):
        return False
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        if (
            names[:2] != ["meta.xml", "eml.xml"]
            or archive.getinfo("eml.xml").file_size > _LARGEST_METADATA
        ):
            return False
        return b'system="Protoleaf"' in archive.read("eml.xml")


def _is_own_checklist(path: Path, beginning: bytes) -> bool:
    if not beginning.startswith(b"PK\x03\x04"):
        return False
    with zipfile.ZipFile(path) as archive:
        return archive.comment == WRITTEN_BY.encode() and "taxon.csv" in archive.namelist()


def _is_own_pdf(path: Path, beginning: bytes) -> bool:
    if not beginning.startswith(b"%PDF-"):
        return False
    with open_regular(path) as file:
        file.seek(max(0, path.stat().st_size - _BEGINNING_BYTES))
        return f"({WRITTEN_BY})".encode() in file.read()


def _is_own_tables(path: Path, beginning: bytes) -> bool:
    if not beginning.startswith(b"PK\x03\x04"):
        return False
    with zipfile.ZipFile(path) as archive:
        first = archive.infolist()[0]
        return first.filename == "about.txt" and archive.read(first).startswith(WRITTEN_BY.encode())


_PREDICTION_HEADERS = (
    ",".join(PREDICTION_COLUMNS),
    ",".join(name for name in PREDICTION_COLUMNS if name != "is_unknown"),  # of earlier versions
)

_RECOGNISED: Mapping[str, Callable[[Path, bytes], bool]] = {
    PREDICTIONS: _begins(
        *(f"{header}{end}\r\n" for header in _PREDICTION_HEADERS for end in ("", f",{LABELLED_BY}"))
    ),
    FIGURES: _begins(f'{{\n "about": "{WRITTEN_BY}",\n'),
    CONFLICTS: _begins("image,ours,our_annotator,our_time,theirs,"),
    AGREEMENT: _begins("compared,ours,theirs,images,equal,"),
    "csv": _begins(",".join(LABEL_COLUMNS) + "\r\n"),
    "jsonl": _is_own_json_lines,
    "parquet": _is_own_parquet,
    "coco": _looks(
        r'\{\n"info": \{"description": [^\n]*"contributor": "Protoleaf [^\n]*\},\n'
        r'"licenses": \[\],\n'
    ),
    "cvat": _looks(
        r"<\?xml [^\n]*\n<annotations>\n  <version>1.1</version>\n  <meta>\n"
        r"    <task>\n      <name>"
        r".*<mode>annotation</mode>.*<name>original_path</name>"
    ),
    "darwin-core": _is_own_archive,
    ARCHIVE: _looks(r"PK\x03\x04.{26}protoleaf-copy/about\.json"),
    "report-html": _begins(f"<!DOCTYPE html>\n<!-- {WRITTEN_BY} -->\n"),
    "report-pdf": _is_own_pdf,
    "report-csv": _begins("table,row,column,value\r\n"),
    "report-zip": _is_own_tables,
    "graph-json": _looks(r'\{"classes": \[\n\{"id": "'),
    "graph-csv": _begins(EDGES_HEADER),
    "graph-graphml": _looks(
        r"<\?xml [^\n]*\n<graphml [^\n]*>\n  <key id=\"edges\" for=\"graph\" attr.name=\"edges\""
    ),
    "graph-skos": _begins(f"# {WRITTEN_BY}\n"),
    "graph-darwin-core": _is_own_checklist,
    "graph-dot": _begins(f"// {WRITTEN_BY}\n"),
    "graph-svg": _begins(f"<!-- {WRITTEN_BY} -->\n"),
    "graph-png": _looks(r"\x89PNG\r\n.*" + WRITTEN_BY),
    "map.csv": _begins("image,x,y,class,labelled\r\n"),
    "map.npz": _looks(r"PK\x03\x04.*protoleaf_map\.npy"),
    "map.svg": _begins(f"<!-- {WRITTEN_BY} -->\n"),
    "map.png": _looks(r"\x89PNG\r\n.*" + WRITTEN_BY),
}


_OWN_SUFFIXES = tuple(f"{PROJECT_SUFFIX}{side}" for side in ("", *SIDE_SUFFIXES))
_KINDS = (
    (b"\xff\xd8\xff", marked("a JPEG picture")),
    (b"\x89PNG", marked("a PNG picture")),
    (b"GIF8", marked("a GIF picture")),
    (b"II*\x00", marked("a TIFF picture or RAW photo")),
    (b"MM\x00*", marked("a TIFF picture or RAW photo")),
    (b"SQLite format 3", marked("a database")),
    (b"PK\x03\x04", marked("an archive or office document")),
    (b"%PDF", marked("a PDF document")),
)


def check_file(
    out: Path, kind: str, *, project: Project | None = None, is_overwriting: bool = False
) -> None:
    """Check that a file may be written; a stream (a pipe, `/dev/stdout`) always may.

    Images and files of the project are never overwritten; for the kind see `is_own_output`.

    Raises:
        TakenError: there is another file.
        InputError: it is a folder, a project, a backup, a cache file or an image of the project.
    """
    if project is not None:
        _check_project(out, project)
    if is_stream(out) or not os.path.lexists(out):
        _check_own_name(out)
        return
    if out.is_dir():
        raise InputError(
            "the output is one file",
            found="the folder {path}",
            remedy="give a file's name",
            path=out,
        )
    _check_own_name(out)
    _check_program(out)
    if project is not None and is_any_of(out, _alike(out, project)):
        raise _refused(out, marked("an image of the project"))
    if is_own_output(out, kind):
        return
    if not is_overwriting:
        raise TakenError(
            "there is a file of this name already, and it is not an earlier output of this kind",
            found=f"{out} ({kind_of_file(out)})",
            remedy="choose another name, or replace it with --overwrite",
        )
    if project is not None and is_any_of(out, project.images.each_file()):
        raise _refused(out, marked("an image of the project"))


def check_folder(out: Path, project: Project) -> None:
    """Check that a folder can be made, and is not part of a project.

    Raises:
        InputError: something other than an empty folder is there, or the name is one of a project.
        StorageError: the parent folder is missing or not readable.
    """
    _check_project(out, project)
    _check_own_name(out)
    check_is_free(out)


def is_any_of(out: Path, files: Iterable[Path]) -> bool:
    """Whether a path is one of these files, by any link; missing files are skipped."""
    try:
        there = out.stat()
    except OSError:
        return False
    return any(_is_same(there, path) for path in files)


def kind_of_file(path: Path) -> str:
    """Kind of a file, in a few words."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return marked("not a file")
        with open_regular(path) as file:
            beginning = file.read(16)
    except FileNotFoundError:
        return marked("a link to nothing")
    except OSError:
        return marked("a file that cannot be read")
    return next(
        (kind for magic, kind in _KINDS if beginning.startswith(magic)), marked("another file")
    )


def _check_project(out: Path, project: Project) -> None:
    """Refuse paths of the project, also of missing images and side files."""
    if any(project.images.find(path) is not None for path in _spellings(out)):
        raise _refused(out, marked("an image of the project"))
    sides = [project.path.with_name(project.path.name + side) for side in SIDE_SUFFIXES]
    if is_any_of(out, (project.path, *sides)):
        raise _refused(out, marked("the project"))
    if os.path.realpath(out) in map(os.path.realpath, sides):
        raise _refused(out, marked("a file that belongs to the project"))


def _check_own_name(out: Path) -> None:
    """Refuse existing projects, and names of SQLite's side files."""
    for path in (out, Path(os.path.realpath(out))):
        name = path.name.casefold()
        if name.endswith(_OWN_SUFFIXES[1:]) or (
            name.endswith(PROJECT_SUFFIX) and os.path.lexists(path)
        ):
            raise _refused(out, marked("a project, or a file that belongs to it"))


def _check_program(out: Path) -> None:
    """Refuse projects and backups under any name, and everything in backup and cache folders."""
    if is_of_this_program(out):
        raise _refused(out, marked("a project or a backup"))
    folders = {
        os.path.realpath(folder) for folder in (backups_folder(), CacheFolders.default().root)
    }
    if folders & {str(folder) for path in _spellings(out) for folder in path.parents}:
        raise _refused(out, marked("a backup or a cache"))


def _alike(out: Path, project: Project) -> Iterator[Path]:
    """Images that may be the same file; all of them if it has hard links."""
    try:
        there = out.stat()
    except OSError:
        return
    yield from project.images.alike(there.st_size, out.name)
    yield from project.images.alike(there.st_size, Path(os.path.realpath(out)).name)
    if there.st_nlink > 1:
        yield from project.images.each_file()


def _spellings(out: Path) -> Iterator[Path]:
    yield Path(os.path.abspath(out))  # noqa: PTH100 (links keep their names)
    yield Path(os.path.realpath(out.parent)) / out.name
    yield Path(os.path.realpath(out))


def _is_same(there: os.stat_result, path: Path) -> bool:
    try:
        return os.path.samestat(there, path.stat())
    except (OSError, ValueError):
        return False


def _refused(out: Path, what: str) -> InputError:
    remedy = "choose another name"
    return InputError(
        "the output would overwrite {subject}", found=str(out), remedy=remedy, subject=Message(what)
    )
