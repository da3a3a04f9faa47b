"""The estimator: scikit-learn's own checks, and typical uses."""

import pickle
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from protoleaf import PrototypePropagationClassifier, category_graph
from tests.support.collection_stage import crowd

CROWD = crowd()
NAME = CROWD.graph.name
EDGES = [(NAME(parent), NAME(child)) for parent, child in CROWD.graph.edges()]
LEAVES = sorted(map(NAME, CROWD.leaves))
FIRST = "leaf 0.0"
Made = tuple[NDArray[np.float32], NDArray[Any]]


def made() -> Made:
    """Embeddings of three families of four leaves, one with two parents, and their leaves."""
    return CROWD.embeddings, np.array(list(map(NAME, CROWD.truth.tolist())))


def some_labels(truth: NDArray[Any], count: int = 3) -> NDArray[Any]:
    """Labels of the first `count` rows of each leaf, None for the others."""
    y = np.full(len(truth), None, dtype=object)
    for leaf in LEAVES:
        rows = np.flatnonzero(truth == leaf)[:count]
        y[rows] = leaf
    return y


def fitted(**parameters: Any) -> PrototypePropagationClassifier:
    X, truth = made()
    return PrototypePropagationClassifier(EDGES, **parameters).fit(X, some_labels(truth))


@parametrize_with_checks([PrototypePropagationClassifier()])  # type: ignore[untyped-decorator]
def test_scikit_learn_s_own_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


def test_few_labels_classify_all() -> None:
    X, truth = made()
    model = fitted()
    assert model.classes_.tolist() == LEAVES
    assert model.score(X, truth) > 0.9
    assert (model.transduction_ == truth).mean() > 0.9
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1)
    assert model.transform(X).argmin(axis=1).shape == truth.shape


@pytest.mark.parametrize("method", ["ppn", "prototypes", "regression"])
def test_each_method(method: str) -> None:
    X, truth = made()
    assert fitted(method=method).score(X, truth) > 0.4


def test_unlabelled_rows_teach() -> None:
    X, truth = made()
    assert fitted().score(X, truth) > fitted(use_unlabelled=False).score(X, truth) + 0.05


def test_a_coarse_label_teaches() -> None:
    """Rows labelled with a family make it the safe class of the family's images."""
    X, truth = made()
    is_last = np.array([name.startswith("leaf 1") for name in truth])
    y = some_labels(truth)
    y[is_last] = None
    y[np.flatnonzero(is_last)[::20]] = "family 1"
    model = PrototypePropagationClassifier(EDGES).fit(X, y)
    safe = model.predict_safe(X[is_last])
    assert (safe == "family 1").mean() > 0.8
    assert model.transduction_[np.flatnonzero(is_last)[0]] == "family 1"


def test_what_is_like_none_is_unknown() -> None:
    """Images of a class without labels, among those of five with three labels each."""
    rng = np.random.default_rng(0)
    truth = np.arange(6).repeat(40)
    X = rng.normal(size=(6, 64))[truth] + 0.7 * rng.normal(size=(len(truth), 64))
    y = np.where((np.arange(len(truth)) % 40 < 3) & (truth < 5), truth, -1)
    model = PrototypePropagationClassifier(unknown="?").fit(X, y)
    is_unknown = model.predict_safe(X) == "?"
    assert is_unknown[truth == 5].mean() > 0.9
    assert is_unknown[truth < 5].mean() < 0.1
    assert model.explain(X[-1:])[0].is_unknown


@pytest.mark.slow
def test_a_higher_threshold_answers_less_deep() -> None:
    X, _ = made()
    deep = [
        np.isin(fitted(threshold=each).predict_safe(X), LEAVES).mean() for each in (0.3, 0.8, 0.99)
    ]
    assert deep[0] > deep[1] > deep[2]


@pytest.mark.parametrize(
    "graph",
    [
        category_graph(EDGES),
        nx.DiGraph(EDGES),
        dict.fromkeys(EDGES),
    ],
)
def test_graphs_of_each_kind(graph: Any) -> None:
    X, truth = made()
    model = PrototypePropagationClassifier(graph).fit(X, some_labels(truth))
    assert model.score(X, truth) > 0.9
    assert ("family 0", FIRST) in model.attention_


@pytest.mark.slow
def test_unlabelled_rows_in_each_form() -> None:
    """None, -1, and pandas's missing values, in arrays, lists and columns."""
    X, truth = made()
    labels = some_labels(truth)
    expected = PrototypePropagationClassifier().fit(X, labels).predict_proba(X)
    codes = np.array([-1 if each is None else LEAVES.index(each) for each in labels])
    forms = (labels.tolist(), pd.Series(labels), np.where(labels == None, -1, labels), codes)  # noqa: E711
    for y in (*forms, pd.Series(labels, dtype="string")):
        assert np.allclose(PrototypePropagationClassifier().fit(X, y).predict_proba(X), expected)
    numbered = PrototypePropagationClassifier().fit(X, codes)
    assert numbered.classes_.tolist() == list(range(len(LEAVES)))


def test_numbers_name_classes_of_a_graph() -> None:
    X, truth = made()
    y = np.array([LEAVES.index(each) for each in truth])
    edges = [(parent, LEAVES.index(child)) for parent, child in EDGES]
    model = PrototypePropagationClassifier(nx.DiGraph(edges)).fit(
        X, np.where(np.arange(len(y)) % 10, -1, y)
    )
    assert model.classes_.tolist() == list(range(len(LEAVES)))
    assert model.score(X, y) > 0.9


def test_classes_of_one_name_are_named_by_paths() -> None:
    X, truth = made()
    chosen = np.isin(truth, ["leaf 0.0", "leaf 1.0"])
    y = np.where(truth[chosen] == "leaf 0.0", "wild/cat", "tame/cat")
    graph = category_graph([("wild", "cat")])
    graph.add_class("cat", [graph.add_class("tame")])
    model = PrototypePropagationClassifier(graph).fit(X[chosen], y)
    assert model.classes_.tolist() == ["tame/cat", "wild/cat"]
    assert model.score(X[chosen], y) > 0.9
    with pytest.raises(ValueError, match="wild/cat"):
        PrototypePropagationClassifier(graph).fit(X[chosen], np.full(chosen.sum(), "cat"))


def test_a_class_without_rows_is_known_by_its_parents() -> None:
    """A leaf without labelled rows gets a prototype from its parents (zero-shot)."""
    X, truth = made()
    y = some_labels(truth)
    y[truth == FIRST] = None
    model = PrototypePropagationClassifier(EDGES).fit(X, y)
    assert FIRST in model.classes_
    assert model.own_shares_[FIRST] == 0
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1)


@pytest.mark.slow
def test_lambda_is_the_weight_of_one_row() -> None:
    """Three labelled rows at 0.25 weigh 3 / (3 + 3), by n / (n + (1 - lambda) / lambda)."""
    assert fitted(lambda_=0.25).own_shares_[FIRST] == pytest.approx(0.5)
    assert fitted(lambda_=1).own_shares_[FIRST] == 1


def test_explanations_name_rows_and_classes() -> None:
    X, truth = made()
    model = fitted(lambda_=0.5)
    row = np.flatnonzero(truth == FIRST)
    known, new = model.explain(np.stack([X[row[5]], X[row[5]] + 1e-3]))
    assert known.label == new.label == FIRST
    assert known.safe_label == model.predict_safe(X[row[5:6]])[0]
    assert known.own_rows == tuple(row[:3])
    assert set(known.parent_shares) == {"family 0"}
    total = known.own_share + sum(known.parent_shares.values()) + sum(known.coarse_shares.values())
    assert total + known.unlabelled_share == pytest.approx(1, abs=1e-3)
    assert truth[max(known.neighbours, key=lambda each: each[1])[0]] == FIRST
    assert new.neighbours == ()


@pytest.mark.slow
def test_it_is_the_same_each_time_and_after_pickling() -> None:
    X, _ = made()
    one, other = fitted(), fitted()
    assert (one.predict_proba(X) == other.predict_proba(X)).all()
    again = pickle.loads(pickle.dumps(one))  # noqa: S301 (trusted)
    assert (again.predict_proba(X) == one.predict_proba(X)).all()
    assert again.explain(X[:1]) == one.explain(X[:1])
    assert clone(one).get_params() == one.get_params()


@pytest.mark.slow
def test_pipelines_and_searches() -> None:
    X, truth = made()
    pipeline = make_pipeline(StandardScaler(), PrototypePropagationClassifier(EDGES))
    assert cross_val_score(pipeline, X, truth, cv=3).min() > 0.8
    grid = {"lambda_": ["auto", 0.5], "method": ["ppn+", "prototypes"]}
    search = GridSearchCV(PrototypePropagationClassifier(EDGES), grid, cv=2).fit(X, truth)
    assert search.best_score_ > 0.9
    assert search.predict(X[truth == FIRST][:1]).tolist() == [FIRST]


def test_tables_have_names() -> None:
    X, truth = made()
    table = pd.DataFrame(X, columns=[f"x{column}" for column in range(X.shape[1])])
    model = PrototypePropagationClassifier().fit(table, truth).set_output(transform="pandas")
    assert model.feature_names_in_.tolist() == table.columns.tolist()
    assert model.transform(table).columns.tolist() == [f"distance_{leaf}" for leaf in LEAVES]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(table.iloc[:, ::-1])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"method": "svm"}, "method must be one of ppn+, ppn, prototypes, regression, got 'svm'"),
        ({"threshold": 2}, "threshold must be in"),
        ({"lambda_": 0}, "lambda_ must be"),
        ({"lambda_": "some"}, "lambda_ must be"),
        ({"graph": [("a", "b"), ("b", "a")]}, "its own ancestor"),
        ({"graph": ["ab"]}, "an edge is not a pair"),
        ({"graph": "/nowhere/at/all.csv"}, "/nowhere/at/all.csv"),
        ({"graph": [("family 0", FIRST)]}, 'there is no class "leaf 0.1"'),
    ],
)
def test_parameters_that_cannot_be_used(parameters: dict[str, Any], message: str) -> None:
    X, truth = made()
    with pytest.raises(ValueError, match=message.replace("+", r"\+")):
        PrototypePropagationClassifier(**parameters).fit(X, truth)


@pytest.mark.parametrize(
    ("X", "y", "kind", "message"),
    [
        (sparse.csr_matrix(np.eye(3)), ["a", "b", "a"], TypeError, "dense data is required"),
        (np.eye(3), [None, None, None], ValueError, "no labelled row"),
        (np.eye(3), ["a", 1, None], ValueError, "both texts and numbers"),
        (np.eye(3), ["a", "b"], ValueError, "inconsistent numbers of samples"),
        (np.full((3, 2), np.nan), ["a", "b", "a"], ValueError, "contains NaN"),
        (np.eye(3), [0.1, 0.2, 0.35], ValueError, "Unknown label type"),
    ],
)
def test_input_that_cannot_be_used(X: Any, y: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        PrototypePropagationClassifier().fit(X, y)


def test_an_unfitted_one_says_so() -> None:
    for method in ("predict", "predict_safe", "explain", "transform"):
        with pytest.raises(NotFittedError):
            getattr(PrototypePropagationClassifier(), method)(np.eye(2))
