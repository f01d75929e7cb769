"""``compare --stream``: each row is predicted before it is learnt from."""

import dataclasses

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

from sklearn_sl._compare import candidates, cli, data, metrics, stream
from sklearn_sl.online import OnlineGradientDescentRegressor, Perceptron


@pytest.fixture(scope="module")
def cancer():
    return data.load("breast_cancer", stream=True)


def test_progressive_accuracy_is_that_of_a_loop_by_hand(cancer):
    candidate = candidates.candidate(Perceptron, candidates.OURS, {}, seed=0)
    result = stream.follow(cancer, candidate, metrics.metrics_of(cancer))
    first = stream.first_rows(len(cancer.y))
    X = StandardScaler().fit(cancer.X[:first]).transform(cancer.X)
    model = clone(candidate.estimator).partial_fit(X[:first], cancer.y[:first], classes=[0, 1])
    right = []
    for row, label in zip(X[first:], cancer.y[first:]):
        right.append(model.predict(row[None])[0] == label)
        model.partial_fit(row[None], [label])
    assert first == 56
    assert result.error == ""
    assert result.at[-1] == len(right)
    scores = [np.mean(right[:k]) for k in result.at]
    np.testing.assert_allclose(result.curve, scores, atol=2 / 20)  # a tie may be told otherwise
    assert result.score == pytest.approx(scores[-1], abs=2 / len(right))


def test_long_stream_is_told_in_blocks():
    assert stream.block_size(5000) == 1
    assert stream.block_size(5001) == 2
    assert stream.first_rows(10**6) == 100


@pytest.mark.parametrize("name", ["breast_cancer", "diabetes"])
def test_baseline_of_a_stream_does_not_look_at_the_features(name):
    dataset = data.load(name, stream=True)
    (baseline, *others), skipped = stream.candidates_of(dataset, None, (), seed=0)
    result = stream.follow(dataset, baseline, metrics.metrics_of(dataset))
    if name == "diabetes":
        assert -0.1 < result.score <= 0
    else:
        shares = np.cumsum(dataset.y == 1) / np.arange(1, len(dataset.y) + 1)
        assert abs(result.score - max(shares[-1], 1 - shares[-1])) < 0.1
    assert all(hasattr(other.estimator, "partial_fit") for other in others)
    assert "learns from all rows at once" in skipped.values()


@pytest.mark.parametrize("name", ["iris", "diabetes"])
def test_sorted_stream_is_told_of(name):
    dataset = data.load(name, stream=True)
    in_order, shuffled = np.argsort(dataset.y), np.random.default_rng(0).permutation(len(dataset.y))
    for rows, expected in ((in_order, True), (shuffled, False)):
        again = dataclasses.replace(dataset, X=dataset.X[rows], y=dataset.y[rows])
        assert stream.is_sorted(again) == expected


def test_number_of_the_target_does_not_depend_on_its_unit():
    dataset = data.load("diabetes", stream=True)
    candidate = candidates.candidate(OnlineGradientDescentRegressor, candidates.OURS, {}, seed=0)
    result = stream.follow(dataset, candidate, metrics.metrics_of(dataset))
    assert 0.2 < result.score < 0.6


def test_report_of_a_stream(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    arguments = ["compare", "iris", "--stream", "--estimators", "Perceptron,SVC"]
    assert cli.main(arguments) == 0
    output = capsys.readouterr()
    assert "Perceptron of" in output.out
    assert "RunningMajority, which does not look at the features" in output.out.replace("\n", " ")
    assert "[1/3] RunningMajority (baseline)" in output.err
    page = (tmp_path / "report.html").read_text()
    assert "told one by one" in page
    assert "Not run: 1 estimator (learns from all rows at once): SVC." in page
    assert page.count("<svg") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--stream", "--stream needs a data set: compare FILE --stream"),
        (
            "iris --stream --estimators SVC",
            "no estimator with partial_fit for classification among",
        ),
        ("iris --stream --resume", "--stream cannot be combined with --resume or --save"),
    ],
)
def test_stream_that_cannot_be_followed_is_one_line(
    arguments, message, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["compare", *arguments.split()]) == 2
    assert message in capsys.readouterr().err
