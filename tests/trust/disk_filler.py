"""Fill the disk before or during an activity.

The activity is refused with a message that names the full disk, `check` works, and with free space
every acknowledged action is there.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path
from random import Random

from engine.errors import ProtoleafError
from tests.support.mounted_disk import NoSmallDiskError, leave_free, mount_small_disk
from tests.trust.acknowledge import Log, read_log
from tests.trust.activities import Activity, CommandRefused, possible_activities
from tests.trust.children import Place, run_apart, settle
from tests.trust.exports import drafts
from tests.trust.outcome import Fault, Outcome, Trial
from tests.trust.stages import Stage
from tests.trust.survivor import check, survivor_faults
from tests.trust.trials import OnTrial, ending_faults, named, run_trials, trial_folder

INSTRUMENT = "full disks"
DISK_BYTES = 24_000_000
FREE_BYTES = (0, 4_096, 8_192, 12_288, 20_480, 65_536, 200_000, 600_000)
_FULL = "disk is full"
_LIMIT_S = 120.0


@dataclass(frozen=True)
class Fill:
    """One trial.

    Attributes:
        activity: what is done.
        free_bytes: free space at its start.
        holds_all: whether caches and temporary files are on the full disk too.
    """

    activity: Activity
    free_bytes: int
    holds_all: bool
    seed: int

    @property
    def name(self) -> str:
        """The trial in words."""
        where = "project, caches and temporary files" if self.holds_all else "the project"
        return (
            f"{self.activity.name} with {self.free_bytes:,} bytes free for {where}, seed "
            f"{self.seed}"
        )


def fill_many(
    stage: Stage,
    count: int,
    *,
    seed: int,
    names: tuple[str, ...] = (),
    on_trial: OnTrial = lambda: None,
) -> Outcome:
    """Run activities on a full disk.

    Args:
        stage: what they start from.
        count: trials.
        seed: of the random generator.
        names: only these activities.
        on_trial: called after each trial.
    """
    chance = Random(seed)
    chosen = [each for each in possible_activities() if not names or each.name in names]
    plans = [
        Fill(
            chosen[place % len(chosen)],
            chance.choice(FREE_BYTES),
            chance.random() < 0.5,
            seed * 1_000_000 + place,
        )
        for place in range(count)
    ]
    return run_trials(INSTRUMENT, plans, lambda plan: fill_one(stage, plan), on_trial)


def can_fill(stage: Stage) -> bool:
    """Whether this system permits mounting small disks."""
    with trial_folder(stage.folder) as folder:
        folder.mkdir()
        return bool(run_apart(Place(folder), _can_mount, folder / "small").answer)


def fill_one(stage: Stage, fill: Fill) -> Trial:
    """Run one activity on a full disk, and check the rest."""
    with trial_folder(stage.folder) as folder:
        place = Place(folder)
        folder.mkdir()
        ending = run_apart(place, meet_full_disk, place, stage, fill, limit_s=_LIMIT_S)
        faults = [*ending_faults(ending, "on a full disk", place.output()), *(ending.answer or ())]
        acknowledged = sum(line.kind == "done" for line in read_log(place.log))
        return Trial(acknowledged, named(faults, fill.name), ending.peak_bytes)


def meet_full_disk(roomy: Place, stage: Stage, fill: Fill) -> list[Fault]:
    """Mount a small disk, fill it, run the activity, and free space; in a child.

    Args:
        roomy: folders on another disk, with the log.
        stage: of the project.
        fill: the trial.
    """
    small = Place(roomy.folder / "small")
    mount_small_disk(small.folder, DISK_BYTES)
    stage.lay(
        small.folder, with_caches=fill.activity.with_caches, project=fill.activity.start(stage)
    )
    if not fill.holds_all and fill.activity.with_caches:
        shutil.copytree(small.caches, roomy.caches, dirs_exist_ok=True)
    settle(small if fill.holds_all else roomy)
    filler = leave_free(small.folder, fill.free_bytes)
    faults = _run(fill, small, stage, Log(roomy.log))
    if not (verdict := check(small.project)).is_sound and not (
        fill.holds_all and _FULL in verdict.message
    ):
        faults.append(Fault("other", f"check on the full disk: {verdict.message[:500]}"))
    if left := drafts(small):
        faults.append(Fault("other", f"left on the full disk: {', '.join(left[:5])}"))
    filler.unlink()
    return faults + survivor_faults(small, read_log(roomy.log), fill.activity.start_digest(stage))


def _run(fill: Fill, place: Place, stage: Stage, log: Log) -> list[Fault]:
    """Run the activity; a refusal must name the full disk."""
    try:
        fill.activity.run(place, log, stage, Random(fill.seed))
    except (ProtoleafError, CommandRefused) as error:
        if _FULL not in str(error):
            return [Fault("other", f"refused without naming the full disk: {str(error)[:500]}")]
    return []


def _can_mount(folder: Path) -> bool:
    try:
        mount_small_disk(folder, DISK_BYTES)
    except NoSmallDiskError:
        return False
    return True
