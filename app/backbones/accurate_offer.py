"""Offers the accurate backbone to a project that uses the fast one: once, in a line above the images."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import QObject

from app.backbones.logic import AccurateOffer, accurate_offer
from app.backbones.wording import offer_text
from app.texts import tr
from engine.config import sample_folder

if TYPE_CHECKING:
    from app.session import Session
    from app.settings import Settings
    from app.status.notice import Notice
    from engine.backbones.choices import OfferedBackbone

OFFER: Final = "accurate backbone"


@final
class OfferLine(QObject):
    """Asks the project once it is classified, and says nothing where there is nothing to gain."""

    def __init__(
        self, session: Session, settings: Settings, notice: Notice, compare: Callable[[OfferedBackbone], None]
    ) -> None:
        super().__init__(session)
        self._session = session
        self._settings = settings
        self._notice = notice
        self._compare = compare
        session.loaded.connect(self._look)
        session.change_made.connect(lambda change: self._notice.hide() if change.settings else None)

    def _look(self) -> None:
        info = self._session.info
        if info is not None and not info.path.is_relative_to(sample_folder()):  # the sample is there to be tried
            self._session.ask(accurate_offer, self._on_found, owner=self, topic=OFFER)

    def _on_found(self, offer: AccurateOffer | None) -> None:
        if offer is None or self._settings.was_offered(offer.project_id):
            return
        self._settings.remember_offered(offer.project_id)
        answers = [(tr("Compare…"), lambda: self._compare(offer.backbone)), (tr("Not now"), lambda: None)]
        self._notice.ask(offer_text(offer.backbone), answers)
