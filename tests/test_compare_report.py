"""The report of ``python -m sklearn_sl compare``: tables, pictures, and the page in a browser."""

import dataclasses
import re

import _browser
import numpy as np
import pytest
from _contestants import SVC
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_sl._compare import (
    candidates,
    certificates,
    data,
    diagnostics,
    metrics,
    page,
    race,
    report,
    significance,
    state,
    svg,
)
from sklearn_sl.kernel_ridge import KernelRidge
from sklearn_sl.svm import SVC as OurSVC

ODD = "<b>&\"'"


def made_up(name, library="sklearn_sl", error="", scores=(0.84, 0.86, 0.85, 0.85), **changes):
    """Return a result with the given scores, and the same times and texts in all folds."""
    fold = {"tune_time": 2.0, "fit_time": 0.01, "predict_time": 1e-4, "chosen": 0}
    fold |= {"settings": f"alpha={ODD}", "certificates": {"gap": 1e-9}, "warnings": ()}
    about = {name: changes.pop(name) for name in ("tunes_itself", "rival") if name in changes}
    fold |= changes
    folds = [race.Fold(scores={"accuracy": score, "roc_auc": 0.5}, **fold) for score in scores]
    return race.Result(name, library, "data", error, tuple(folds), "accuracy", **about)


RESULTS = [
    made_up("Low", scores=(0.1, 0.2, 0.15, 0.15)),
    race.Result("Fails", "sklearn_sl", "data", error=f"ValueError: {ODD}"),
    made_up("Ridge", rival="Ridge"),
    made_up("RidgeCV", tunes_itself=True, rival="Ridge", tune_time=0.1),
    made_up("Ridge", "scikit-learn", fit_time=0.03, warnings=(f"UserWarning: {ODD}",)),
    made_up("DummyClassifier", "baseline", scores=(0.5,) * 4),
]


def dataset_of(y=None):
    y = np.arange(400) % 2 if y is None else y
    X = np.random.default_rng(0).normal(size=(len(y), 2))
    notes = (f"column {ODD} dropped",)
    return data.Dataset(ODD, "classification", X, y, (), 2, notes, (f"{ODD}0", "one"))


def section_of(results=RESULTS, dataset=None, **more):
    dataset = dataset or dataset_of()
    return report.Section(dataset, metrics.metrics_of(dataset), list(results), 4, **more)


def diagnosis(**more):
    parts = {"sizes": (10, 20), "curve": (0.7, 0.8), "curve_sd": (0.1, 0.1)}
    parts |= {"confusion": ((20, 1), (3, 16)), "calibration": ((0.2, 0.1, 20), (0.8, 0.9, 20))}
    return diagnostics.Diagnosis(ODD, "sklearn_sl", **(parts | more))


# --- tables ---------------------------------------------------------------------


def test_table_is_sorted_by_score_then_name_with_failures_last():
    header, rows = report.result_table(section_of())
    places = {name.strip(): place for place, (name, _) in enumerate(header)}
    names = [(row[0], row[1]) for row in rows]
    assert names == [
        ("Ridge", "sklearn_sl"),
        ("Ridge", "scikit-learn"),
        ("RidgeCV", "sklearn_sl"),
        ("DummyClassifier", "baseline"),
        ("Low", "sklearn_sl"),
        ("Fails", "sklearn_sl"),
    ]
    assert rows[0][places["accuracy"]].text == "0.8500"
    assert rows[0][places["+- sd"]].text == "0.0071"
    assert rows[0][places["fit"]].text == "10 ms"
    assert rows[0][places["certificates"]].text == "gap 1e-09"
    assert rows[-1][-1].text == f"ValueError: {ODD}"


@pytest.mark.parametrize("width", [60, 80, 100, 120])
def test_text_is_as_narrow_as_the_terminal(width):
    table = report.result_table(section_of())
    lines = report.aligned(*table, width).splitlines()
    assert max(map(len, lines)) <= width
    assert lines[0].split()[:3] == ["estimator", "library", "accuracy"]
    assert "Fails" in lines[-1]
    assert len(report.aligned(*table).splitlines()[0]) > 120


def test_order_does_not_depend_on_times():
    slow = [
        made_up(
            r.name, r.library, scores=(0.5, 0.6, 0.5, 0.6), tune_time=9.0 - r.median("tune_time")
        )
        for r in RESULTS
        if r.ran
    ]
    names = [result.name for result in report.by_score(slow)]
    assert names == ["DummyClassifier", "Low", "Ridge", "Ridge", "RidgeCV"]


def test_speed_up_compares_like_with_like():
    ridge, ridge_cv = RESULTS[2], RESULTS[3]
    assert report.speed_up(ridge, RESULTS, "fit_time")[0] == pytest.approx(3)
    assert report.speed_up(ridge, RESULTS, "tune_time")[0] == pytest.approx(1)
    assert report.speed_up(ridge_cv, RESULTS, "tune_time")[0] == pytest.approx(20)
    assert report.speed_up(ridge_cv, RESULTS, "fit_time")[0] is None
    assert report.speed_up(RESULTS[0], RESULTS, "fit_time")[0] is None


def test_verdict_names_the_best_the_baseline_and_the_fastest_equal():
    text = report.verdict(section_of())
    assert "Ridge of sklearn_sl has the best accuracy, 0.85; without looking" in text
    assert "it would be 0.5. 2 others are not distinguishable" in text
    assert "RidgeCV of sklearn_sl is the fastest of these" in text


def test_verdict_does_not_praise_what_may_be_chance():
    results = [made_up("Ridge", scores=(0.52, 0.5, 0.53, 0.49)), RESULTS[-1]]
    assert "may be chance: no estimator was shown to learn anything" in report.verdict(
        section_of(results)
    )
    results = [made_up("Ridge", scores=(0.4, 0.4, 0.4, 0.4)), RESULTS[-1]]
    assert report.verdict(section_of(results)).startswith("No estimator is better than the base")
    assert report.verdict(section_of(RESULTS[1:2])).startswith("No estimator has a score")


def test_imbalance_is_warned_of_unless_the_score_knows_it():
    dataset = dataset_of(np.repeat([0, 1], [380, 20]))
    (warning,) = report.warnings_of(section_of(dataset=dataset))
    assert "has 95% of the rows" in warning
    section = section_of(dataset=dataset)
    section.metrics = metrics.metrics_of(dataset, "balanced_accuracy")
    assert report.warnings_of(section) == []


def test_those_that_did_not_take_part_are_told_of_once_for_each_reason():
    skipped = {f"Odd{number}": "a reason" for number in range(14)}
    text = report.text_report(section_of(skipped=skipped))
    assert text.count("a reason") == 1
    assert "not run: 14 estimators (a reason): Odd0, Odd1," in text


def test_those_that_were_not_started_are_named_below_the_table():
    late = [
        race.Result(f"Late{n}", "sklearn_sl", "data", error="not run (time budget)") for n in "ab"
    ]
    late.append(race.Result("Late", "scikit-learn", "data", error="not run (time budget)"))
    section = section_of(RESULTS + late)
    text, written = report.text_report(section), "".join(report.html_section(section))
    for shown in (text, written):
        assert shown.count("time budget") == 1
        assert "(time budget; --resume continues with them): Late of scikit-learn, Latea" in shown
    assert "Late" not in text.split("not run:")[0]


def test_ticks_are_round_and_inside():
    assert svg.Axis(0, 1, 0, 100).ticks == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1])
    assert svg.Axis(0.93, 0.98, 0, 100).ticks == pytest.approx(np.arange(0.93, 0.985, 0.01))
    assert svg.Axis(-3, 250, 0, 100).ticks == pytest.approx([0, 50, 100, 150, 200, 250])
    assert svg.Axis(1e-3, 10, 0, 100, log=True).ticks == pytest.approx([1e-3, 1e-2, 0.1, 1, 10])
    assert svg.Axis(0.15, 4, 0, 100, log=True).ticks == pytest.approx([0.2, 0.5, 1, 2])
    assert svg.Axis(5, 5, 0, 100)(5) == 50


def test_errors_among_many_classes_are_listed_the_commonest_first():
    counts = np.diag(np.full(30, 9))
    counts[3, 5], counts[4, 2] = 2, 7
    names = [f"c{number}" for number in range(30)]
    _, rows = report.commonest_errors(counts, names)
    assert [(row[0], row[1].text, row[2].text) for row in rows] == [
        ("c4", "c2", "7"),
        ("c3", "c5", "2"),
    ]


# --- numbers --------------------------------------------------------------------


def test_corrected_t_test_is_wider_than_the_plain_one():
    rng = np.random.default_rng(0)
    better, worse = rng.normal([[0.3], [0]], 1, size=(2, 10))
    from scipy import stats

    plain = stats.ttest_rel(better, worse)
    corrected = significance.corrected_t_test(better, worse, 1 / 9)
    by_hand = 2 * stats.t.sf(abs(plain.statistic) / np.sqrt(1 + 10 / 9), 9)
    assert corrected == pytest.approx(by_hand)
    assert significance.corrected_t_test(better, worse, 0.0) == pytest.approx(plain.pvalue)


def test_corrected_t_test_knows_that_shares_of_rows_vary():
    # One row more in each of three folds: nothing to be sure of, however equal the folds are.
    few, many = np.array([180, 181, 182]) / 190, np.array([181, 182, 183]) / 190
    assert significance.corrected_t_test(few, many, 1 / 2) < 1e-6
    assert significance.corrected_t_test(few, many, 1 / 2, n_test=190) > 0.3
    assert significance.corrected_t_test(few, few, 1 / 2) == 1.0


@pytest.mark.filterwarnings("ignore")
def test_corrected_t_test_is_rarely_wrong_between_equals():
    rng = np.random.default_rng(0)
    right = rng.random((400, 2, 300)) < 0.8  # two classifiers with errors of their own
    scores = right.reshape(400, 2, 5, 60).mean(axis=3)
    wrong = [significance.corrected_t_test(a, b, 1 / 4, 60) < 0.05 for a, b in scores]
    assert np.mean(wrong) < 0.05


def test_certificates_of_models_are_what_they_say():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] + 0.5 * rng.normal(size=60) > 0).astype(int)
    model = OurSVC().fit(X, y)
    found = certificates.certificates_of(model, X, y)
    gap = (model.duality_gap_ / model.primal_objective_).item()
    assert found["gap"] == pytest.approx(abs(gap))
    assert found["leave-one-out"] == pytest.approx(model.loo_error(X, y))
    ridge = KernelRidge(kernel="rbf").fit(X, y)
    assert certificates.certificates_of(ridge, X, y) == {"residual": ridge.residual_norm_}
    assert certificates.certificates_of(SVC().fit(X, y), X, y) == {}
    assert certificates.worst([{"gap": 1.0}, {"gap": 2.0, "residual": 0.5}]) == {
        "gap": 2.0,
        "residual": 0.5,
    }


def test_diagnosis_is_of_rows_that_were_not_learnt_from():
    iris = data.load("breast_cancer", cv=3)
    candidate = candidates.candidate(SVC, candidates.OURS, {"C": [0.1, 1.0]}, seed=0)
    ruling = metrics.metrics_of(iris)
    found = diagnostics.diagnose(iris, candidate, [0, 0, 0], cv=3, seed=0, metrics=ruling)
    model = make_pipeline(StandardScaler(), SVC(C=0.1))
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    answers = cross_val_predict(model, iris.X, iris.y, cv=folds)
    assert np.trace(found.confusion) == np.sum(answers == iris.y)
    assert found.sizes == (38, 76, 152, 265, 379)
    assert found.curve[-1] == pytest.approx(np.mean(answers == iris.y), abs=1e-3)
    assert found.calibration is None


def test_few_rows_of_many_classes_have_a_diagnosis():
    digits = data.load("digits", cv=3)
    rows = data.sample_rows(digits.y, 60, "classification", cv=3, seed=0)
    few = dataclasses.replace(digits, X=digits.X[rows], y=digits.y[rows])
    candidate = candidates.candidate(SVC, candidates.OURS, {}, seed=0)
    ruling = metrics.metrics_of(few)
    found = diagnostics.diagnose(few, candidate, [0, 0, 0], cv=3, seed=0, metrics=ruling)
    assert found.sizes == (40,)
    section = section_of(dataset=few, diagnoses=(found,))
    assert "Learning curves" in report.html_report([section], "")


def test_calibration_of_true_probabilities_is_the_diagonal():
    rng = np.random.default_rng(0)
    chance = rng.random(20_000)
    y = (rng.random(20_000) < chance).astype(int)
    bins = diagnostics.calibration(y, np.column_stack([1 - chance, chance]))
    assert len(bins) == diagnostics.BINS
    assert sum(rows for _, _, rows in bins) == 20_000
    assert all(abs(predicted - true) < 0.04 for predicted, true, _ in bins)


def test_metrics_are_those_of_scikit_learn():
    cancer = data.load("breast_cancer", cv=3)
    candidate = candidates.candidate(SVC, candidates.OURS, {}, seed=0)
    ruling = metrics.metrics_of(cancer, "neg_log_loss")
    assert [metric.label for metric in ruling[:2]] == ["log loss", "accuracy"]
    assert ruling[0].sign == -1
    fold = race.run_fold(cancer, candidate, 0, cv=3, seed=0, metrics=ruling)
    assert fold == "log loss cannot be computed: it gives no probabilities"
    ruling = metrics.metrics_of(cancer)
    fold = race.run_fold(cancer, candidate, 0, cv=3, seed=0, metrics=ruling)
    train, test = race.outer_splits(cancer, 3, 0)[0]
    model = make_pipeline(StandardScaler(), SVC()).fit(cancer.X[train], cancer.y[train])
    auc = roc_auc_score(cancer.y[test], model.decision_function(cancer.X[test]))
    assert fold.scores["roc_auc"] == pytest.approx(auc)
    assert np.isnan(fold.scores["neg_log_loss"])


@pytest.mark.parametrize("scoring", ["balanced_accuracy", "neg_log_loss"])
def test_estimator_that_tunes_itself_is_told_the_score_if_it_knows_it(scoring):
    iris = data.load("iris", cv=3)
    ruling = metrics.metrics_of(iris, scoring)
    names = ["SVCCV", "LaplacianInterpolationClassifierCV"]
    contests, _ = candidates.find_contests(iris, names, quick=True, scoring=scoring)
    svc, graph = (us for us, _ in contests)
    assert svc.estimator.scoring == scoring
    knows = scoring == "neg_log_loss"
    assert (graph.estimator.scoring == scoring) == knows
    fold = race.run_fold(iris, svc, 0, cv=3, seed=0, metrics=ruling)
    if knows:
        assert fold == "log loss cannot be computed: it gives no probabilities"
    else:
        assert fold.scores[scoring] > 0.9
        fold = race.run_fold(iris, graph, 0, cv=3, seed=0, metrics=ruling)
        assert fold.scores[scoring] > 0.8


# --- the page -------------------------------------------------------------------


def page_of(**more):
    section = section_of(skipped={ODD: "a reason"}, diagnoses=(diagnosis(),), **more)
    known = {"key": RESULTS[2], "other": RESULTS[1]}
    return report.html_report([section], f"python -m x {ODD}", state.dump(known))


def test_page_is_self_contained_and_escaped():
    text = page_of()
    assert not re.search(r"https?:|<link|@import|url\(|<img", text)
    assert "<b>" not in text
    assert ODD not in text.replace(state.dump({"key": RESULTS[2]}), "")
    assert text.count("<script") == 2
    assert " style=" not in text  # forbidden by the policy
    for piece in ("a reason", "a corrected resampled", "UserWarning"):
        assert piece.lower() in text.lower()


def test_results_in_the_page_are_read_again(tmp_path):
    path = tmp_path / "report.html"
    path.write_text(page_of(), encoding="utf-8")
    assert state.load(path) == {"key": RESULTS[2]}
    assert state.load(tmp_path / "nothing.html") == {}


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    path = _browser.find()
    if path is None:
        pytest.skip(_browser.MISSING)
    try:
        browser = _browser.Browser(path, tmp_path_factory.mktemp("profile"))
    except OSError as error:  # libraries that are missing, say
        pytest.skip(f"{path} does not start: {error}")
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(page_of(), encoding="utf-8")
    return path


COLUMN = "[...document.querySelector('table').tBodies[0].rows].map(row => row.cells[0].innerText)"


def test_browser_sorts_the_table_and_obeys_the_policy(browser, written):
    browser.open(written)
    before = browser.run(COLUMN)
    browser.run("document.querySelectorAll('table th button')[0].click()")
    assert browser.run(COLUMN) == sorted(before, key=str.lower)
    assert browser.run("document.querySelector('th').ariaSort") == "ascending"
    browser.run("document.querySelectorAll('table th button')[2].click()")
    scores = browser.run(
        "[...document.querySelector('table').tBodies[0].rows].map(row => row.cells[2].innerText)"
    )
    assert scores == ["0.1500", "0.5000", "0.8500", "0.8500", "0.8500", "-"]
    assert browser.complaints() == []
    browser.run(
        "document.body.append(document.createElement('script'));"
        "document.body.lastChild.textContent = 'window.broken = 1'"
    )
    assert browser.run("window.broken") is None  # no other script runs
    assert browser.complaints() != []


@pytest.mark.parametrize("dark", [False, True])
def test_page_fits_a_phone_and_has_contrast(browser, written, dark):
    browser.open(written, width=390, dark=dark)
    assert browser.run("document.documentElement.scrollWidth") <= 390
    colours = browser.run(
        "['.soft', 'a, th[scope=row]', '.failed td'].map(kind => document.querySelector(kind))"
        ".concat(document.body).map((e, n) => getComputedStyle(e)[n < 3 ? 'color' : "
        "'backgroundColor'])"
    )
    *inks, paper = (luminance(colour) for colour in colours)
    for ink in inks:
        light, deep = max(ink, paper), min(ink, paper)
        assert (light + 0.05) / (deep + 0.05) >= 4.5, colours  # WCAG 2, level AA
    assert (paper < 0.2) == dark


def luminance(colour):
    """Return the relative luminance of a colour such as "rgb(1, 2, 3)"."""
    parts = np.array(re.findall(r"\d+", colour)[:3], dtype=float) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def test_page_speaks_to_those_who_do_not_see_it(browser, written):
    browser.open(written, scripts=False)
    assert browser.run("1") == 1  # the page is complete without its script
    text = written.read_text()
    pictures = re.findall(r"<svg.*?</svg>", text, re.DOTALL)
    assert len(pictures) == 4
    assert all(re.match(r'<svg [^>]*role="img"[^>]*><title>', picture) for picture in pictures)
    assert text.count("<caption>") == text.count("<table")
    assert text.count('<html lang="en">') == text.count("<main>") == text.count("<h1>") == 1
    assert 'scope="col"' in text
    assert 'scope="row"' in text


def test_names_of_styles_are_those_of_the_page():
    text = page.document("t", [])
    style, script = re.search("<style>(.*?)</style>", text, re.DOTALL)[1], page.SCRIPT
    assert page.named(style) in text
    assert f"<script>{script}</script>" in text
    assert page.named(script) in text
