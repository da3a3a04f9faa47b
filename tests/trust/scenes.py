"""Events of a project file: renamed, replaced, deleted, linked, killed and restored.

Each scene is a function that checks its guarantees with `Scene`.
"""

import os
import shutil
import signal
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from engine.files import FoundFile
from engine.project import Project
from tests.support.projects import connection_of, named
from tests.trust.acknowledge import Line, read_log
from tests.trust.backups import content_of, is_project
from tests.trust.children import Place, run_apart
from tests.trust.outcome import Fault
from tests.trust.puppet import Puppet
from tests.trust.stages import Stage
from tests.trust.survivor import check
from tests.trust.trials import ending_faults

_RUSH_BYTES = 20_000


@dataclass
class Scene:
    """A project in use, and the faults so far.

    Attributes:
        place: of the project.
        stage: what it was made from.
        chance: random generator of the scene.
    """

    place: Place
    stage: Stage
    chance: Random
    faults: list[Fault] = field(default_factory=list)
    logs: list[Path] = field(default_factory=list)
    peak_bytes: int = 0

    @property
    def project(self) -> Path:
        """The project file, with its original name."""
        return self.place.project

    @property
    def other(self) -> Path:
        """Another name in the same folder."""
        return self.project.with_name("other.protoleaf")

    def writer(self, path: Path | None = None) -> Puppet:
        """A program with the project open for writing."""
        puppet = Puppet(
            self.place,
            f"writer {len(self.logs)}",
            path or self.project,
            self.chance.randrange(10_000),
        )
        self.logs.append(puppet.log)
        return puppet

    def fault(self, kind: str, text: str, count: int = 1) -> None:
        """Record a broken guarantee."""
        self.faults.append(Fault(kind, text, count))  # type: ignore[arg-type]

    def end(self, puppet: Puppet) -> None:
        """Let a program close and end normally."""
        ending = puppet.close()
        self.peak_bytes = max(self.peak_bytes, ending.peak_bytes)
        self.faults += ending_faults(ending, "the program that had it open", self.place.output())

    def killed_writer(self) -> None:
        """Let a program label continuously, and kill it."""
        puppet = self.writer()
        puppet.rush()
        wanted = self.chance.randrange(_RUSH_BYTES)
        while (not puppet.log.exists() or puppet.log.stat().st_size < wanted) and puppet.is_alive:
            os.sched_yield()
        puppet.kill()

    def expect_all(self, *, from_action: int = 0) -> None:
        """Every acknowledged action from that one on must be in a project file of the place."""
        lines = [line for line in read_log(self.logs[0]) if line.kind == "done"]
        chain = [str(self.stage.facts()["people"]), *(line.people for line in lines)]
        contents = {content for _, content, _ in self._look()}
        kept = max(
            (number for number, content in enumerate(chain) if content in contents), default=0
        )
        missing = len(lines) - max(kept, from_action)
        if kept < len(lines) and missing > 0:
            self.fault(
                "lost", f"{missing} of {len(lines)} acknowledged actions are in no file", missing
            )

    def expect(self, path: Path, content: str, *, may_be_refused: bool = False) -> None:
        """A file must have exactly this content.

        Args:
            path: the file.
            content: digest of people's work.
            may_be_refused: whether a clear refusal is permitted.
        """
        found = next(
            ((what, sound) for where, what, sound in self._look() if where == path),
            ("it is gone", False),
        )
        if found[0] == content or (may_be_refused and not found[1]):
            return
        how = "called sound" if found[1] else "called damaged"
        self.fault(
            "wrong" if found[1] else "lost",
            f"{path.name} does not hold what it held, and is {how}: {found[0]}",
        )

    def expect_kept_or_refused(self, path: Path) -> None:
        """A file must have everything acknowledged, or be reported as damaged."""
        lines = [line for line in read_log(self.logs[0]) if line.kind in {"done", "begin"}]
        done = [line for line in lines if line.kind == "done"]
        chain = [str(self.stage.facts()["people"]), *(line.people for line in done)]
        found = next(
            ((what, sound) for where, what, sound in self._look() if where == path),
            ("it is gone", False),
        )
        if (
            not found[1]
            or found[0] == chain[-1]
            or (found[0] not in chain and _is_under_way(lines))
        ):
            return
        kept = max(
            (number for number, content in enumerate(chain) if content == found[0]), default=0
        )
        lost = len(done) - kept
        self.fault(
            "wrong",
            f"{path.name} is called sound and lacks {lost} of {len(done)} acknowledged actions",
        )
        self.fault("lost", f"{path.name}: {lost} actions", max(1, lost))

    def _look(self) -> list[tuple[Path, str, bool]]:
        ending = run_apart(self.place, contents_of, self.place.folder)
        self.peak_bytes = max(self.peak_bytes, ending.peak_bytes)
        self.faults += ending_faults(ending, "looking at the files", self.place.output())
        return list(ending.answer or ())


def contents_of(folder: Path) -> list[tuple[Path, str, bool]]:
    """Project files below a folder: digest of people's work or an error, and validity."""
    found = []
    for path in sorted(folder.rglob("*")):
        if is_project(path):
            is_sound = check(path).is_sound
            found.append((path, content_of(path), is_sound))
    return found


def _is_under_way(lines: list[Line]) -> bool:
    return bool(lines) and lines[-1].kind == "begin"


# -- while it is open


def _renamed(scene: Scene) -> None:
    first = scene.writer()
    first.label(scene.chance.randrange(1, 8))
    scene.project.rename(scene.other)
    first.label(5)
    _second_must_not_write(scene, first, scene.other)
    scene.end(first)
    scene.expect_all()


def _folder_renamed(scene: Scene) -> None:
    first = scene.writer()
    first.label(scene.chance.randrange(1, 8))
    moved = scene.place.desk.rename(scene.place.folder / "moved")
    first.label(5)
    _second_must_not_write(scene, first, moved / scene.project.name)
    scene.end(first)
    scene.expect_all()


def _renamed_and_back(scene: Scene) -> None:
    first = scene.writer()
    first.label(3)
    scene.project.rename(scene.other)
    first.label(scene.chance.randrange(3))
    scene.other.rename(scene.project)
    first.label(3)
    scene.end(first)
    scene.expect_all()


def _renamed_and_name_taken(scene: Scene) -> None:
    first = scene.writer()
    first.label(3)
    scene.project.rename(scene.other)
    shutil.copyfile(scene.stage.older, scene.project)
    first.label(5)
    scene.end(first)
    scene.expect_all()
    scene.expect(scene.project, scene.stage.facts()["older"])


def _deleted(scene: Scene) -> None:
    first = scene.writer()
    before = first.label(scene.chance.randrange(1, 8)).done
    scene.project.unlink()
    answer = first.label(5)
    scene.end(first)
    scene.expect_all(from_action=before if answer.refused else 0)


def _replaced_in_place(scene: Scene) -> None:
    """`cp backup project`: the same file with another content."""
    _replaced(scene, lambda: scene.project.write_bytes(scene.stage.older.read_bytes()))


def _replaced_by_move(scene: Scene) -> None:
    """`mv backup project`: another file of the same name."""
    draft = scene.place.folder / "draft"
    shutil.copyfile(scene.stage.older, draft)
    _replaced(scene, lambda: draft.replace(scene.project))


def _replaced(scene: Scene, replace: Callable[[], object]) -> None:
    first = scene.writer()
    before = first.label(scene.chance.randrange(1, 8)).done
    replace()
    answer = first.label(5)
    scene.end(first)
    scene.expect_all(from_action=before if answer.refused else 0)
    if not answer.done:
        scene.expect(scene.project, scene.stage.facts()["older"])


def _hard_link(scene: Scene) -> None:
    first = scene.writer()
    first.label(3)
    os.link(scene.project, scene.other)
    _second_must_not_write(scene, first, scene.other)
    scene.end(first)
    scene.expect_all()


def _symbolic_link(scene: Scene) -> None:
    first = scene.writer()
    first.label(3)
    link = scene.place.folder / "link.protoleaf"
    link.symlink_to(scene.project)
    _second_must_not_write(scene, first, link)
    scene.end(first)
    scene.expect_all()


def _side_files_deleted(scene: Scene) -> None:
    first = scene.writer()
    first.label(3)
    _delete_side_files(scene)
    first.label(3)
    _second_must_not_write(scene, first, scene.project)
    scene.end(first)
    scene.expect_all()


def _second_must_not_write(scene: Scene, first: Puppet, path: Path) -> None:
    """While one program acknowledges actions in a file, no other may open it for writing."""
    second = scene.writer(path)
    if not second.opening.refused:
        both = first.label(2).done and second.label(2).done
        if both:
            scene.fault(
                "other",
                f"two programs write one file at once, the second under the name {path.name}",
            )
    scene.end(second)


def _delete_side_files(scene: Scene) -> None:
    for path in scene.place.desk.iterdir():
        if path.is_file() and path.name.startswith(scene.project.name) and path != scene.project:
            path.unlink()


# -- after a kill


def _killed_and_older_moved_over(scene: Scene) -> None:
    scene.killed_writer()
    draft = scene.place.folder / "draft"
    shutil.copyfile(scene.stage.older, draft)
    draft.replace(scene.project)
    scene.expect(scene.project, scene.stage.facts()["older"])


def _killed_and_older_copied_over(scene: Scene) -> None:
    scene.killed_writer()
    shutil.copyfile(scene.stage.older, scene.project)
    scene.expect(scene.project, scene.stage.facts()["older"])


def _killed_and_side_files_deleted(scene: Scene) -> None:
    scene.killed_writer()
    _delete_side_files(scene)
    scene.expect_kept_or_refused(scene.project)


def _killed_and_renamed(scene: Scene) -> None:
    scene.killed_writer()
    scene.project.rename(scene.other)
    scene.expect_kept_or_refused(scene.other)


def _killed_renamed_and_name_taken(scene: Scene) -> None:
    scene.killed_writer()
    scene.project.rename(scene.other)
    shutil.copyfile(scene.stage.older, scene.project)
    scene.expect(scene.project, scene.stage.facts()["older"])
    scene.logs = scene.logs[:1]
    scene.expect_kept_or_refused(scene.other)


# -- logs of another time


def _own_log(scene: Scene) -> None:
    """Killed within a commit: half of the pages are written, and its journal rolls them back."""
    _die_in_a_commit(scene)
    scene.expect(scene.project, scene.stage.facts()["people"])


def _own_log_and_older_over(scene: Scene) -> None:
    _die_in_a_commit(scene)
    shutil.copyfile(scene.stage.older, scene.project)
    scene.expect(scene.project, scene.stage.facts()["older"])


def _own_log_lost(scene: Scene) -> None:
    _die_in_a_commit(scene)
    _delete_side_files(scene)
    scene.expect(scene.project, scene.stage.facts()["people"], may_be_refused=True)


def _own_log_and_renamed(scene: Scene) -> None:
    _die_in_a_commit(scene)
    scene.project.rename(scene.other)
    scene.expect(scene.other, scene.stage.facts()["people"], may_be_refused=True)


def _own_log_and_name_taken(scene: Scene) -> None:
    """The journal is next to a file of another project."""
    _die_in_a_commit(scene)
    scene.project.rename(scene.other)
    shutil.copyfile(scene.stage.older, scene.project)
    scene.expect(scene.project, scene.stage.facts()["older"])
    scene.expect(scene.other, scene.stage.facts()["people"], may_be_refused=True)


def _die_in_a_commit(scene: Scene) -> None:
    before = scene.project.read_bytes()
    run_apart(scene.place, half_commit, scene.project)
    if scene.project.read_bytes()[: len(before)] == before:
        raise RuntimeError("nothing of the commit was written: the scene shows nothing")


def _foreign_log(scene: Scene, leave_log: Callable[[Path], None], suffix: str) -> None:
    """The journal of another copy is never applied and never deleted."""
    elsewhere = scene.place.folder / "elsewhere"
    elsewhere.mkdir()
    copy = elsewhere / scene.project.name
    shutil.copyfile(scene.stage.older, copy)
    run_apart(scene.place, leave_log, copy)
    log = copy.with_name(copy.name + suffix).read_bytes()
    shutil.rmtree(elsewhere)
    scene.project.with_name(scene.project.name + suffix).write_bytes(log)
    scene.expect(scene.project, scene.stage.facts()["people"])
    scene.end(scene.writer())
    scene.expect(scene.project, scene.stage.facts()["people"])
    if not any(path.read_bytes() == log for path in scene.place.desk.iterdir()):
        scene.fault("other", "the log of another copy was deleted or changed")


def _foreign_rollback_log(scene: Scene) -> None:
    _foreign_log(scene, half_commit, "-journal")


def _foreign_ahead_log(scene: Scene) -> None:
    _foreign_log(scene, logged_ahead, "-wal")


def half_commit(path: Path) -> None:
    """Die within a commit, with a full journal and half of the pages written; in a child."""
    project = Project.open(path)
    connection_of(project).write("PRAGMA cache_size = 2")
    with project.history.one_step(named("half of a step")):
        images = project.images.table().ids
        project.labels.set(images, None, who="nobody at all")
        for class_id in project.classes.graph.classes():
            project.classes.rename(class_id, f"half {class_id}")
        project.images.add(
            [FoundFile(path.with_name(f"half {number}.jpg"), 1, 1) for number in range(300)]
        )
        os.kill(os.getpid(), signal.SIGKILL)


def logged_ahead(path: Path) -> None:
    """Die with a write-ahead log, as versions 1 and 2 of the program did; in a child."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("UPDATE label SET who = 'nobody at all'")
        os.kill(os.getpid(), signal.SIGKILL)


SCENES: Mapping[str, Callable[[Scene], None]] = {
    "renamed while open": _renamed,
    "folder renamed while open": _folder_renamed,
    "renamed and back while open": _renamed_and_back,
    "renamed while open, an older copy under its name": _renamed_and_name_taken,
    "deleted while open": _deleted,
    "replaced in place while open": _replaced_in_place,
    "replaced by a move while open": _replaced_by_move,
    "hard link while open": _hard_link,
    "symbolic link while open": _symbolic_link,
    "side files deleted while open": _side_files_deleted,
    "killed, then an older copy moved over it": _killed_and_older_moved_over,
    "killed, then an older copy copied over it": _killed_and_older_copied_over,
    "killed, then its side files deleted": _killed_and_side_files_deleted,
    "killed, then renamed": _killed_and_renamed,
    "killed and renamed, an older copy under its name": _killed_renamed_and_name_taken,
    "killed in a commit": _own_log,
    "killed in a commit, then an older copy copied over it": _own_log_and_older_over,
    "killed in a commit, then its side files deleted": _own_log_lost,
    "killed in a commit, then renamed": _own_log_and_renamed,
    "killed in a commit and renamed, an older copy under its name": _own_log_and_name_taken,
    "rollback log of another copy beside it": _foreign_rollback_log,
    "write-ahead log of another copy beside it": _foreign_ahead_log,
}
