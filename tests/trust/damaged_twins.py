"""Restore a damaged project that has others of the same name: it must get its own backups.

Some are copies of one another, some were moved or exchanged, backups share a folder, clocks are
wrong by years, and the backup index may be damaged. The test knows the truth; the program has the
files only.
"""

import io
import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

from engine.cli.main import main
from engine.config import backups_folder
from engine.errors import ProtoleafError
from engine.project import BackupReason, Project
from engine.project.backups.listing import offer_for
from engine.project.backups.place import choose_folder
from engine.project.backups.restoring import restore
from engine.project.clock import present_time
from tests.support.backups import Clock, backups_with
from tests.support.projects import found_files, new_project
from tests.trust.byte_damage import BYTE_DAMAGE
from tests.trust.children import Place, run_apart
from tests.trust.outcome import Fault, Outcome, Trial
from tests.trust.seen import digest, people_part
from tests.trust.stages import Stage
from tests.trust.trials import OnTrial, ending_faults, named, run_trials, trial_folder

INSTRUMENT = "damaged twins and restores"
NAME = "birds.protoleaf"
_HEADER_BYTES = 100
_SHARES: Mapping[str, float] = {
    "copied": 0.3,
    "moved": 0.3,
    "swapped": 0.2,
    "opened after": 0.4,
    "wrong clock": 0.4,
    "shared folder": 0.3,
    "index damaged": 0.2,
    "backup damaged": 0.2,
    "backup between": 0.3,
}


@dataclass(frozen=True)
class Plan:
    """One trial.

    Attributes:
        how: the damage.
        way: how the project is restored.
        seed: of the random generator.
        is_careless: whether identities are ignored, as a planted fault.
    """

    how: str
    way: str
    seed: int
    is_careless: bool = False


@dataclass
class Twin:
    """The truth about a project.

    Attributes:
        path: current one.
        project_id: its identity.
        backups: digest by path of each backup of this file.
        opened_as: file and project last opened at its path.
    """

    path: Path
    project_id: str
    backups: dict[Path, str] = field(default_factory=dict)
    opened_as: tuple[int, str] = (0, "")

    @property
    def meant_id(self) -> str:
        """The project to restore: without a file, the one last opened at the path."""
        return self.project_id if self.path.exists() else self.opened_as[1] or self.project_id


@dataclass(frozen=True)
class Answer:
    """Output of a command."""

    status: int
    out: str
    err: str


@dataclass
class Story:
    """State of a trial."""

    chance: Random
    folder: Path
    twins: list[Twin] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    restored: int = 0
    is_index_damaged: bool = False

    def happens(self, what: str) -> bool:
        """Random choice whether an event happens in this trial."""
        return self.chance.random() < _SHARES[what]

    meant_id: str = ""

    def contents_of(self, project_id: str) -> Mapping[Path, str]:
        """All backups of a project and its copies."""
        return {
            path: content
            for twin in self.twins
            if twin.project_id == project_id
            for path, content in twin.backups.items()
        }


def restore_many(
    stage: Stage, count: int, *, seed: int, on_trial: OnTrial = lambda: None
) -> Outcome:
    """Damage and restore projects with twins.

    Args:
        stage: for its scratch folder.
        count: trials.
        seed: of the random generator.
        on_trial: called after each trial.
    """
    damage, ways = list(DAMAGE), list(WAYS)
    plans = [
        Plan(
            damage[place % len(damage)],
            ways[(place + place // len(damage)) % len(ways)],
            seed * 1_000_000 + place,
        )
        for place in range(count)
    ]
    return run_trials(INSTRUMENT, plans, lambda plan: restore_one(stage, plan), on_trial)


def restore_one(stage: Stage, plan: Plan) -> Trial:
    """Run one trial."""
    with trial_folder(stage.folder) as folder:
        place = Place(folder)
        place.desk.mkdir(parents=True)
        ending = run_apart(place, play, place, plan)
        restored, found = ending.answer or (0, ())
        faults = [*found, *ending_faults(ending, "restoring", place.output())]
        return Trial(
            restored, named(faults, f"{plan.how}, {plan.way}, seed {plan.seed}"), ending.peak_bytes
        )


def play(place: Place, plan: Plan) -> tuple[int, Sequence[Fault]]:
    """Make twins, damage one, restore it, and compare with the truth; in a child."""
    story = Story(Random(plan.seed), place.desk)
    _make_twins(story)
    _move_some(story)
    victim = story.chance.choice(story.twins)
    older = min(victim.backups, default=victim.path).read_bytes()
    DAMAGE[plan.how](victim.path, older, story.chance)
    story.meant_id = victim.meant_id
    _damage_memory(story)
    with _carelessness() if plan.is_careless else _nothing():
        _check_offer(story, victim)
        content = victim.path.read_bytes() if victim.path.exists() else None
        WAYS[plan.way](story, victim)
        _check_kept(story, victim, content)
    return story.restored, story.faults


# -- preparation


def _make_twins(story: Story) -> None:
    count, stick = story.chance.randint(2, 4), story.folder / "stick"
    is_shared = story.happens("shared folder")
    stick.mkdir()
    for number in range(count):
        path = story.folder / "abcd"[number] / NAME
        path.parent.mkdir()
        if story.twins and story.happens("copied"):
            original = story.chance.choice(story.twins)
            shutil.copyfile(original.path, path)
            twin = Twin(path, original.project_id)
        else:
            with new_project(path.parent, NAME) as project:
                project.classes.add(f"Kind of {number}")
                twin = Twin(path, project.backups.project_id)
        story.twins.append(twin)
        if is_shared:
            choose_folder(twin.project_id, stick)
        _work(story, twin)
    for twin in story.chance.sample(story.twins, story.chance.randint(0, count)):
        _work(story, twin)


def _work(story: Story, twin: Twin) -> None:
    """Work in a project, with backups by a clock that may be wrong by years."""
    chance = story.chance
    with Project.open(twin.path, is_backed_up=False) as project:
        twin.opened_as = twin.path.stat().st_ino, twin.project_id
        for _ in range(chance.randint(1, 3)):
            years = chance.choice((-25, -3, 2, 30)) if story.happens("wrong clock") else 0
            clock = Clock(
                present_time()
                - timedelta(minutes=chance.randint(1, 500_000))
                + timedelta(days=365 * years)
            )
            project.classes.add(f"Class {chance.randrange(10**9)}")
            project.images.add(
                found_files(
                    twin.path.parent / "in", chance.randint(1, 9), start=chance.randrange(10**6)
                )
            )
            reason = chance.choice(
                (BackupReason.ASKED, BackupReason.DAY, BackupReason.QUARTER_HOUR)
            )
            made = backups_with(project, clock).take(reason)
            twin.backups[made.path] = digest(people_part(project))
        if chance.random() < 0.5:
            project.classes.add(f"Not backed up {chance.randrange(10**9)}")
    twin.backups = {path: content for path, content in twin.backups.items() if path.exists()}


def _move_some(story: Story) -> None:
    """Move some projects to other folders or another's path, and open some there."""
    if story.happens("swapped"):
        one, other = story.chance.sample(story.twins, 2)
        aside = one.path.with_name("aside")
        one.path.rename(aside)
        other.path.rename(one.path)
        aside.rename(other.path)
        one.path, other.path = other.path, one.path
        one.opened_as, other.opened_as = other.opened_as, one.opened_as
    for twin in story.twins:
        if story.happens("moved"):
            target = story.folder / f"{twin.path.parent.name} moved" / NAME
            target.parent.mkdir()
            twin.path.rename(target)
            twin.path, twin.opened_as = target, (0, "")
        if story.happens("opened after"):
            _work(story, twin)


def _damage_memory(story: Story) -> None:
    """Sometimes damage the index or a backup, which must be tolerated."""
    if story.happens("index damaged"):
        story.is_index_damaged = True
        for path in sorted(backups_folder().glob("index/*")):
            damage = BYTE_DAMAGE[story.chance.choice(list(_OF_TEXTS))]
            content = path.read_bytes()
            path.write_bytes(damage(bytearray(content), content, story.chance))
    if story.happens("backup damaged"):
        twin = story.chance.choice(story.twins)
        path = story.chance.choice([*twin.backups])
        path.write_bytes(path.read_bytes()[:-3000])


_OF_TEXTS = (
    "bits flipped",
    "a letter changed",
    "bytes overwritten",
    "cut off",
    "another file",
)


def _by_bytes(how: str) -> Callable[[Path, bytes, Random], None]:
    def damage(path: Path, older: bytes, chance: Random) -> None:
        path.write_bytes(BYTE_DAMAGE[how](bytearray(path.read_bytes()), older, chance))

    return damage


def _zero_header(path: Path, _older: bytes, _chance: Random) -> None:
    content = path.read_bytes()
    path.write_bytes(bytes(_HEADER_BYTES) + content[_HEADER_BYTES:])


def _empty(path: Path, _older: bytes, _chance: Random) -> None:
    path.write_bytes(b"")


def _replace(path: Path, _older: bytes, chance: Random) -> None:
    """Replace a file by a damaged one, as sync programs do."""
    draft = path.with_name("draft")
    draft.write_bytes(chance.randbytes(5000))
    draft.replace(path)


def _delete(path: Path, _older: bytes, _chance: Random) -> None:
    path.unlink()


DAMAGE: Mapping[str, Callable[[Path, bytes, Random], None]] = {
    **{how: _by_bytes(how) for how in BYTE_DAMAGE},
    "header zeroed": _zero_header,
    "emptied": _empty,
    "replaced by rot": _replace,
    "deleted": _delete,
}


# -- restoring


def _by_first_number(story: Story, victim: Twin) -> None:
    _by_number(story, victim, listed=_list(story, victim), number=1)


def _by_any_number(story: Story, victim: Twin) -> None:
    listed = _list(story, victim)
    _by_number(story, victim, listed=listed, number=story.chance.randint(1, max(1, len(listed))))


def _by_number(
    story: Story, victim: Twin, *, listed: Sequence[Mapping[str, Any]], number: int
) -> None:
    """By the number in a list, sometimes after another backup of a twin was added."""
    sharers = [twin for twin in story.twins if twin is not victim]
    if story.happens("backup between"):
        _work(story, story.chance.choice(sharers))
    answer = _command(story, "restore", str(victim.path), str(number), "--yes", "--json")
    meant = Path(listed[number - 1]["path"]) if number <= len(listed) else None
    _check_restored(story, victim, is_done=answer.status == 0, meant=meant)


def _by_number_unseen(story: Story, victim: Twin) -> None:
    """By a number without listing."""
    answer = _command(
        story, "restore", str(victim.path), str(story.chance.randint(1, 4)), "--yes", "--json"
    )
    _check_restored(story, victim, is_done=answer.status == 0)


def _by_time(story: Story, victim: Twin) -> None:
    listed = _list(story, victim)
    if listed:
        when = datetime.fromisoformat(story.chance.choice(listed)["when"])
        answer = _command(
            story, "restore", str(victim.path), f"{when:%Y-%m-%d %H:%M:%S}", "--yes", "--json"
        )
        _check_restored(story, victim, is_done=answer.status == 0)


def _by_window(story: Story, victim: Twin) -> None:
    """The first valid row, unless it needs a confirmation as another project's."""
    offered = next(
        (backup for backup in offer_for(victim.path, is_verified=True).all if not backup.fault),
        None,
    )
    if offered is not None:
        try:
            restore(victim.path, offered.path, when=present_time())
        except ProtoleafError:
            _check_restored(story, victim, is_done=False)
        else:
            _check_restored(story, victim, is_done=True, meant=offered.path)


def _by_asked_file(story: Story, victim: Twin) -> None:
    """A file chosen by the user: of another project only with the option."""
    twin = story.chance.choice([each for each in story.twins if each.backups] or [victim])
    if twin.backups:
        path = story.chance.choice([*twin.backups])
        flags = ("--other",) if story.chance.random() < 0.5 else ()
        answer = _command(story, "restore", str(victim.path), str(path), "--yes", *flags)
        if answer.status == 0:
            story.restored += 1
            if _content(victim.path) != twin.backups[path]:
                story.faults.append(Fault("wrong", "another backup than the one that was named"))


WAYS: Mapping[str, Callable[[Story, Twin], None]] = {
    "the first number": _by_first_number,
    "any number": _by_any_number,
    "a number unseen": _by_number_unseen,
    "a time": _by_time,
    "the window": _by_window,
    "a file": _by_asked_file,
}


def _list(story: Story, victim: Twin) -> Sequence[Mapping[str, Any]]:
    answer = _command(story, "backups", "list", str(victim.path), "--json")
    _command(story, "backups", "list", str(victim.path))
    listed: Sequence[Mapping[str, Any]] = (
        json.loads(answer.out)["backups"] if answer.status == 0 else ()
    )
    return listed


def _command(story: Story, *words: str) -> Answer:
    """Run a command; it must succeed or print one of our errors in one line."""
    out, err = io.StringIO(), io.StringIO()
    try:
        with redirect_stdout(out), redirect_stderr(err):
            status = main(list(words))
    except Exception as error:  # noqa: BLE001 (recorded)
        story.faults.append(
            Fault("traceback", f"{words[0]}: {type(error).__name__}: {str(error)[:200]}")
        )
        return Answer(-1, "", "")
    if status not in {0, 1} or (status and err.getvalue().count("\n") != 1):
        story.faults.append(
            Fault("other", f"{words[0]} ended with {status}: {err.getvalue()[-300:]}")
        )
    return Answer(status, out.getvalue(), err.getvalue())


# -- comparing


def _check_offer(story: Story, victim: Twin) -> None:
    """Its own backups are offered, and first if the program can know that they are."""
    own = {path for path in story.contents_of(story.meant_id) if path.exists()}
    offered = offer_for(victim.path)
    if not own:
        return
    content = victim.path.read_bytes() if victim.path.exists() else b""
    is_readable = bytes.fromhex(story.meant_id) in content
    number = victim.path.stat().st_ino if victim.path.exists() else victim.opened_as[0]
    is_indexed = not story.is_index_damaged and victim.opened_as == (number, story.meant_id)
    if (is_readable or is_indexed) and not own.intersection(each.path for each in offered.all):
        story.faults.append(Fault("lost", f"{len(own)} own backups and none is offered"))
    if is_indexed and offered.all and offered.all[0].path not in own:
        story.faults.append(Fault("wrong", "a stranger stands first"))
    if strangers := [each for each in offered.own if each.project_id and each.path not in own]:
        story.faults.append(Fault("wrong", f"{len(strangers)} strangers are offered as its own"))


def _check_restored(
    story: Story, victim: Twin, *, is_done: bool, meant: Path | None = None
) -> None:
    """An unconfirmed restore installs the project's own backup, as listed."""
    if not is_done:
        return
    story.restored += 1
    content, own = _content(victim.path), story.contents_of(story.meant_id)
    if content not in own.values():
        story.faults.append(
            Fault("wrong", f"installed what is no backup of its own: {content[:100]}")
        )
    elif meant is not None and meant in own and own[meant] != content:
        story.faults.append(Fault("wrong", "the number meant another backup than in the list"))


def _check_kept(story: Story, victim: Twin, content: bytes | None) -> None:
    """The damaged file exists: in place, next to it, or among the backups."""
    if content is None or not story.restored:
        return
    kept = [
        *victim.path.parent.iterdir(),
        *backups_folder().rglob("*"),
        *(story.folder / "stick").rglob("*"),
    ]
    is_kept = any(path.is_file() and path.read_bytes() == content for path in kept)
    is_backed_up = any(BackupReason.RESTORE.value in path.name for path in kept)
    if not (is_kept or is_backed_up):
        story.faults.append(Fault("lost", "the damaged file was not kept"))


def _content(path: Path) -> str:
    try:
        with Project.open(path, for_writing=False) as project:
            return digest(people_part(project))
    except ProtoleafError as error:
        return str(error)


@contextmanager
def _nothing() -> Iterator[None]:
    yield


@contextmanager
def _carelessness() -> Iterator[None]:
    """Treat every damaged project of the name as the file's own."""
    with (
        patch("engine.project.backups.restoring._check_owner", lambda *_args, **_options: None),
        patch("engine.project.backups.listing.identify", lambda *_args: None),
        patch("engine.project.backups.listing._distance", lambda *_args: 0),
    ):
        yield
