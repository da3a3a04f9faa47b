"""Images similar to the selected ones, or to another file, in the grid."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, final

from app.actions.row import Needs, Section, action
from app.feature import Feature
from app.file_dialogs import Purpose, open_file
from app.jobs.slot import JobSlot
from app.session.subsets import ImageSet
from app.similar.wording import by_similarity, nothing_alike, similar_title, unreadable
from app.texts import marked, tr
from engine.files import shown
from engine.images.kinds import IMAGE_SUFFIXES
from engine.texts import translated

if TYPE_CHECKING:
    from app.shell import Shell
    from engine.collection.live import LiveCollection
    from engine.collection.similar import LikeImages
    from engine.embedding.messages import EmbedImages

ON_IMAGES = Needs.PROJECT | Needs.IMAGES


@final
class SimilarImages(Feature):
    """Show the collection in order of similarity."""

    guide_page = "labelling#find-similar-images"

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self._images = shell.workspace
        self._embedding = JobSlot(self._session.jobs, is_heavy=True, keeps_finished=False)
        shell.similar_requested.connect(self.take_dropped)
        self._session.closed.connect(self._embedding.abandon)

    @action(
        "find_similar",
        marked("Find similar images"),
        "similar",
        "S",
        Section.IMAGES_LIKE,
        needs=ON_IMAGES,
        on_images=True,
    )
    def find_similar(self) -> None:
        """Show the collection by similarity to the selected images, or to the open one."""
        chosen, state = self._images.active_images.chosen_ids, self._session.state
        if chosen and state is not None:
            self._show_like(
                chosen, similar_title([state.path_of(image_id).name for image_id in chosen])
            )

    @action(
        "find_similar_file",
        marked("Find images similar to a file…"),
        "similar",
        "",
        Section.IMAGES_LIKE,
    )
    def choose_file(self) -> None:
        suffixes = " ".join(f"*{suffix} *{suffix.upper()}" for suffix in sorted(IMAGE_SUFFIXES))
        kinds = tr("Images ({1});;All files (*)", suffixes)
        path = open_file(self._host, Purpose.IMAGES, tr("Find images similar to a file"), kinds)
        if path is not None:
            self.find_like_file(path)

    def take_dropped(self, paths: Sequence[Path]) -> None:
        """Find images similar to the first file dropped with Alt."""
        if self._session.info is not None and paths:
            self.find_like_file(paths[0])

    def find_like_file(self, path: Path) -> None:
        """Show the collection by similarity to a file, which is embedded unless in the project."""
        caches = self._session.caches

        def question(live: LiveCollection) -> int | EmbedImages:
            from engine.requests import file_to_embed

            own = live.project.images.find(path)
            known = None if own is None else live.embedded.ready_row(own)
            return (
                own if own is not None and known is not None else file_to_embed(live, caches, path)
            )

        self._session.ask(
            question, lambda found: self._on_known(path, found), owner=self, topic="similar"
        )

    def _on_known(self, path: Path, found: int | EmbedImages) -> None:
        title = similar_title([path.name])
        if isinstance(found, int):
            self._show_like((found,), title)
            return
        self._embedding.start(
            tr("Reading {1}", shown(path.name)),
            found,
            lambda _summary: self._on_embedded(path, title),
            self._session.failed.emit,
            replaces=True,
        )

    def _on_embedded(self, path: Path, title: str) -> None:
        results = self._embedding.news
        key, failure = (results[-1].content_hash, results[-1].failure) if results else (None, None)
        if key is None or failure:
            self._toast.report_failure(unreadable(path, translated(failure) if failure else ""))
            return
        self._session.ask(
            lambda live: live.like((), outside=live.embedded.embedding_of(key)),
            lambda found: self._show(found, title),
            owner=self,
            topic="similar",
        )

    def _show_like(self, image_ids: Sequence[int], title: str) -> None:
        self._session.ask(
            lambda live: live.like(image_ids),
            lambda found: self._show(found, title),
            owner=self,
            topic="similar",
        )

    def _show(self, found: LikeImages, title: str) -> None:
        if not len(found.image_ids):
            self._toast.show_message(nothing_alike())
            return
        self._images.show_images(
            ImageSet(
                found.image_ids,
                title,
                is_ordered=True,
                order_name=by_similarity(),
                similarities=found.cosines,
            )
        )

    def stop(self) -> None:
        self._embedding.abandon()
