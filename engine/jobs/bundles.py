"""What a worker does about exported models of others."""

from typing import TYPE_CHECKING

from engine.events import CancelToken
from engine.jobs.backbones import held

if TYPE_CHECKING:
    from engine.collection.bundle.trying import BundleTrial, TryBundle
    from engine.worker.serve import Send


def try_bundle(request: "TryBundle", _send: "Send", cancel: CancelToken) -> "BundleTrial":
    """Classify a picture by an exported model in this process, held to limits."""
    from engine.collection.bundle.trying import classify_a_picture

    with held(request.limits, cancel):
        return classify_a_picture(request.folder)
