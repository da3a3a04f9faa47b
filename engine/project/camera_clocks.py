"""The clocks of cameras that a project corrects; undone like anything else."""

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import final

from engine.errors import InputError
from engine.files import PhotoDetails
from engine.project.actions import action
from engine.project.change import Change
from engine.project.clock_corrections import (
    MOST_CORRECTIONS,
    ClockCorrection,
    ClockCorrections,
    checked_correction,
)
from engine.project.model_rows import put_setting, setting
from engine.project.store import ImagePaths, ProjectPart, shown_path

CLOCKS_SETTING = "clock_corrections"


@final
class ProjectClocks(ProjectPart):
    """The corrections of a project."""

    def corrections(self) -> ClockCorrections:
        """All of them."""
        values = setting(self._connection, CLOCKS_SETTING, [])
        return ClockCorrections([ClockCorrection(**each) for each in values])

    def set(self, correction: ClockCorrection) -> Change:
        """Correct the clock of a folder or camera, in place of an earlier correction, or remove it.

        Raises:
            InputError: it is for no folder and no camera, or too large, or there are too many.
        """
        checked = checked_correction(correction)
        together = self.corrections().replacing(checked)
        if len(together.all) > MOST_CORRECTIONS:
            raise InputError(
                "too many corrections of clocks", expected="at most {limit}", limit=MOST_CORRECTIONS
            )
        code = "clock_correction_removed" if checked.is_nothing else "clock_corrected"
        with self._store.one_step(action(code, source=checked.source_text)) as step:
            put_setting(step, CLOCKS_SETTING, [asdict(each) for each in together.all] or None)
        return step.change

    def stored_folder(self, folder: Path) -> str:
        """A folder on this computer as images' paths name it; "" for the project's own."""
        return _folder_of(self._store.paths, folder / "image")

    def corrected(self, facts_of: Callable[[Path], PhotoDetails]) -> Callable[[Path], PhotoDetails]:
        """Image metadata with the times of corrected clocks; thread-safe."""
        corrections, paths = self.corrections(), self._store.paths

        def corrected_facts(path: Path) -> PhotoDetails:
            facts = facts_of(path)
            if facts.taken_at is None:
                return facts
            where = _folder_of(paths, path), facts.camera, facts.serial
            return replace(facts, taken_at=corrections.corrected(facts.taken_at, *where))

        return corrected_facts if corrections else facts_of


def _folder_of(paths: ImagePaths, file: Path) -> str:
    return shown_path(paths.stored(file)).rpartition("/")[0]
