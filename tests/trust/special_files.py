"""Pipes, sockets, devices, folders and dangling links in place of files, for every input."""

import contextlib
import io
import os
import resource
import shutil
import signal
import socket
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random
from types import FrameType

from engine.cli.main import main
from engine.config import BACKUPS_VARIABLE, CACHE_VARIABLE, CacheFolders
from engine.interchange.detect import FORMATS as GRAPHS
from engine.interchange.labelled_images.formats import READ_FORMATS
from engine.project import Project
from tests.support.onnx_models import write_external
from tests.trust.children import Place
from tests.trust.exports import export_all
from tests.trust.hostile_targets import World, build_world, clear_desk
from tests.trust.outcome import Fault, Outcome
from tests.trust.stages import Stage
from tests.trust.trials import Batch, BatchedTrials, OnTrial

INSTRUMENT = "special files as inputs"
BATCH = 100
HANG_S = 20.0
_START_S = 90.0
MEMORY_BYTES = 8 * 2**30
"""Of a child, against devices that never end."""
SUFFIXES = (
    ".csv",
    ".tsv",
    ".json",
    ".jsonl",
    ".parquet",
    ".xml",
    ".zip",
    ".obo",
    ".ttl",
    ".rdf",
    ".graphml",
)


class HangError(BaseException):
    """A command with a timeout."""


def _socket(path: Path) -> None:
    before = Path.cwd()
    os.chdir(path.parent)  # socket paths have at most 107 bytes
    try:
        with socket.socket(socket.AF_UNIX) as opened:
            opened.bind(path.name)
    finally:
        os.chdir(before)


def _linked(target: str) -> Callable[[Path], None]:
    return lambda path: path.symlink_to(target)


def _linked_pipe(path: Path) -> None:
    os.mkfifo(f"{path}.pipe")
    path.symlink_to(f"{path}.pipe")


KINDS: Mapping[str, Callable[[Path], None]] = {
    "a pipe": os.mkfifo,
    "a link to a pipe": _linked_pipe,
    "a socket": _socket,
    "a device without end": _linked("/dev/zero"),
    "random bytes without end": _linked("/dev/urandom"),
    "a terminal": _linked("/dev/tty"),
    "a full device": _linked("/dev/full"),
    "a kernel's log": _linked("/proc/kmsg"),
    "a process's memory": _linked("/proc/self/mem"),
    "a kernel's text": _linked("/proc/self/status"),
    "a folder": Path.mkdir,
    "a link to nothing": _linked("no such file"),
    "a link to itself": lambda path: path.symlink_to(path.name),
}
"""Creates each kind at a path."""
Make = Callable[[Path], Path]
Door = Callable[[World, Random, Make], list[str]]


def _graph(world: World, chance: Random, make: Make) -> list[str]:
    words = [
        "import-graph",
        str(world.project),
        str(make(world.desk / f"classes{chance.choice(SUFFIXES)}")),
    ]
    return words + chance.choice(([], ["--format", chance.choice(tuple(GRAPHS))], ["--preview"]))


def _labels(world: World, chance: Random, make: Make) -> list[str]:
    words = [
        "import-labels",
        str(world.project),
        str(make(world.desk / f"labels{chance.choice(SUFFIXES)}")),
    ]
    return words + chance.choice(
        ([], ["--format", chance.choice(tuple(READ_FORMATS))], ["--add-classes"])
    )


def _part_of_labels(world: World, chance: Random, make: Make) -> list[str]:
    """An exported folder with one of its files replaced."""
    name = chance.choice([one.name for one in sorted(_labels_of(world).iterdir()) if one.is_dir()])
    folder = world.desk / name
    shutil.copytree(_labels_of(world) / name, folder)
    part = chance.choice(sorted(path for path in folder.rglob("*") if path.is_file()))
    part.unlink()
    make(part)
    return [
        "import-labels",
        str(world.project),
        str(folder),
        *chance.choice(([], ["--format", name])),
    ]


def _named_by_list(world: World, chance: Random, make: Make) -> list[str]:
    image = make(world.desk / "named.png")
    table = world.desk / "list.csv"
    table.write_text(
        f"image,class\n{chance.choice((image.name, str(image)))},{'Red'}\n", encoding="utf-8"
    )
    return [
        "import-labels",
        str(world.project),
        str(table),
        "--add-images",
        *chance.choice(([], ["--dry-run"])),
    ]


def _image(world: World, chance: Random, make: Make) -> list[str]:
    folder = world.desk / "new"
    folder.mkdir()
    shutil.copyfile(world.photo, folder / "sound.png")
    image = make(folder / f"special{chance.choice(('.png', '.jpg', '.tif', '.cr2', '.heic'))}")
    return ["import-images", str(world.project), str(chance.choice((folder, image)))]


def _sidecar(world: World, chance: Random, make: Make) -> list[str]:
    folder = world.desk / "photos"
    folder.mkdir()
    shutil.copyfile(world.photo, folder / "sound.png")
    make(folder / chance.choice(("sound.xmp", "sound.png.xmp")))
    return [
        "import-labels",
        str(world.project),
        str(folder),
        "--format",
        chance.choice(("xmp", "keywords")),
    ]


def _photo(world: World, chance: Random, make: Make) -> list[str]:
    """An image of the project replaced."""
    world.photo.unlink()
    make(world.photo)
    project = str(world.project)
    return chance.choice(
        (
            ["embed", project],
            ["import-labels", project, str(_labels_of(world) / "csv.csv")],
            [
                "export",
                project,
                chance.choice(("folders", "yolo", "huggingface")),
                str(world.desk / "out"),
            ],
            ["check", project],
        )
    )


def _model(world: World, chance: Random, make: Make) -> list[str]:
    folder = world.desk / "bundle"
    shutil.copytree(world.model, folder)
    part = chance.choice(sorted(path for path in folder.iterdir() if path.is_file()))
    part.unlink()
    make(part)
    return ["classify", str(world.photo), "--model", str(folder), "-o", str(world.desk / "out.csv")]


def _classified(world: World, _chance: Random, make: Make) -> list[str]:
    image = make(world.desk / "special.png")
    return ["classify", str(image), "--model", str(world.model), "-o", str(world.desk / "out.csv")]


def _truth(world: World, _chance: Random, make: Make) -> list[str]:
    return ["evaluate", str(world.project), "--truth", str(make(world.desk / "truth.csv"))]


def _restored(world: World, _chance: Random, make: Make) -> list[str]:
    return [
        "restore",
        str(world.project),
        str(make(world.desk / "backup.protoleaf")),
        "--yes",
        "--other",
    ]


def _project(world: World, chance: Random, make: Make) -> list[str]:
    project = str(make(world.desk / "special.protoleaf"))
    return chance.choice(
        (
            ["check", project],
            ["new", project],
            ["backup", project],
            ["backups", "list", project],
            ["restore", project, "1", "--yes"],
            ["suggest", project],
            ["versions", project],
            ["relink", project, "--yes"],
        )
    )


def _beside_project(world: World, chance: Random, make: Make) -> list[str]:
    project = world.desk / "shapes.protoleaf"
    shutil.copyfile(world.project, project)
    make(project.with_name(project.name + chance.choice(("-journal", "-wal", "-shm"))))
    return [chance.choice(("check", "backup", "versions")), str(project)]


def _relinked(world: World, _chance: Random, make: Make) -> list[str]:
    folder = world.desk / "moved"
    folder.mkdir()
    make(folder / world.photo.name)
    return ["relink", str(world.project), str(folder), "--yes"]


def _network(world: World, chance: Random, make: Make) -> list[str]:
    network = str(make(world.desk / "network.onnx"))
    return chance.choice(
        (
            ["backbone", "add", network, "--preset", "imagenet"],
            ["new", str(world.desk / "new.protoleaf"), "--backbone", network],
        )
    )


def _beside_network(world: World, chance: Random, make: Make) -> list[str]:
    network = write_external(world.desk / "network.onnx", write_data=False)
    make(network.with_name(chance.choice(("weights.bin", "preprocessor_config.json"))))
    return ["backbone", "add", str(network), "--preset", "imagenet"]


def _backups_folder(world: World, _chance: Random, make: Make) -> list[str]:
    return ["backup", str(world.project), "--to", str(make(world.desk / "backups"))]


DOORS: Mapping[str, Door] = {
    "graph": _graph,
    "labels": _labels,
    "part of labels": _part_of_labels,
    "named by a list": _named_by_list,
    "image": _image,
    "sidecar": _sidecar,
    "photo of the project": _photo,
    "part of a model": _model,
    "image to classify": _classified,
    "truth": _truth,
    "backup to restore": _restored,
    "project": _project,
    "beside a project": _beside_project,
    "moved image": _relinked,
    "network": _network,
    "beside a network": _beside_network,
    "folder of backups": _backups_folder,
}
ALONE = frozenset({"truth", "backup to restore", "network"})
"""Inputs without which a command cannot succeed."""


def open_many(stage: Stage, count: int, *, seed: int, on_trial: OnTrial = lambda: None) -> Outcome:
    """Put special files in place of files."""
    trials = BatchedTrials(INSTRUMENT, "special files", open_some, BATCH, _START_S, HANG_S)
    return trials.outcome(stage, count, seed=seed, on_trial=on_trial)


def open_some(place: Place, batch: Batch) -> tuple[list[Fault], int]:
    """Run the commands of a batch in a child; return faults, and the number of successes."""
    os.environ[CACHE_VARIABLE], os.environ[BACKUPS_VARIABLE] = (
        str(place.caches),
        str(place.folder / "kept"),
    )
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    catch_hangs()
    world = special_world(place.folder / "world", CacheFolders(place.caches))
    shutil.copytree(world.folder, place.folder / "sound")
    faults: list[Fault] = []
    done = 0
    for seed in range(batch.first, batch.first + batch.count):
        found, status = open_one(world, Random(seed))
        faults += [Fault(fault.kind, f"seed {seed}, {fault.text}") for fault in found]
        done += status == 0
        shutil.rmtree(world.folder)
        shutil.copytree(place.folder / "sound", world.folder)
    return faults, done


def catch_hangs() -> None:
    """Interrupt commands of this process after a timeout."""
    signal.signal(signal.SIGALRM, _hang)


def special_world(folder: Path, caches: CacheFolders) -> World:
    """A project with photos, a model, and its labels in every format."""
    world = build_world(folder, caches)
    with Project.open(world.project, for_writing=False) as project:
        export_all(project, _labels_of(world))
    return world


def open_one(
    world: World, chance: Random, run: Callable[[list[str]], int] = main
) -> tuple[list[Fault], int]:
    """Use one special file as one input, and check the command's end."""
    clear_desk(world)
    kind, door = chance.choice(tuple(KINDS)), chance.choice(tuple(DOORS))

    def make(path: Path) -> Path:
        KINDS[kind](path)
        return path

    words = DOORS[door](world, chance, make)
    doing = f"{kind} as {door}: {' '.join(word for word in words if '/' not in word)}"
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
        return [Fault("hang", doing)], status
    except (Exception, SystemExit) as error:  # noqa: BLE001 (recorded)
        return [Fault("traceback", f"{doing}: {type(error).__name__}: {str(error)[:200]}")], status
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return list(_faults(world, door, doing, status, errors.getvalue())), status


def _faults(world: World, door: str, doing: str, status: int, output: str) -> Iterator[Fault]:
    if status == 0 and door in ALONE:
        yield Fault("wrong", f"{doing}: it was taken")
    if "enough memory" in output:
        yield Fault("other", f"{doing}: {output[:200]}")
    if status not in {0, 1, 2}:
        yield Fault("other", f"{doing}: status {status}: {output[:200]}")
    if door in {"named by a list", "image"}:
        with Project.open(world.project, for_writing=False) as project:
            taken = [
                image.path
                for image in project.images.records()
                if not project.images.resolve(image).is_file()
            ]
        if taken:
            yield Fault("wrong", f"{doing}: it became an image")


def _labels_of(world: World) -> Path:
    return world.folder / "labels"


def _hang(_number: int, _frame: FrameType | None) -> None:
    raise HangError
