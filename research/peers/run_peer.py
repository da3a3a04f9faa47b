"""Classify exported draws by a method of another library, in the environment of the peers.

Run: python run_peer.py METHOD DRAW.npz ...

DRAW.npz holds
    support: (s, d) float32 embeddings of the labelled images.
    classes: (s,) int64 in [0, c), their classes.
    queries: (q, d) float32 embeddings of all images to classify.
    paths: (c, l) int64 class ids from the root to each class; shorter paths repeat their last id.

Output, DRAW-METHOD.npz next to it:
    classes: (q,) int64, predicted.
    scores: (q,) float64 in [0, 1], the probability that the library gives the predicted class.
    seconds: of the processor for fitting and predicting, without imports.

It imports nothing of the program, whose libraries may conflict with those of the peers.
"""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

ITERATIONS = 1000
"""Most iterations of logistic regression; scikit-learn's 100 do not always converge."""

EASYFSL = ("torch", "easyfsl.methods")
LINEAR = ("sklearn.linear_model", "sklearn.pipeline", "sklearn.preprocessing")
GRAPH = ("sklearn.semi_supervised",)

Scores = Callable[[], NDArray[np.float64]]
"""Compute scores (q,); called after the clock has stopped, as some libraries need another pass."""


@dataclass(frozen=True)
class ExportedDraw:
    """The arrays of DRAW.npz."""

    support: NDArray[np.float32]
    classes: NDArray[np.int64]
    queries: NDArray[np.float32]
    paths: NDArray[np.int64]


@dataclass(frozen=True)
class Peer:
    """A method of another library.

    Attributes:
        title: for tables.
        modules: imported before the clock starts.
        predict: gives classes (q,) and their scores.
        is_transductive: whether it learns from the images to classify, too.
        has_graph: whether it learns from the hierarchy.
    """

    title: str
    modules: tuple[str, ...]
    predict: Callable[[ExportedDraw], tuple[NDArray[np.int64], Scores]]
    is_transductive: bool = False
    has_graph: bool = False


def by_easyfsl(
    name: str, draw: ExportedDraw, *, is_centred: bool = False
) -> tuple[NDArray[np.int64], Scores]:
    """Classify by a few-shot classifier of easyfsl with default settings on an identity backbone.

    Args:
        name: of the class in `easyfsl.methods`.
        draw: what to classify.
        is_centred: whether the library subtracts the mean of all images of the draw and normalises
            to length 1.
    """
    torch, methods = import_module("torch"), import_module("easyfsl.methods")
    support, queries = torch.from_numpy(draw.support), torch.from_numpy(draw.queries)
    settings: dict[str, Any] = {"backbone": torch.nn.Identity(), "use_softmax": True}
    if is_centred:
        settings |= {
            "feature_centering": torch.cat([support, queries]).mean(0),
            "feature_normalization": 2.0,
        }
    if name == "MatchingNetworks":
        settings |= _without_context(torch, draw.support.shape[1])
    model = getattr(methods, name)(**settings).eval()
    with torch.no_grad():
        model.process_support_set(support, torch.from_numpy(draw.classes))
        output = model(queries)
    return _most_probable(output.numpy().astype(np.float64), np.arange(len(draw.paths)))


def _without_context(torch: Any, width: int) -> dict[str, Any]:
    """Identity encoders; the library's own are LSTMs that have to be trained."""

    class Support(torch.nn.Module):  # type: ignore[misc]
        def forward(self, support: Any) -> Any:
            return torch.zeros(1, support.shape[1], 2 * width), None

    class Query(torch.nn.Module):  # type: ignore[misc]
        def forward(self, _queries: Any, state: Any) -> Any:
            return torch.zeros_like(state[0]), state[1]

    return {"feature_dimension": width, "support_encoder": Support(), "query_encoder": Query()}


def by_logistic_regression(
    draw: ExportedDraw, *, is_scaled: bool = False
) -> tuple[NDArray[np.int64], Scores]:
    """Classify by scikit-learn's logistic regression."""
    model = _logistic_regression(is_scaled=is_scaled).fit(draw.support, draw.classes)
    return _most_probable(model.predict_proba(draw.queries), model.classes_)


def by_self_training(
    draw: ExportedDraw, *, is_scaled: bool = False
) -> tuple[NDArray[np.int64], Scores]:
    """Classify by scikit-learn's self-training around logistic regression."""
    base = _logistic_regression(is_scaled=is_scaled)
    model = (
        import_module("sklearn.semi_supervised")
        .SelfTrainingClassifier(base)
        .fit(*_all_images(draw))
    )
    return _most_probable(model.predict_proba(draw.queries), model.classes_)


def by_graph_of_images(
    name: str, draw: ExportedDraw, *, kernel: str = "rbf"
) -> tuple[NDArray[np.int64], Scores]:
    """Classify by label propagation or label spreading of scikit-learn over all images."""
    model = getattr(import_module("sklearn.semi_supervised"), name)(kernel=kernel).fit(
        *_all_images(draw)
    )
    return _most_probable(model.label_distributions_[len(draw.support) :], model.classes_)


def by_hiclass(
    name: str, draw: ExportedDraw, *, is_scaled: bool = False
) -> tuple[NDArray[np.int64], Scores]:
    """Classify by local logistic regressions of hiclass along the hierarchy."""
    model = getattr(import_module("hiclass"), name)(
        local_classifier=_logistic_regression(is_scaled=is_scaled)
    )
    paths = draw.paths.astype(str)
    model.fit(draw.support, paths[draw.classes])
    leaves = model.predict(draw.queries).reshape(len(draw.queries), -1)[:, -1].astype(str)
    position_of = {leaf: position for position, leaf in enumerate(paths[:, -1].tolist())}

    def scores() -> NDArray[np.float64]:
        probabilities, column_of = (
            model.predict_proba(draw.queries),
            model.class_to_index_mapping_[-1],
        )
        columns = [column_of[leaf] for leaf in leaves.tolist()]
        return np.asarray(probabilities[np.arange(len(leaves)), columns], dtype=np.float64)

    return np.array([position_of[leaf] for leaf in leaves.tolist()], dtype=np.int64), scores


def _logistic_regression(*, is_scaled: bool) -> Any:
    model = import_module("sklearn.linear_model").LogisticRegression(max_iter=ITERATIONS)
    if not is_scaled:
        return model
    scaler = import_module("sklearn.preprocessing").StandardScaler()
    return import_module("sklearn.pipeline").make_pipeline(scaler, model)


def _all_images(draw: ExportedDraw) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Embeddings (s + q, d) and classes (s + q,), -1 for unlabelled ones, for scikit-learn."""
    unlabelled = np.full(len(draw.queries), -1)
    return np.concatenate([draw.support, draw.queries]), np.concatenate([draw.classes, unlabelled])


def _most_probable(
    probabilities: NDArray[np.float64], classes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], Scores]:
    """The class of the largest value of each row (q, c), and its share of the row as score."""
    best = probabilities.argmax(axis=1)
    largest, sums = probabilities.max(axis=1), probabilities.sum(axis=1)
    return classes[best], lambda: np.divide(largest, sums, out=np.zeros(len(sums)), where=sums > 0)


def _easyfsl(key: str, name: str, title: str, *, is_transductive: bool = False) -> dict[str, Peer]:
    """A method of easyfsl on plain and on centred embeddings."""
    title = f"easyfsl {title}"
    return {
        key: Peer(title, EASYFSL, partial(by_easyfsl, name), is_transductive),
        f"{key}-centred": Peer(
            f"{title}, centred",
            EASYFSL,
            partial(by_easyfsl, name, is_centred=True),
            is_transductive=True,
        ),
    }


def _linear(
    key: str,
    title: str,
    predict: Callable[..., tuple[NDArray[np.int64], Scores]],
    modules: Sequence[str] = (),
    *,
    is_transductive: bool = False,
    has_graph: bool = False,
) -> dict[str, Peer]:
    """A method around logistic regression, on plain and on standardised embeddings."""
    needed, scaled = (*LINEAR, *modules), partial(predict, is_scaled=True)
    return {
        key: Peer(title, needed, predict, is_transductive, has_graph),
        f"{key}-scaled": Peer(f"{title}, standardised", needed, scaled, is_transductive, has_graph),
    }


def _over_images(key: str, name: str, title: str) -> dict[str, Peer]:
    """A graph-based method of scikit-learn, with both of its kernels."""
    title = f"scikit-learn {title}"
    return {
        f"{key}-{kernel}": Peer(
            f"{title}, {kernel}",
            GRAPH,
            partial(by_graph_of_images, name, kernel=kernel),
            is_transductive=True,
        )
        for kernel in ("rbf", "knn")
    }


PEERS: Mapping[str, Peer] = {
    **_easyfsl("prototypical-networks", "PrototypicalNetworks", "Prototypical Networks"),
    **_easyfsl("simple-shot", "SimpleShot", "SimpleShot"),
    **_easyfsl("matching-networks", "MatchingNetworks", "Matching Networks, no context"),
    **_easyfsl("finetune", "Finetune", "Finetune"),
    **_easyfsl("bd-cspn", "BDCSPN", "BD-CSPN", is_transductive=True),
    **_easyfsl("laplacian-shot", "LaplacianShot", "LaplacianShot", is_transductive=True),
    **_easyfsl("pt-map", "PTMAP", "PT-MAP", is_transductive=True),
    **_easyfsl("tim", "TIM", "TIM", is_transductive=True),
    **_easyfsl(
        "transductive-finetuning",
        "TransductiveFinetuning",
        "Transductive Finetuning",
        is_transductive=True,
    ),
    **_linear("logistic-regression", "scikit-learn logistic regression", by_logistic_regression),
    **_linear(
        "self-training",
        "scikit-learn self-training",
        by_self_training,
        modules=GRAPH,
        is_transductive=True,
    ),
    **_over_images("label-propagation", "LabelPropagation", "label propagation"),
    **_over_images("label-spreading", "LabelSpreading", "label spreading"),
    **_linear(
        "per-node",
        "hiclass per node",
        partial(by_hiclass, "LocalClassifierPerNode"),
        ["hiclass"],
        has_graph=True,
    ),
    **_linear(
        "per-parent-node",
        "hiclass per parent node",
        partial(by_hiclass, "LocalClassifierPerParentNode"),
        ["hiclass"],
        has_graph=True,
    ),
}


def main(words: Sequence[str]) -> None:
    """Classify draws and write the predictions.

    Args:
        words: name of the method, files of the draws.
    """
    method, *files = words
    peer = PEERS[method]
    for module in peer.modules:
        import_module(module)
    for file in files:
        with np.load(file) as arrays:
            draw = ExportedDraw(**arrays)
        start = time.process_time()
        classes, scores = peer.predict(draw)
        seconds = time.process_time() - start
        target = f"{file.removesuffix('.npz')}-{method}.npz"
        np.savez(target, classes=classes, scores=scores(), seconds=np.float64(seconds))


if __name__ == "__main__":
    main(sys.argv[1:])
