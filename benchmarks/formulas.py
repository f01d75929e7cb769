"""Time the formulas of sklearn_sl.theory: one number, and many at once.

There is no peer to agree with, so that this is a plain script, without the harness:

    python benchmarks/formulas.py            # those above the bar, and the slowest arrays
    python benchmarks/formulas.py --all      # every function
    python benchmarks/formulas.py --only binomial_upper,kl_upper

The bar is 20 us for a single number. Arrays have 10^6 elements, 10^5 with ``--size quick``.
"""

import argparse
import inspect
import time
import timeit

import numpy as np

from sklearn_sl import theory

BAR = 20e-6
SIZES = {"quick": 100_000, "full": 1_000_000}
# From where the arguments of a name are drawn, by a log-uniform law, and whether they are whole.
RANGES = {
    "Q": (0.1, 0.9, False),
    "alpha": (0.01, 0.9, False),
    "bayes_error": (0.01, 0.3, False),
    "beta": (0.1, 0.9, False),
    "constant": (0.5, 2.0, False),
    "cut": (1, 9, True),
    "delta": (1e-6, 0.5, False),
    "diameter": (5, 50, True),
    "disagreement": (0.001, 0.015, False),
    "domain_size": (2, 1e6, True),
    "epsilon": (0.01, 0.5, False),
    "eta": (0.01, 0.5, False),
    "gamma": (0.01, 0.4, False),
    "gibbs_error": (0.01, 0.4, False),
    "margin": (0.05, 0.9, False),
    "mean": (0.1, 0.9, False),
    "n_errors": (1, 500, True),
    "n_experts": (10, 100, True),
    "n_hypotheses": (2, 1e6, True),
    "n_kept": (1, 400, True),
    "n_literals": (1, 10, True),
    "n_members": (1001, 1001, True),
    "n_modes": (2, 5, True),
    "n_samples": (1000, 1e6, True),
    "n_shifts": (1, 20, True),
    "n_support": (1, 500, True),
    "n_switches": (5, 20, True),
    "n_tasks": (6, 50, True),
    "n_trials": (1000, 1e5, True),
    "n_variables": (10, 50, True),
    "nearest_neighbor_error": (0.01, 0.3, False),
    "p": (0.001, 0.9, False),
    "probability": (1e-9, 1e-3, False),
    "q": (0.001, 0.9, False),
    "rate": (0.001, 0.9, False),
    "ratio": (0.1, 0.9, False),
    "serial": (1, 1e6, True),
    "size": (5, 1000, True),
    "threshold": (0.01, 0.05, False),
    "variance": (0.001, 0.25, False),
    "vc_dimension": (1, 100, True),
    "width": (1, 9, True),
    "y": (1, 1, True),
}
# Arguments of some functions have another meaning, or are optional.
OTHERS = {
    "binomial_sample_size": {"n_errors": (1, 500, True)},
    "compression_bound": {"n_errors": (1, 500, True)},
    "chernoff_lower_tail": {"k": (1, 9, False), "mu": (10, 100, False)},
    "graph_cover_bound": {"p": (1.1, 2.0, False)},
    "wide_diameter_resistance": {"p": (1.1, 3.0, False)},
    "rms_width": {"low": (0.1, 0.2, False), "high": (0.5, 1.0, False)},
    "variable_share_bound": {"alpha": (0.01, 0.4, False)},
    "balanced_winnow_bound": {"alpha": (1.5, 3.0, False), "margin": (1.0, 2.0, False)},
    "log_class_size": {"size": (1, 20, True)},
    "matrix_completion_bound": {"size": (10, 1000, True), "dimension": (2, 9, False)},
    "sauer_shelah": {"n_points": (1000, 1e6, True)},
}
WORDS = {"family": "conjunctions", "loss": "hinge"}
# Not formulas of numbers: simulations, plans, functions of whole matrices and samples.
LEFT_OUT = {"batch_gradient_moment", "margin_bound", "weighted_average_bound"}


def formulas(only=None):
    """Yield the public functions that return a number or an array, and their names."""
    for name in theory.__all__:
        function = getattr(theory, name)
        if not inspect.isfunction(function) or (only and name not in only):
            continue
        returns = str(inspect.signature(function).return_annotation)
        if "np.ndarray" in returns and name not in LEFT_OUT:
            yield name, function


def arguments(name, function, size, rng):
    """Return random arguments of a function: ``size`` of each, or a number if it is None."""
    drawn = {}
    for key, parameter in inspect.signature(function).parameters.items():
        others = OTHERS.get(name, {})
        if parameter.default is not inspect.Parameter.empty and key not in others:
            continue
        if key in WORDS:
            drawn[key] = WORDS[key]
            continue
        whole_name = key.startswith("n_") or key in ("n", "k", "d", "size")
        low, high, whole = others.get(key) or RANGES.get(
            key, (2, 50, True) if whole_name else (0.5, 2.0, False)
        )
        value = np.exp(rng.uniform(np.log(low), np.log(high), size=size))
        value = np.round(value) if whole else value
        drawn[key] = (int(value) if whole else float(value)) if size is None else value
    return drawn


def main():
    """Print the times."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="every function")
    parser.add_argument("--only", type=lambda text: text.split(","), help="these functions")
    parser.add_argument("--size", choices=SIZES, default="full", help="of the arrays")
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    rows = []
    for name, function in formulas(options.only):
        single = arguments(name, function, None, rng)
        timer = timeit.Timer(lambda: function(**single))  # noqa: B023
        each = min(timer.repeat(5, 200)) / 200
        many = arguments(name, function, SIZES[options.size], rng)
        start = time.perf_counter()
        try:
            function(**many)
            seconds = time.perf_counter() - start
        except ValueError as error:
            print(f"{name} takes no arrays here: {error}")
            seconds = float("nan")
        rows.append((each, seconds, name))
    print(f"{'one, us':>9} {'array, s':>9}  function")
    for each, seconds, name in sorted(rows, reverse=True):
        if options.all or options.only or each > BAR or not seconds < 0.5:
            print(f"{each * 1e6:9.1f} {seconds:9.3f}  {name}{'  above the bar' * (each > BAR)}")
    print(f"{sum(each > BAR for each, _, _ in rows)} of {len(rows)} functions above {BAR:g} s")


if __name__ == "__main__":
    main()
