"""Paragraphs of docstrings that several online learners share."""

from inspect import cleandoc

from sklearn_sl._docstrings import inserter

ENTRIES = dict(
    arms="""
    arms_ : ndarray of shape (n_rounds,)
        The arms of the last :meth:`replay`.
    """,
    best_arm="""
    best_arm_ : int or None
        The arm that ``regret_`` compares with.
    """,
    best_expert="""
    best_expert_ : int
        The single expert against whom the learner's regret is largest.
    """,
    block_size="""
    block_size : int, default=1
        How many samples such clones predict, and later learn, at a time. Learners of
        :mod:`sklearn_sl.online` always go one by one.
    """,
    block_size_classifiers="""
    block_size : int, default=1
        How many samples such clones predict, and later learn, at a time.
    """,
    bounds="""
    bounds_ : tuple
        The range of outcomes.
    """,
    bounds_of_outcomes="""
    bounds : tuple (low, high), default=None
        The range of outcomes. An outcome outside raises an error; advice outside is moved to the
        nearer bound. None takes the range of the outcomes of ``fit``, or of the first
        ``partial_fit``.
    """,
    classes="""
    classes_ : ndarray of shape (n_classes,)
        The classes.
    """,
    coef="""
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights.
    """,
    coef_of_one="""
    coef_ : ndarray of shape (n_features,)
        Weights.
    """,
    converged="""
    converged_ : bool
        Whether the last pass of ``fit`` was clean.
    """,
    converged_without_mistake="""
    converged_ : bool
        Whether the last pass of ``fit`` was without a mistake.
    """,
    cumulative_loss="""
    cumulative_loss_ : float
        The number of mistakes.
    """,
    cumulative_loss_of_arms="""
    cumulative_loss_ : float
        The sum of the losses of the chosen arms.
    """,
    cumulative_loss_of_learner="""
    cumulative_loss_ : float
        The loss of the learner in all trials.
    """,
    early_stopping="""
    early_stopping : bool, default=False
        Whether to set samples aside and end the fit when their score has not increased by ``tol``
        for ``n_iter_no_change`` passes.
    """,
    estimators="""
    estimators_ : list of estimators
        The experts, if there are ``estimators``.
    """,
    estimators_as_experts="""
    estimators : list of estimators or of (name, estimator), default=None
        The experts, which are asked about the samples ``X``; see :class:`WeightedAverage`. None:
        the columns of ``X`` are the advice.
    """,
    eta="""
    eta_ : float
        The learning rate.
    """,
    eta_or_auto="""
    eta : float or "auto", default="auto"
        The learning rate. "auto" is the largest one of the theorem; the absolute loss has none for
        the average.
    """,
    expert_losses="""
    expert_losses_ : ndarray of shape (n_experts,)
        The loss of each expert in the trials in which it did not abstain.
    """,
    expert_names="""
    expert_names_ : ndarray of shape (n_experts,)
        Their names.
    """,
    features_in="""
    n_features_in_ : int
        Number of features seen during fit.

    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of features seen during fit, if all of them are strings.
    """,
    fit_intercept="""
    fit_intercept : bool, default=True
        Whether there is an intercept ``b``.
    """,
    high="""
    high : float, default=1.0
        The largest possible loss.
    """,
    horizon="""
    horizon : int, default=None
        The number of trials, for "auto"; None is the number of samples of ``fit``.
    """,
    intercept="""
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    """,
    intercept_of_one="""
    intercept_ : ndarray of shape (1,)
        The intercept.
    """,
    keep_losses="""
    keep_losses : bool, default=False
        Whether to keep ``loss_curve_``.
    """,
    keep_weights="""
    keep_weights : bool, default=False
        Whether to keep ``weight_curve_``.
    """,
    log_weights="""
    log_weights_ : ndarray of shape (n_experts,)
        Their logarithms, exact where weights are too small to be told from zero.
    """,
    log_weights_plain="""
    log_weights_ : ndarray of shape (n_experts,)
        Their logarithms.
    """,
    loss_of_experts="""
    loss : {"square", "absolute", "entropic", "hellinger"} or MixableLoss, default="square"
        As in :class:`WeightedAverage`.
    """,
    loss_curve="""
    loss_curve_ : ndarray of shape (`n_trials_`,)
        The loss of each trial, if ``keep_losses``.
    """,
    loss_curve_of_mistakes="""
    loss_curve_ : ndarray of shape (`n_trials_`,)
        One for each mistake, zero for each right answer, if ``keep_losses``.
    """,
    low="""
    low : float, default=0.0
        The least possible loss.
    """,
    max_iter="""
    max_iter : int, default=1
        The largest number of passes of ``fit``.
    """,
    max_iter_1000="""
    max_iter : int, default=1000
        The largest number of passes of ``fit``.
    """,
    multi_class="""
    multi_class : {"ovr", "kesler"}, default="ovr"
        How more than two classes are learned.
    """,
    n_arms="""
    n_arms : int or None, default=None
        The number of arms. None leaves it to the first ``replay``; :meth:`select` needs it.
    """,
    n_arms_or_none="""
    n_arms_ : int
        The number of arms.
    """,
    n_iter="""
    n_iter_ : int
        The number of passes of ``fit``.
    """,
    n_iter_no_change="""
    n_iter_no_change : int, default=5
        How many passes without progress end the fit.
    """,
    n_mistakes="""
    n_mistakes_ : int
        The number of wrong answers.
    """,
    n_mistakes_of_passes="""
    n_mistakes_ : int
        The number of trials, of all passes, in which the true class did not have the largest score.
    """,
    n_pulls="""
    n_pulls_ : ndarray of shape (n_arms,)
        How often each arm was chosen.
    """,
    n_rounds="""
    n_rounds_ : int
        The number of rounds.
    """,
    n_shifts="""
    n_shifts : int, default=None
        The number of shifts to expect, for "auto".
    """,
    n_trials="""
    n_trials_ : int
        The number of trials.
    """,
    n_updates="""
    n_updates_ : int
        The number of steps.
    """,
    prediction="""
    prediction : {"average", "vovk"}, default="average"
        The weighted average, or Vovk's prediction.
    """,
    prefit="""
    prefit : bool, default=False
        Whether ``estimators`` are fitted and only predict. Otherwise clones of them predict each
        sample, and then learn from it by ``partial_fit``; before they have learned from any they
        abstain.
    """,
    prefit_classifiers="""
    prefit : bool, default=False
        Whether ``estimators`` are fitted and only predict. Otherwise clones of them predict each
        sample, and then learn from it.
    """,
    radius="""
    radius_ : float
        The largest norm of ``(x, 1)`` among the samples that were stepped along.
    """,
    random_state="""
    random_state : int, RandomState instance or None, default=None
        For the draws.
    """,
    regret="""
    regret_ : float or None
        ``cumulative_loss_`` minus the loss of the best arm. None if there was an :meth:`update`:
        the losses of the other arms are not known then.
    """,
    shuffle="""
    shuffle : bool, default=True
        Whether the passes of ``fit`` go through the rows in random orders.
    """,
    t="""
    t_ : int
        The number of trials plus one, as scikit-learn has it.
    """,
    threshold="""
    threshold : float, default=0.5
        A feature is true if it is at least this.
    """,
    verbose="""
    verbose : int, default=0
        Positive: print the loss of each pass.
    """,
    warm_start="""
    warm_start : bool, default=False
        Whether ``fit`` starts with the weights of the fit before.
    """,
    weight_curve="""
    weight_curve_ : ndarray of shape (`n_trials_`, n_experts)
        The weights before each trial, if ``keep_weights``.
    """,
    weights="""
    weights_ : ndarray of shape (n_experts,)
        The weights, which sum to one.
    """,
)
# Entries that follow one another in several docstrings.
GROUPS = {
    "account_of_mistakes": (
        "n_trials",
        "cumulative_loss",
        "loss_curve_of_mistakes",
        "n_iter",
        "converged_without_mistake",
        "features_in",
    ),
    "options_of_shares": (
        "n_shifts",
        "horizon",
        "loss_of_experts",
        "prediction",
        "eta_or_auto",
        "bounds_of_outcomes",
        "prefit_classifiers",
        "block_size_classifiers",
        "keep_losses",
        "keep_weights",
    ),
    "passes": (
        "converged",
        "n_iter",
        "t",
        "features_in",
    ),
    "rounds_and_arms": (
        "n_pulls",
        "n_rounds",
        "n_arms_or_none",
        "arms",
        "cumulative_loss_of_arms",
        "regret",
        "best_arm",
    ),
    "trials_and_experts": (
        "n_trials",
        "estimators",
        "expert_names",
        "features_in",
    ),
    "weights_and_losses": (
        "weights",
        "log_weights_plain",
        "weight_curve",
        "cumulative_loss_of_learner",
        "loss_curve",
        "expert_losses",
        "best_expert",
    ),
}

paragraphs = inserter(
    **ENTRIES,
    **{
        name: "\n\n".join(cleandoc(ENTRIES[entry]) for entry in entries)
        for name, entries in GROUPS.items()
    },
)
