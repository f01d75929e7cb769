"""The benchmark harness: agreement before times, bars, growth, the JSON file."""

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pytest

PATH = Path(__file__).parents[1] / "benchmarks" / "_harness.py"


@pytest.fixture(scope="module")
def harness():
    """Import the harness from its path: ``benchmarks`` is no package."""
    spec = importlib.util.spec_from_file_location("_benchmark_harness", PATH)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    module.PAUSE = 0.0  # for quiet clocks: these tests look at what was measured, not how well
    yield module
    del sys.modules[spec.name]


@pytest.fixture
def candidate(harness):
    """Return a maker of candidates that predict a constant and log their calls."""

    def make(value=1.0, calls=None, **options):
        def fit(data):
            if calls is not None:
                calls.append(value)
            return value

        return harness.Candidate(fit, lambda model, data: np.full(3, model), **options)

    return make


@pytest.fixture
def job(harness):
    """Return a maker of jobs whose data is n itself."""

    def make(candidates, **options):
        options = {"sizes": [10], "agree": harness.same_predictions(1e-6)} | options
        return harness.Job("job", lambda n: n, candidates, **options)

    return make


def clocked(harness, monkeypatch, seconds):
    """Replace the measurement: ``seconds(value, data)`` is what each fit costs."""

    def measured(call, *arguments):
        value = call(*arguments)
        wall = seconds(value, arguments[-1]) if len(arguments) == 1 else 1.0
        return value, harness.Run(wall, wall, 2**20)

    monkeypatch.setattr(harness, "measured", measured)


def test_disagreement_raises_before_any_timed_run(harness, candidate, job):
    calls, lines = [], []
    candidates = {"ours": candidate(1.0, calls), "peer": candidate(1.5, calls)}
    with pytest.raises(harness.Disagreement, match=r"'peer' differ from 'ours' by 0\.5"):
        harness.run_job(job(candidates), lines.append)
    assert calls == [1.0, 1.5]
    assert lines == []


def test_nan_is_a_disagreement(harness, candidate, job):
    candidates = {"ours": candidate(1.0), "peer": candidate(np.nan)}
    with pytest.raises(harness.Disagreement, match="nan"):
        harness.run_job(job(candidates), lambda line: None)


def test_runs_are_round_robin_after_the_agreement(harness, candidate, job):
    calls = []
    names = {"ours": 1.0, "peer": 1.0 + 1e-9}
    candidates = {name: candidate(value, calls) for name, value in names.items()}
    result = harness.run_job(job(candidates, repeat=2), lambda line: None)
    assert calls == list(names.values()) * 3
    assert [len(row.fit.runs) for row in result.rows] == [2, 2]


def test_a_candidate_marked_once_runs_once_and_small_ones_stay_small(harness, candidate, job):
    calls = []
    candidates = {"ours": candidate(), "slow": candidate(1.0, calls, once=True, max_size=10)}
    result = harness.run_job(job(candidates, sizes=[10, 20]), lambda line: None)
    assert calls == [1.0]
    assert [(row.n, row.name) for row in result.rows] == [(10, "ours"), (10, "slow"), (20, "ours")]
    assert len(result.row("slow").fit.runs) == 1


def test_growth_exponent_of_a_power_law(harness):
    sizes = np.array([1_000, 2_000, 8_000])
    assert harness.growth_exponent(sizes, 3e-9 * sizes**2.5) == pytest.approx(2.5)
    assert np.isnan(harness.growth_exponent([10], [1.0]))


def test_growth_ratio_and_scale_come_from_the_medians(harness, candidate, job, monkeypatch):
    clocked(harness, monkeypatch, lambda value, n: n**2 * (1.0 if value == 1.0 else 4.0))
    candidates = {"ours": candidate(1.0), "peer": candidate(1.0 + 1e-9, scale=2.0)}
    result = harness.run_job(job(candidates, sizes=[10, 20]), lambda line: None)
    assert result.growth("ours") == pytest.approx(2.0)
    assert result.ratio("ours", "peer") == pytest.approx(1 / 8)
    assert result.ratio("ours", "peer", "predict", n=10) == pytest.approx(1.0)


def test_bars_are_met_missed_or_not_measured(harness, candidate, job, monkeypatch):
    clocked(harness, monkeypatch, lambda value, n: value)
    bars = [
        harness.Bar("loose", lambda r: r.ratio("ours", "ours"), 1.0),
        harness.Bar("tight", lambda r: r.ratio("ours", "ours"), 0.5),
        harness.Bar("absent", lambda r: r.ratio("ours", "peer"), 0.5),
    ]
    result = harness.run_job(job({"ours": candidate()}, bars=bars), lambda line: None)
    verdicts = [bar.verdict for bar in result.verdicts()]
    assert verdicts[:2] == ["met", "MISSED"]
    assert verdicts[2].startswith("not measured: peer")


def test_a_nan_measurement_is_a_missed_bar(harness):
    assert harness.Bar("nan", lambda result: np.nan, 1.0).judge(None).verdict == "MISSED"


def test_missing_peer_is_a_line_not_an_error(harness, candidate, job):
    peer = harness.optional_peer("no_such_peer.module", lambda module: module.Model)
    lines = []
    result = harness.run_job(job({"ours": candidate(), "peer": peer}), lines.append)
    assert lines[0] == "job: peer peer left out (cannot import no_such_peer)"
    assert [row.name for row in result.rows] == ["ours"]
    assert harness.optional_import("json") is json
    assert not harness.optional_import("no_such_peer")


def test_estimator_candidate_fits_and_predicts(harness, rng_split, job):
    from sklearn.linear_model import LinearRegression, Ridge

    candidates = {
        "ols": harness.estimator(LinearRegression),
        "ridge": harness.estimator(lambda: Ridge(alpha=1e-12)),
    }
    one_job = job(candidates, repeat=1, agree=harness.same_predictions(1e-6))
    one_job = harness.Job(**(vars(one_job) | {"make_data": lambda n: rng_split(n)}))
    result = harness.run_job(one_job, lambda line: None)
    assert all(row.predict.runs[0].wall > 0 for row in result.rows)


@pytest.fixture
def rng_split(harness):
    """Return a maker of linear data."""

    def make(n):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(2 * n, 3))
        y = X @ [1.0, 2.0, 3.0] + rng.normal(size=2 * n)
        return harness.Split(X[:n], y[:n], X[n:], y[n:])

    return make


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="VmHWM is reset on Linux only")
def test_peak_memory_sees_what_was_freed_and_forgets_what_came_before(harness):
    np.ones(2**24)  # 128 MiB, an earlier and larger peak
    _, run = harness.measured(lambda: float(np.ones(2**22).sum()))  # 32 MiB, freed
    if run.peak is None:
        pytest.skip("the high-water mark cannot be reset here")
    assert 2**25 * 0.9 < run.peak < 2**25 * 1.5


def run_main(harness, jobs, folder, *options):
    """Run the command line on ``jobs``; return exit code and printed lines."""
    lines = []
    argv = ["--results", str(folder), *options]
    code = harness.main("topic", lambda size: jobs, argv, peers=("no-such-peer",), log=lines.append)
    return code, "\n".join(lines)


def test_json_holds_versions_rows_growth_and_bars(
    harness, candidate, job, tmp_path, monkeypatch, capsys
):
    clocked(harness, monkeypatch, lambda value, n: n / 10)
    bars = [harness.Bar("tight", lambda r: r.peak("ours") / 2**20, 0.5)]
    jobs = [job({"ours": candidate()}, sizes=[10, 20], bars=bars)]
    code, text = run_main(harness, jobs, tmp_path, "--repeat", "2", "--size", "full")
    assert code == 0  # a missed bar is reported, nothing more
    assert "MISSED" in text and "n^1.00" in text

    contents = json.loads((tmp_path / "topic.json").read_text())
    entry = contents["jobs"]["job"]
    assert (contents["topic"], entry["size"], entry["repeat"]) == ("topic", "full", 2)
    assert entry["growth"] == {"ours": pytest.approx(1.0)}
    assert entry["bars"] == [{"name": "tight", "measured": 1.0, "limit": 0.5, "verdict": "MISSED"}]
    assert [row["n"] for row in entry["rows"]] == [10, 20]
    assert entry["rows"][1]["fit"]["median_s"] == 2.0
    assert entry["rows"][1]["fit"]["runs_s"] == [2.0, 2.0]
    packages = entry["environment"]["packages"]
    assert packages["numpy"] == np.__version__
    assert packages["sklearn-sl"] and packages["no-such-peer"] is None


def test_json_holds_no_path_and_no_host(harness, candidate, job, tmp_path):
    import platform

    jobs = [job({"ours": candidate()}, repeat=1)]
    run_main(harness, jobs, tmp_path)
    text = (tmp_path / "topic.json").read_text()
    assert str(Path.home()) not in text and str(PATH.parents[1]) not in text
    assert "filepath" not in text and sys.prefix not in text
    assert len(platform.node()) < 4 or platform.node() not in text


def test_disagreement_exits_with_one_prints_no_time_and_runs_the_other_jobs(
    harness, candidate, job, tmp_path
):
    bad = job({"ours": candidate(1.0), "peer": candidate(2.0)})
    good = harness.Job(**(vars(job({"ours": candidate()}, repeat=1)) | {"name": "good"}))
    code, text = run_main(harness, [bad, good], tmp_path)
    assert code == 1
    assert "DISAGREEMENT" in text.split("good")[0] and "fit" not in text.split("good")[0]
    entries = json.loads((tmp_path / "topic.json").read_text())["jobs"]
    assert entries["job"]["error"].startswith("disagreement: predictions of 'peer'")
    assert "rows" not in entries["job"] and "rows" in entries["good"]


def test_chosen_jobs_replace_their_entries_only(harness, candidate, job, tmp_path):
    one = job({"ours": candidate()}, repeat=1)
    two = harness.Job(**(vars(one) | {"name": "other"}))
    run_main(harness, [one, two], tmp_path)
    run_main(harness, [one, two], tmp_path, "--jobs", "oth", "--repeat", "3")
    jobs = json.loads((tmp_path / "topic.json").read_text())["jobs"]
    assert {name: entry["repeat"] for name, entry in jobs.items()} == {"job": 1, "other": 3}


def test_unknown_job_is_refused(harness, candidate, job, tmp_path, capsys):
    with pytest.raises(SystemExit):
        run_main(harness, [job({"ours": candidate()})], tmp_path, "--jobs", "nothing")
    assert "there are: job" in capsys.readouterr().err


def test_bars_over_several_jobs_are_judged_on_the_file(
    harness, candidate, job, tmp_path, monkeypatch
):
    """Ours takes 1/2 and 1/8 of the peer's time: the geometric mean is 1/4."""
    clocked(harness, monkeypatch, lambda value, n: n ** (value > 1.0))
    pair = {"ours": candidate(1.0), "peer": candidate(1.0 + 1e-9)}
    jobs = [
        harness.Job(**(vars(job(pair, sizes=[n])) | {"name": name}))
        for name, n in (("easy", 2), ("hard", 8))
    ]

    def make_overall(size):
        def mean(entries):
            return harness.geometric_mean_ratio(entries, ["easy", "hard"], "peer")

        return [harness.Bar("mean", mean, 0.3)]

    def overall(*options):
        argv = ["--results", str(tmp_path), *options]
        harness.main(
            "topic", lambda size: jobs, argv, log=lambda line: None, make_overall=make_overall
        )
        return json.loads((tmp_path / "topic.json").read_text())["overall"]["bars"][0]

    assert overall("--jobs", "hard")["verdict"] == "not measured: fit of peer, job easy"
    assert overall("--jobs", "easy") == {
        "name": "mean",
        "measured": pytest.approx(0.25),
        "limit": 0.3,
        "verdict": "met",
    }
    assert overall("--jobs", "hard", "--size", "full")["measured"] is None
