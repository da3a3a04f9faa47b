"""Work of a child on a project until it is disturbed: each action is acknowledged when done.

A new feature is tested by every instrument with one more entry in `ACTIVITIES`: a function of a
place, a log, a stage and a random generator.
"""

import contextlib
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Literal

from engine.cli.commands import COMMAND_NAMES
from engine.cli.main import main
from engine.collection.importing.import_images import import_images
from engine.config import CacheFolders
from engine.errors import GraphError
from engine.files import FoundFile
from engine.graph.codes import EMPTY, UNKNOWN
from engine.graph.removal import ChildrenOfRemoved, classes_that_go
from engine.interchange.labelled_images.formats import FORMATS
from engine.merging.merge import merge
from engine.merging.merge_plan import Verdict
from engine.merging.settled import settle, settle_comment
from engine.project import ClassPolicy, Project, SplitPart
from engine.project.actions import action
from tests.trust.acknowledge import Log
from tests.trust.backups import BACKED_UP, RESTORED, backups_of, content_of
from tests.trust.children import Place
from tests.trust.exports import EXPORTED, READABLE, target
from tests.trust.large_work import work_on_large
from tests.trust.seen import digest, people_part
from tests.trust.stages import Stage
from tests.trust.things import work_on_things

LABELS = 200
FEW_LABELS = 3
EDITS = 100
NOTES = 100
GROUPS = 40
QUICK_TRAINING = (
    "iterations=4",
    "validation_episodes=3",
    "test_episodes=3",
    "validation_interval=2",
)

Run = Callable[[Place, Log, Stage, Random], None]


@dataclass(frozen=True)
class Activity:
    """Work of people or of the program on a project.

    Attributes:
        run: does it, in the child.
        with_caches: whether it needs embeddings.
        starts_from: a file of version 1 ("first"), the project counted as large, or the common one.
        weight: relative frequency.
        commands: required commands.
    """

    name: str
    run: Run
    with_caches: bool = False
    starts_from: Literal["people", "first", "large"] = "people"
    weight: float = 1.0
    commands: tuple[str, ...] = ()

    def start(self, stage: Stage) -> Path:
        """The initial file."""
        return {"people": stage.place.project, "first": stage.first_version, "large": stage.large}[
            self.starts_from
        ]

    def start_digest(self, stage: Stage) -> str:
        """Digest of people's work in the initial file."""
        return str(stage.facts()[self.starts_from])


def run_activity(run: Run, place: Place, stage: Stage, seed: int) -> None:
    """Run one in the child."""
    run(place, Log(place.log), stage, Random(seed))


def possible_activities() -> Sequence[Activity]:
    """Those whose commands exist."""
    return [each for each in ACTIVITIES.values() if COMMAND_NAMES.issuperset(each.commands)]


def _label(place: Place, log: Log, stage: Stage, chance: Random) -> None:
    with Project.open(place.project) as project:
        for _ in range(LABELS):
            label_one(project, log, chance)


def label_one(project: Project, log: Log, chance: Random) -> None:
    """Label an image, as unknown or empty too, or remove its label."""
    image_id = chance.choice(project.images.table().ids)
    log.begin("label")
    if chance.random() < 0.15:
        project.labels.remove([image_id])
    else:
        codes = [*project.classes.graph.classes(), UNKNOWN, EMPTY]
        project.labels.set([image_id], chance.choice(codes), who="ada")
    log.acknowledge(project, f"label image {image_id}")


def _check_labels(place: Place, log: Log, stage: Stage, chance: Random) -> None:
    """Likely label errors are confirmed, changed or removed, as `app.label_check` does."""
    with Project.open(place.project) as project:
        for _ in range(LABELS):
            labelled = list(project.labels.by_image())
            if len(labelled) < FEW_LABELS or chance.random() < 0.3:
                label_one(project, log, chance)
                continue
            image_ids = chance.sample(labelled, chance.randint(1, FEW_LABELS))
            log.begin("check labels")
            if chance.random() < 0.6:
                project.labels.confirm(image_ids, who="ada")
            else:
                project.labels.set(
                    image_ids, chance.choice(project.classes.graph.classes()), who="ada"
                )
            log.acknowledge(project, f"check labels of {image_ids}")


def _edit_graph(place: Place, log: Log, stage: Stage, chance: Random) -> None:
    with Project.open(place.project) as project:
        for number in range(EDITS):
            try:
                did = _one_edit(project, chance, number)
            except GraphError:
                continue  # a random cycle or duplicate name: refused, not acknowledged
            log.acknowledge(project, did)


def _one_edit(project: Project, chance: Random, number: int) -> str:
    graph = project.classes.graph
    one, other = chance.choice(graph.classes()), chance.choice(graph.classes())
    kind = chance.choice(
        (*_GROUP_EDITS, "add", "add", "rename", "link", "unlink", "move", "remove", "bar")
    )
    match kind:
        case "add":
            project.classes.add(f"class {number}", [one])
        case "rename":
            project.classes.rename(one, f"renamed {number}")
        case "link":
            project.classes.link(one, [other])
        case "unlink":
            project.classes.unlink([(_parent(project, one, chance) or other, one)])
        case "move":
            project.classes.move([(one, _parent(project, one, chance))], other)
        case "remove" if len(graph) > 4:
            project.classes.remove([one])
        case _ if kind in _GROUP_EDITS:
            _edit_group(project, kind, (one, other), number, chance)
        case _:
            project.policies.set(
                one, ClassPolicy(bar=chance.random(), is_deepest=chance.random() < 0.5)
            )
    return f"{kind} class {one}"


_GROUP_EDITS = (
    *(
        "add parent",
        "move some",
        "link some",
        "unlink some",
        "remove some",
        "merge some",
        "split",
        "describe",
    ),
    *("aliases", "paste"),
)


def _edit_group(
    project: Project, kind: str, pair: tuple[int, int], number: int, chance: Random
) -> None:
    one, other = pair
    moves = [(each, _parent(project, each, chance)) for each in pair]
    children = chance.choice(tuple(ChildrenOfRemoved))
    match kind:
        case "add parent":
            project.classes.add_parent(f"above {number}", [one], moves[0][1])
        case "move some":
            project.classes.move(moves, chance.choice((*project.classes.graph.classes(), None)))
        case "link some":
            project.classes.link(chance.choice(project.classes.graph.classes()), pair)
        case "unlink some":
            project.classes.unlink([(parent or one, each) for each, parent in moves])
        case "remove some" if (
            len(project.classes.graph) - len(classes_that_go(project.classes.graph, pair, children))
            > 4
        ):
            project.classes.remove(pair, children)
        case "merge some" if len(project.classes.graph) > 8:
            project.classes.merge(pair, one)
        case "split":
            shots = [
                image_id
                for image_id, label in project.labels.by_image().items()
                if label.class_id == one
            ]
            parts = [
                SplitPart(f"part {number}", shots[::2]),
                SplitPart(f"other part {number}", shots[1::4]),
            ]
            project.classes.split(one, parts, as_children=chance.random() < 0.5)
        case "paste":
            project.classes.paste(
                project.classes.copied([project.classes.graph.leaves()[-1], one]), other
            )
        case "aliases":
            project.classes.set_attributes(
                [one], source_id=f"n{number}", synonyms=(f"synonym {number}",)
            )
        case _:
            project.classes.set_attributes(pair, note=f"note {number}", colour=f"#{number:06x}")


def _parent(project: Project, class_id: int, chance: Random) -> int | None:
    parents = project.classes.graph.parents(class_id)
    return chance.choice(parents) if parents else None


def _undo_and_redo(place: Place, log: Log, stage: Stage, chance: Random) -> None:
    with Project.open(place.project) as project:
        for _ in range(EDITS):
            forward = chance.random() < 0.35
            change = project.history.redo() if forward else project.history.undo()
            if change is not None:
                log.acknowledge(project, "redo" if forward else "undo")
            elif project.images.count:
                label_one(project, log, chance)


def _import(place: Place, log: Log, stage: Stage, chance: Random) -> None:
    pictures = sorted(stage.extra.rglob("*.png"))
    with Project.open(place.project) as project:
        for start in range(0, len(pictures), 3):
            some = pictures[start : start + 3]
            class_id = chance.choice([*project.classes.graph.classes(), None])
            import_images(project, some, class_id=class_id, who="ada")
            log.acknowledge(project, f"import {len(some)} images")
        absent = [
            FoundFile(stage.extra / f"absent {number}.jpg", 10, number) for number in range(2000)
        ]
        project.images.add_labelled(absent, [None] * len(absent), who="ada")
        log.acknowledge(project, "import 2,000 images at once")


def _embed_in_batches(place: Place, log: Log, stage: Stage, chance: Random) -> None:
    from engine.collection.embed import embed_project
    from engine.embedding.messages import EmbedBatch

    with Project.open(place.project) as project:

        def record(batch: EmbedBatch) -> None:
            project.images.record_scan(batch.results)
            log.acknowledge(project, "embed a batch")

        embed_project(project, CacheFolders.default(), device="cpu", on_batch=record)


class CommandRefused(Exception):  # noqa: N818 (like `Cancelled`, no failure)
    """A command ended with a status other than 0; the text is its message."""


def command(place: Place, log: Log, *words: str | Path) -> None:
    """Run a command of the program; its end is the acknowledgement.

    Raises:
        CommandRefused: it failed.
    """
    errors = io.StringIO()
    with contextlib.redirect_stderr(errors):
        status = main([str(word) for word in words])
    if status:
        raise CommandRefused(errors.getvalue().strip())
    with Project.open(place.project, for_writing=False) as project:
        log.acknowledge(project, str(words[0]))


def _import_command(place: Place, log: Log, stage: Stage, chance: Random) -> None:
    command(place, log, "import-images", place.project, stage.extra, "--folders-as-classes")


def _embed_command(place: Place, log: Log, stage: Stage, chance: Random) -> None:
    command(place, log, "embed", place.project, "--device", "cpu")


def _classify_command(place: Place, log: Log, stage: Stage, chance: Random) -> None:
    setting = chance.choice(("ppn+", "prototypes"))
    command(
        place,
        log,
        "classify",
        place.project,
        "--setting",
        setting,
        "-o",
        place.folder / "predictions.csv",
    )


def _train_command(place: Place, log: Log, stage: Stage, chance: Random) -> None:
    words = [word for setting in QUICK_TRAINING for word in ("--setting", setting)]
    command(place, log, "train", place.project, "--depth", "propagation", *words)


def _export_command(place: Place, log: Log, stage: Stage, chance: Random) -> None:
    """Every format in sequence, starting with a random one."""
    place.exports.mkdir(exist_ok=True)
    first = chance.randrange(len(EXPORTED))
    for name in EXPORTED[first:] + EXPORTED[:first]:
        command(
            place, log, "export", place.project, name, target(place, name), "--images", "verified"
        )


def _import_labels_command(place: Place, log: Log, stage: Stage, chance: Random) -> None:
    """Removed labels are imported again; folders of others add labels, classes and images."""
    with Project.open(place.project) as project:
        labelled = list(project.labels.by_image())
        project.labels.remove(chance.sample(labelled, len(labelled) // 2))
        log.acknowledge(project, "take labels away")
    name = chance.choice(READABLE)
    source = stage.labels / f"{name}{FORMATS[name].suffix}"
    command(place, log, "import-labels", place.project, source, "--format", name)
    command(
        place,
        log,
        "import-labels",
        place.project,
        stage.extra,
        "--add-images",
        "--add-classes",
        "--who",
        "grace",
    )


def _back_up(place: Place, log: Log, stage: Stage, chance: Random) -> None:
    with Project.open(place.project) as project:
        label_one(project, log, chance)
    command(place, log, BACKED_UP, place.project)


def _restore(place: Place, log: Log, stage: Stage, chance: Random) -> None:
    """Back up, change something, and restore the backup; the changes are saved first."""
    _back_up(place, log, stage, chance)
    with Project.open(place.project, for_writing=False) as project:
        before = digest(people_part(project))
    backup = next(path for path in backups_of(place) if content_of(path) == before)
    with Project.open(place.project) as project:
        for _ in range(3):
            label_one(project, log, chance)
    log.may_become(before, RESTORED)
    command(place, log, RESTORED, place.project, backup)


def _migrate(place: Place, log: Log, stage: Stage, chance: Random) -> None:
    with Project.open(place.project) as project:
        log.acknowledge(project, "migrate")
        label_one(project, log, chance)


def _note(place: Place, log: Log, stage: Stage, chance: Random) -> None:
    """Set and remove stars, flags and comments of one or many images."""
    with Project.open(place.project) as project:
        ids = project.images.table().ids
        for number in range(NOTES):
            some = chance.sample(ids, chance.choice((1, 1, 12)))
            log.begin("note")
            match chance.choice(("stars", "flag", "comment")):
                case "stars":
                    project.notes.set_stars(some, chance.randint(0, 5), who="ada")
                case "flag":
                    project.notes.set_flagged(some, chance.random() < 0.7, who="ada")
                case _:
                    project.notes.set_comment(
                        some, chance.choice(("", f"Seen {number} times")), who="ada"
                    )
            log.acknowledge(project, f"note {len(some)} images")


def _accept_groups(place: Place, log: Log, stage: Stage, chance: Random) -> None:
    """Label many images in one step, sometimes with a second class, and undo it."""
    with Project.open(place.project) as project:
        ids, classes = project.images.table().ids, project.classes.graph.classes()
        for _ in range(GROUPS):
            log.begin("accept a group")
            some = chance.sample(ids, min(len(ids), chance.randint(5, 40)))
            with project.history.one_step(
                action("predictions_accepted", images=len(some), classes=2)
            ):
                project.labels.set(some[::2], chance.choice(classes), who="ada")
                project.labels.set(some[1::2], chance.choice(classes), who="ada")
            log.acknowledge(project, f"accept {len(some)} images")
            if chance.random() < 0.2:
                project.history.undo()
                log.acknowledge(project, "undo")


def _merge(place: Place, log: Log, stage: Stage, chance: Random) -> None:
    """Merge another person's copy, settle conflicts one by one, and undo some."""
    with Project.open(place.project) as project:
        label_one(project, log, chance)
        log.begin("merge")
        done = merge(project, stage.twin)
        log.acknowledge(project, "merge")
        for conflict in done.conflicts:
            label = project.labels.of(conflict.image_id)
            if label is None or label.code != conflict.ours.code:
                continue  # an undo removed its class or image
            log.begin("settle")
            settle(
                project, conflict, chance.choice(tuple(Verdict)), chance.choice((1, UNKNOWN, EMPTY))
            )
            log.acknowledge(project, f"settle image {conflict.image_id}")
            if chance.random() < 0.2:
                project.history.undo()
                log.acknowledge(project, "undo")
        for comment in done.comments:
            settle_comment(project, comment, chance.choice(tuple(Verdict)))
            log.acknowledge(project, f"settle comments on image {comment.image_id}")


def _work_on_things(place: Place, log: Log, stage: Stage, chance: Random) -> None:
    work_on_things(place, log, stage.card, chance)


def _merge_command(place: Place, log: Log, stage: Stage, chance: Random) -> None:
    preferred = chance.choice(((), ("--prefer", "theirs"), ("--prefer", "newer")))
    command(place, log, "merge", place.project, stage.twin, *preferred)


ACTIVITIES: Mapping[str, Activity] = {
    activity.name: activity
    for activity in (
        Activity("labels", _label, weight=3),
        Activity("graph edits", _edit_graph, weight=2),
        Activity("undo and redo", _undo_and_redo, weight=2),
        Activity("import", _import, weight=1.5),
        Activity("import-images", _import_command),
        Activity("embed in batches", _embed_in_batches),
        Activity("embed", _embed_command),
        Activity("classify", _classify_command, with_caches=True),
        Activity("export", _export_command, weight=1.5),
        Activity("import-labels", _import_labels_command, weight=1.5),
        Activity("notes", _note),
        Activity("group accepts", _accept_groups),
        Activity("checked labels", _check_labels),
        Activity("things in images", _work_on_things, weight=3),
        Activity("merge and settle", _merge, weight=1.5),
        Activity("merge", _merge_command, commands=("merge",)),
        Activity("train", _train_command, with_caches=True, weight=0.7),
        Activity("backup", _back_up, commands=(BACKED_UP,)),
        Activity("restore", _restore, commands=(BACKED_UP, RESTORED)),
        Activity(
            "large collection", work_on_large, with_caches=True, starts_from="large", weight=2
        ),
        Activity("migration", _migrate, starts_from="first", weight=0.7),
    )
}
