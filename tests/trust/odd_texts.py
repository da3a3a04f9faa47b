"""Projects, data sets and exported models with odd texts, opened next to other files."""

import contextlib
import hashlib
import io
import json
import os
import resource
import shutil
import signal
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from engine.cli.main import main
from engine.config import BACKBONES_VARIABLE, BACKUPS_VARIABLE, CACHE_VARIABLE, CacheFolders
from engine.project.connection import Connection
from engine.project.file.file_state import put_seal, reader_of
from engine.project.file.on_disk import address
from tests.support.data_sets import some_rows, write_data_set
from tests.trust.children import Place
from tests.trust.hostile_targets import World, build_world, clear_desk
from tests.trust.outcome import Fault, Outcome
from tests.trust.special_files import HANG_S, MEMORY_BYTES, HangError, catch_hangs
from tests.trust.stages import Stage
from tests.trust.trials import Batch, BatchedTrials, OnTrial

INSTRUMENT = "odd texts from elsewhere"
BATCH = 50
PASSWORD = "S3cretPassword"  # noqa: S105 (a test value)
LONG = 60_000
_START_S = 120.0

READING = (
    ("check", "P"),
    ("versions", "P"),
    ("images", "P"),
    ("images", "P", "--search", "folder:a"),
    ("suggest", "P"),
    ("classify", "P", "-o", "D/out.csv"),
    ("evaluate", "P", "--truth", "T"),
    ("check-labels", "P"),
    ("duplicates", "P"),
    ("similar", "P", "I"),
    ("backups", "list", "P"),
    ("what-if", "P", "--unlink", "Red disc=Red"),
    ("export", "P", "csv", "D/out2.csv"),
    ("export", "P", "coco", "D/coco.json"),
    ("export", "P", "folders", "D/out"),
    ("export", "P", "xmp", "D/sidecars"),
    ("export", "P", "model", "D/model"),
    ("export-graph", "P", "D/graph.json"),
    ("export-graph", "P", "D/graph.svg"),
    ("report", "P", "D/report.html"),
    ("map", "P", "-o", "D/map.png"),
)
WRITING = (
    ("import-graph", "P", "G"),
    ("import-labels", "P", "L"),
    ("import-images", "P", "I"),
    ("embed", "P"),
    ("relink", "P", "--yes"),
    ("merge", "P", "O"),
    ("merge", "O", "P", "--add-images"),
    ("backup", "P"),
    ("backbone", "list"),
    ("restore", "P", "1", "--yes"),
)
"""Paths: P the odd project, O another, D desk, I image, T truth, G graph, L label table."""
SETTINGS = (
    *(
        "setting",
        "collection",
        "burst_seconds",
        "dismissed_graph_suggestions",
        "imported taxonomies",
        "model_version",
    ),
    *(
        "imported taxonomy 0.0",
        "settled conflict 1",
        "settled comment 1",
        "merged classes a",
        "of another version",
    ),
)

Make = Callable[[World, Random], tuple[str, Sequence[Sequence[str]]]]


def odd_values(outside: Path) -> tuple[str, ...]:
    """Texts with a meaning elsewhere; `outside` is a folder of canaries."""
    return (
        "../../outside/diary",
        "../../../outside/diary",
        "../outside/diary-384.sqlite",
        "../../outside/new/x",
        str(outside / "diary"),
        str(outside / "new" / "x"),
        f"{outside}/diary-384.sqlite",
        "/etc/passwd",
        "..",
        ".",
        "/",
        "~",
        "~root/x",
        "C:\\Windows\\x",
        "\\\\server\\share\\x",
        "CON",
        "a\0b",
        "x" * 300,
        "x" * LONG,
        "",
        " ",
        "\n\n",
        "\x1b[31m",
        "\u202egnp.exe",
        "\ufeffe\u0301",
        "\U0001f98a",
        "'; DROP TABLE image; --",
        '"; ATTACH "x" AS y; --',
        "=HYPERLINK(1)",
        "+1",
        "@SUM(A1)",
        "-1",
        "<script>alert(1)</script>",
        "<!ENTITY x>",
        f"http://user:{PASSWORD}@127.0.0.1:9/x.jpg",
        f"s3://AKIA:{PASSWORD}@bucket/x",
        f"https://h/x?token={PASSWORD}",
        "%s%n",
        "{0.__class__}",
        "{path}",
        "$(touch x)",
        "[" * 5000,
        "1e999",
        "NaN",
        "null",
        "-1",
        "9" * 400,
        "true",
        "{}",
        "[]",
        '"text"',
        '{"a": null}',
        "[[1, 2], 3]",
    )


def odd_project(world: World, chance: Random) -> tuple[str, Sequence[Sequence[str]]]:
    """Odd texts in text columns of a project; most such files have a seal, as if made by us."""
    project = world.desk / "odd.protoleaf"
    shutil.copyfile(world.project, project)
    edits: list[str] = []
    with closing(sqlite3.connect(project, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA ignore_check_constraints = {chance.random() < 1 / 4}")
        columns, wanted = text_columns(connection), chance.choice((1, 1, 1, 2, 5))
        while len(edits) < wanted:
            (table, column), value = (
                chance.choice(columns),
                chance.choice(odd_values(outside_of(world))),
            )
            stored = json.dumps(value) if chance.random() < 1 / 4 else value
            with suppress(sqlite3.Error):  # a check constraint refuses it, or rows are equal
                done = connection.execute(
                    f"UPDATE {table} SET {column} = ? {_some(chance, table)}",  # noqa: S608
                    (stored,),
                )
                edits += [f"{table}.{column}={stored[:40]!r}"] * min(1, done.rowcount)
        for name in chance.choices(SETTINGS, k=chance.choice((0, 0, 1, 3))):
            setting = chance.choice((json.dumps, str))(chance.choice(odd_values(outside_of(world))))
            connection.execute("INSERT OR REPLACE INTO setting VALUES (?, ?)", (name, setting))
            edits.append(f"setting {name}={setting[:40]!r}")
        connection.execute("UPDATE file_state SET digest = NULL")  # as of an unclosed file
    if is_sealed := chance.random() < 3 / 4:
        with closing(Connection(project, address(project, "mode=rw"))) as sealed:
            put_seal(sealed, reader_of(project))
    commands = [*READING, *WRITING]
    return f"{'sealed ' * is_sealed}{' '.join(edits)}", chance.sample(commands, len(commands))


def _some(chance: Random, table: str) -> str:
    """One or all rows of a table."""
    has_rowid = table not in {"prediction", "edge"}
    is_one = has_rowid and chance.random() < 1 / 2
    return f"WHERE rowid = (SELECT min(rowid) FROM {table})" if is_one else ""  # noqa: S608


def text_columns(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """Every text column of every table."""
    tables = [
        name
        for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
    ]
    return [
        (table, column)
        for table in tables
        if not table.startswith("sqlite_")
        for _, column, kind, *_ in connection.execute(f"PRAGMA table_info({table})")
        if kind in {"TEXT", "ANY"}
    ]


def odd_data_set(world: World, chance: Random) -> tuple[str, Sequence[Sequence[str]]]:
    """Odd texts in the manifest of a data set, or as paths and reasons of its images."""
    folder, values = world.desk / "set", odd_values(outside_of(world))
    in_rows = chance.random() < 1 / 2
    rows = some_rows(14, 384, seed=chance.randrange(100))
    if in_rows:
        texts = [chance.choice(values) for _ in rows.paths]
        rows = replace(rows, paths=texts, reasons=[chance.choice(values) for _ in rows.paths])
    write_data_set(folder, [rows])
    what = "paths" if in_rows else odd_json(folder / "manifest.json", chance, values)
    return f"data set: {what}", (
        ("new", "D/of.protoleaf", "--data-set", "D/set"),
        ("sample", "D/set", "3", "-o", "D/some.protoleaf"),
        ("images", "D/of.protoleaf"),
        ("check", "D/of.protoleaf"),
        ("import-graph", "D/of.protoleaf", "G"),
        ("export", "D/of.protoleaf", "folders", "D/out", "--images", "all"),
        ("embed", "D/of.protoleaf"),
    )


def odd_bundle(world: World, chance: Random) -> tuple[str, Sequence[Sequence[str]]]:
    """Odd texts in the metadata of an exported model."""
    folder = world.desk / "bundle"
    shutil.copytree(world.model, folder)
    described = chance.choice(sorted(folder.glob("*.json")))
    what = odd_json(described, chance, odd_values(outside_of(world)))
    return f"model: {described.name} {what}", (
        ("classify", "I", "--model", "D/bundle", "-o", "D/out.csv"),
        ("classify", "D/bundle", "-o", "D/out.csv"),
        ("new", "D/of.protoleaf", "--backbone", "D/bundle/classifier.onnx"),
    )


def odd_json(path: Path, chance: Random, values: Sequence[str]) -> str:
    """Replace a text or another value in a JSON file."""
    content = json.loads(path.read_bytes())
    places = list(_places(content))
    texts = [place for place in places if isinstance(place[0][place[1]], str)]
    inside, key = chance.choice(texts if texts and chance.random() < 3 / 4 else places)
    value = chance.choice(values)
    inside[key] = value
    path.write_text(json.dumps(content), encoding="utf-8")
    return f"{key}={value[:40]!r}"


def _places(content: Any) -> Iterator[tuple[Any, Any]]:
    entries = content.items() if isinstance(content, dict) else enumerate(content)
    for key, value in entries:
        yield content, key
        if isinstance(value, dict | list):
            yield from _places(value)


KINDS: Mapping[str, Make] = {
    "project": odd_project,
    "data set": odd_data_set,
    "model": odd_bundle,
}
SHARES = (2, 1, 1)


def outside_of(world: World) -> Path:
    """The folder of canaries: `../../outside` from each folder of caches and from the desk."""
    return world.folder.parent / "outside"


def odd_world(folder: Path, caches: CacheFolders) -> World:
    """A project with photos and a model, next to a folder of canaries."""
    world = build_world(folder / "world", caches)
    outside = outside_of(world)
    (outside / "deep").mkdir(parents=True)
    for name in ("diary", "deep/x.jpg", "id_rsa", "x.onnx"):
        (outside / name).write_text(f"years of work in {name}", encoding="utf-8")
    for name in ("diary.sqlite", "diary-384.sqlite", "diary.protoleaf"):
        with closing(sqlite3.connect(outside / name)) as connection:
            connection.executescript(
                "CREATE TABLE diary (day); INSERT INTO diary VALUES ('years of work')"
            )
    for name, text in {
        "truth.csv": "image,class\n0.png,Red disc\n",
        "graph.csv": "child,parent\nBlue,\n",
    }.items():
        (world.folder / name).write_text(text, encoding="utf-8")
    return world


def open_odd(stage: Stage, count: int, *, seed: int, on_trial: OnTrial = lambda: None) -> Outcome:
    """Open odd files with every command."""
    trials = BatchedTrials(INSTRUMENT, "odd texts", open_some, BATCH, _START_S, HANG_S)
    return trials.outcome(stage, count, seed=seed, on_trial=on_trial)


def open_some(place: Place, batch: Batch) -> tuple[list[Fault], int]:
    """Run the commands of a batch in a child; return faults, and the number of successes."""
    ours = {
        CACHE_VARIABLE: place.caches,
        BACKUPS_VARIABLE: place.folder / "kept",
        BACKBONES_VARIABLE: place.folder / "networks",
    }
    os.environ.update({name: str(path) for name, path in ours.items()})
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    catch_hangs()
    world = odd_world(place.folder, CacheFolders(place.caches))
    shutil.copytree(world.folder, place.folder / "sound")
    faults: list[Fault] = []
    done = 0
    for seed in range(batch.first, batch.first + batch.count):
        found, succeeded = open_one(world, Random(seed))
        faults += [Fault(fault.kind, f"seed {seed}, {fault.text}") for fault in found]
        done += succeeded
        shutil.rmtree(world.folder)
        shutil.copytree(place.folder / "sound", world.folder)
    return faults, done


def open_one(
    world: World, chance: Random, run: Callable[[list[str]], int] = main
) -> tuple[list[Fault], int]:
    """Make one odd file and run every command on it; return faults and successes."""
    clear_desk(world)
    (kind,) = chance.choices(tuple(KINDS), SHARES)
    what, commands = KINDS[kind](world, chance)
    before, faults, done = canaries(world), list[Fault](), 0
    for command in commands:
        doing = f"{what}: {' '.join(command)}"
        found, status = _run(run, [_word(world, each) for each in command])
        faults += [Fault(fault.kind, f"{doing}: {fault.text}") for fault in found]
        done += status == 0
        now = canaries(world)
        if now != before:
            differing = sorted(now.items() ^ before.items())
            faults.append(Fault("wrong", f"{doing}: files outside changed: {differing[0][0]}"))
            before = now
    return faults, done


def _run(run: Callable[[list[str]], int], words: list[str]) -> tuple[list[Fault], int]:
    errors = io.StringIO()
    status = -1
    signal.setitimer(signal.ITIMER_REAL, HANG_S)
    try:
        with (
            contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())),
            contextlib.redirect_stderr(errors),
        ):
            status = run(words)
    except HangError:
        return [Fault("hang", "no end")], status
    except (Exception, SystemExit) as error:  # noqa: BLE001 (recorded)
        return [Fault("traceback", f"{type(error).__name__}: {str(error)[:200]}")], status
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    output = errors.getvalue()
    if "Traceback" in output or status not in {0, 1, 2}:
        return [Fault("traceback", f"status {status}: {output[-200:]}")], status
    return (
        [Fault("other", f"a password in a message: {output[:200]}")] if PASSWORD in output else []
    ), status


def canaries(world: World) -> dict[str, str]:
    """Checksums of the canaries, and of all files except the desk."""
    theirs = (
        outside_of(world),
        *(world.folder / name for name in ("photos", "theirs", "backups", "model")),
    )
    files = (
        path
        for place in theirs
        for path in place.rglob("*")
        if path.is_file() and "other.protoleaf" not in path.name
    )
    beside = {str(path): "" for path in world.folder.parent.iterdir()}
    return beside | {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def _word(world: World, word: str) -> str:
    named: Mapping[str, Path] = {
        "P": world.desk / "odd.protoleaf",
        "O": world.other,
        "I": world.photo,
        "T": world.folder / "truth.csv",
        "G": world.folder / "graph.csv",
        "L": world.folder / "truth.csv",
    }
    return str(world.desk / word[2:]) if word.startswith("D/") else str(named.get(word, word))
