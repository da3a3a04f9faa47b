"""Controller of merges: comparison on a thread, one undoable step, a page of conflicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from app.actions.row import WRITE_FOR_GOOD, Section, action
from app.feature import Imports, PageFeature
from app.file_dialogs import Purpose, save_new_file
from app.jobs.slot import JobSlot
from app.merging.keys import KEYS
from app.texts import marked, tr
from app.workspace.visits import Describes
from engine.config import ARCHIVE_SUFFIX, PROJECT_SUFFIX
from engine.files import shown
from engine.graph.codes import UNKNOWN

if TYPE_CHECKING:  # lazy imports for a fast start
    from app.merging.card import MergeCard
    from app.merging.logic import Dispute, DisputeGroup, MergeSurvey, Queue
    from app.merging.page import ConflictPage
    from app.palette.logic import PaletteRow
    from app.shell import Shell
    from engine.collection.live import LiveCollection
    from engine.events import CancelToken, OnProgress
    from engine.merging.agreement import AgreementTable
    from engine.merging.merge import Merge
    from engine.merging.merge_plan import Verdict
    from engine.project import Change


@final
class Merging(Imports["MergeCard"], PageFeature["ConflictPage"]):
    """Merge another copy and settle conflicts one by one."""

    guide_page = "labelling#several-people"
    page_keys = (KEYS,)
    purpose = Purpose.PROJECTS
    dialog_title = marked("Merge another copy")
    reads_folders = False

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self.queue: Queue | None = None
        self._agreement: AgreementTable | None = None
        self._saving = JobSlot(self._session.jobs, keeps_finished=False)
        self._session.change_made.connect(self._on_change_made)
        self._session.failed.connect(self._on_act_failed)
        self._session.closed.connect(self._on_closed)
        shell.copy_given.connect(self.read)

    @action(
        "merge_copy",
        marked("Merge another copy…"),
        "merge",
        "",
        Section.FILE_IMPORT,
        needs=WRITE_FOR_GOOD,
    )
    def merge_copy(self) -> None:
        self.begin()

    def make_card(self) -> MergeCard:
        from app.merging.card import MergeCard

        return MergeCard(self._host)

    def _file_kinds(self) -> str:
        return f"Protoleaf (*{PROJECT_SUFFIX} *{ARCHIVE_SUFFIX})"

    def _survey(
        self, project: Path, source: Path, _given: Mapping[str, str], cancel: CancelToken
    ) -> MergeSurvey:
        from app.merging.logic import survey_merge

        return survey_merge(project, source, cancel)

    def _job_title(self, name: str) -> str:
        return tr("Merging {1}", name)

    def _import(
        self,
        live: LiveCollection,
        survey: MergeSurvey,
        options: Mapping[str, Any],
        cancel: CancelToken,
    ) -> Merge:
        from engine.collection.importing.match_images import FileContents
        from engine.merging.merge import merge

        return merge(live.project, survey.source, contents=FileContents(cancel), **options)

    def _on_imported(self, done: Merge) -> None:
        from app.merging.logic import Queue, disputes_of
        from app.merging.wording import done_text
        from engine.collection.folding.folds import Folds

        if not done.change.is_empty:
            self.show_undoable(done_text(done))
        state = self._session.state
        folds = Folds.none() if state is None else state.folds
        groups = disputes_of(done.conflicts, done.comments, folds)
        self._agreement = done.plan.agreement
        if groups:
            self.queue = Queue(groups)
            page = self.made_page()
            self._shell.workspace.show_page(page, tr("Settle conflicts"), Describes.LARGE_IMAGE)
            self._show_current()

    # -- the page

    def make_page(self) -> ConflictPage:
        from app.merging.page import ConflictPage

        page = ConflictPage(self._thumbnails)
        page.action_requested.connect(self._act)
        page.image_chosen.connect(self._show_image)
        page.summary.done_requested.connect(self.close_page)
        page.summary.again_requested.connect(self._begin_again)
        page.summary.save_requested.connect(self._save)
        return page

    def leave_page(self) -> None:
        self._shell.workspace.grid.publish_current()

    def _show_current(self) -> None:
        page, queue, state = self.page, self.queue, self._session.state
        if page is None or queue is None or state is None or self._agreement is None:
            return
        queue.pass_over(state.has)
        group = queue.current
        if group is None:
            page.summary.show_end(queue.settled, queue.left, self._agreement, self._session.graph)
            page.show_end()
            return
        dispute = group[0]
        self._session.current_card.look_at(dispute.image_id)
        self._session.guesses.want(queue.image_ids_ahead)
        self._shell.inspector.show_image(dispute.image_id)
        page.show_group(group, state, queue.place + 1, len(queue.groups))
        page.setFocus()
        self._ask_faces(dispute, [each.image_id for each in group])

    def _ask_faces(self, dispute: Dispute, image_ids: Sequence[int]) -> None:
        from app.merging.logic import nearest_of
        from engine.merging.merge_plan import Conflict

        if isinstance(dispute, Conflict):
            classes = dispute.ours.class_id, dispute.theirs.class_id
            self._session.ask(
                lambda live: nearest_of(live, image_ids, classes),
                lambda faces: self._on_faces(dispute, faces),
                owner=self,
                topic="faces",
            )

    def _on_faces(self, dispute: Dispute, faces: tuple[tuple[int, ...], ...]) -> None:
        if self.page is not None and self._session.state is not None:
            self.page.show_faces(dispute, faces, self._session.state)

    def _act(self, name: str) -> None:
        """Perform the action of a key of the page."""
        from engine.merging.merge_plan import Verdict

        group = None if self.queue is None else self.queue.current
        if self.queue is None or group is None:
            return
        match name:
            case "ours":
                self._settle(Verdict.OURS)
            case "theirs":
                self._settle(Verdict.THEIRS)
            case "suggested":
                self._settle(group[0].proposed or Verdict.OURS)
            case "both" | "unknown":
                self._settle(Verdict.OTHER)
            case "other":
                self._ask_class(group)
            case "apart":
                self.queue.take_apart()
                self._show_current()
            case "later":
                self.queue.put_off()
                self._show_current()

    def _settle(self, choice: Verdict, class_id: int = UNKNOWN) -> None:
        from app.merging.logic import settled_as

        page, group = self.made_page(), None if self.queue is None else self.queue.current
        if group is None or page.is_waiting:
            return
        page.is_waiting = True
        self._session.act(
            lambda project: settled_as(project, group, choice, class_id),
            on_done=lambda _change: self._on_settled(),
        )

    def _on_settled(self) -> None:
        if self.queue is not None:
            self.queue.mark_settled()
            self._show_current()

    def _ask_class(self, group: DisputeGroup) -> None:
        self._palette.ask(
            tr("Label as: name, or part of a name"),
            self._rows_for,
            lambda class_id: self._on_class_chosen(group, class_id),
        )

    def _rows_for(self, text: str) -> list[PaletteRow]:
        from app.palette.logic import class_rows

        return class_rows(self._session.graph, text)

    def _on_class_chosen(self, group: DisputeGroup, class_id: int) -> None:
        from engine.merging.merge_plan import Verdict

        if self.queue is not None and self.queue.current is group:
            self._settle(Verdict.OTHER, class_id)

    def _show_image(self, image_id: int) -> None:
        """Show another image of the current burst."""
        if self.page is not None and self._session.state is not None:
            self.page.canvas.show_image(self._session.state.source_of(image_id))
            self._shell.inspector.show_image(image_id)

    def _begin_again(self) -> None:
        if self.queue is not None:
            self.queue.begin_again()
            self._show_current()

    # -- undo, failures, agreement table

    def _on_change_made(self, change: Change) -> None:
        """After undo show the reopened conflict; after redo go to the next."""
        if self.queue is None or not self.is_page_shown or change.kind == "done":
            return
        follow = self.queue.reopen if change.kind == "undone" else self.queue.repeat
        if follow(change.settings):
            self._show_current()

    def _on_act_failed(self, _reason: str) -> None:
        if self.page is not None:
            self.page.is_waiting = False

    def _save(self) -> None:
        table, graph = self._agreement, self._session.graph.copy()
        path = save_new_file(
            self._host,
            self.purpose,
            tr("Save agreement"),
            tr("agreement.csv"),
            tr("Tables (*.csv)"),
        )
        if path is None or table is None:
            return

        def write(_on_progress: OnProgress, _cancel: CancelToken) -> None:
            from engine.merging.conflict_list import write_agreement

            write_agreement(path, graph, table, is_overwriting=True)  # the dialog has confirmed

        self._saving.start(
            tr("Saving {1}", shown(path.name)),
            write,
            lambda _nothing: self._toast.show_message(tr("Saved {1}", shown(path.name))),
            self._session.failed.emit,
        )

    def _on_closed(self) -> None:
        self.queue = None

    def stop(self) -> None:
        if self.page is not None:
            self.page.canvas.stop()
