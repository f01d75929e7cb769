"""What bagging and forests share: members that are fitted to resampled rows, and averaged."""

import warnings
from numbers import Integral

import numpy as np
from joblib import effective_n_jobs
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted

from sklearn_sl._rows import as_columns, row_hashes
from sklearn_sl._sklearn import Interval, Progress, StrOptions, check_sample_weight
from sklearn_sl.ensemble._members import Narrator, in_turn, rows_of
from sklearn_sl.ensemble._out_of_bag import OutOfBagMixin, group_codes, read_groups
from sklearn_sl.ensemble._packed_trees import PackedTrees, features_of
from sklearn_sl.ensemble._resampling import Resampling
from sklearn_sl.ensemble._shared_trees import shares_columns
from sklearn_sl.tree._classify import node_labels

MAX_SEED = np.iinfo(np.int32).max


class AveragingMixin(OutOfBagMixin):
    """Members fitted to resampled rows, whose answers are averaged.

    An answer of a member to a sample is a row of numbers: the targets, or the shares of the
    classes, one output after the other.

    Hooks: ``_template()`` is what the members are clones of, ``_gather_members(X, y, ...)`` their
    training set, ``_encode_targets(y)`` returns targets as numbers, ``_read_query(X)`` samples as
    the members take them, ``_sample_reader()`` who reads them for trees, ``_node_answers(member)``
    what each node of a tree answers, ``_answers(member, X)`` what any other member does.
    """

    _parameter_constraints = {
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "bootstrap": ["boolean"],
        "warm_start": ["boolean"],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }
    _parameter_constraints |= OutOfBagMixin._parameter_constraints

    # ------------------------------------------------------------ a list of members

    def __len__(self):
        """Return the number of members."""
        return len(self.estimators_)

    def __getitem__(self, index):
        """Return a member."""
        return self.estimators_[index]

    def __iter__(self):
        """Return an iterator over the members."""
        return iter(self.estimators_)

    def __getstate__(self):
        # What follows from the members is left out.
        return {name: v for name, v in super().__getstate__().items() if name != "_packed"}

    def _check_state(self):
        if "estimators_" not in vars(self):
            return
        if not hasattr(self, "estimators_features_"):
            n_features = {member.n_features_in_ for member in self.estimators_}
            if n_features != {self.n_features_in_}:
                raise ValueError(f"Members know {n_features} features, not {self.n_features_in_}.")
        # This fails if members do not go together.
        self._packed = self._pack()

    # ------------------------------------------------------------ fitting

    def _fit_members(self, X, y, sample_weight, oob_groups, fit_params=None):
        """Fit the members, those that are missing if there are some, and the rest."""
        old = self._begin()
        groups = read_groups(oob_groups, y)
        X, y, weight, used = self._remove_weightless(X, y, sample_weight)
        self._n_given = np.shape(sample_weight)[0] if used is not None else None
        y = self._encode_targets(y)
        self._check_targets(old)
        self.estimator_ = self._template()
        group = self._gather_members(X, y, weight, used, fit_params or {})
        self._check_features(old)
        resampling = Resampling(
            row_hashes(group.X, y),
            weight,
            bootstrap=self.bootstrap,
            max_samples=self.max_samples,
            used=used,
            n_given=self._n_given,
            groups=group_codes(groups, group.X, used),
        )
        self._check_out_of_bag(resampling, y)
        seeds = self._draw_seeds(old)
        columns = self._draw_columns(seeds)
        members = self._grow(group, resampling, seeds, columns) if len(seeds) else []
        self.estimators_ = old.get("estimators_", []) + members
        self._seeds = np.append(old.get("_seeds", []), seeds[: len(members)]).astype(np.int64)
        self._resamplings = old.get("_resamplings", []) + [resampling] * len(members)
        self._keep_columns(old, columns[: len(members)])
        self._packed = self._pack()
        if self.oob_score:
            self._set_out_of_bag(resampling, group.X, y)
        return self

    def _begin(self):
        """Forget the previous fit; return what it left if this one goes on with it, or nothing."""
        names = (
            "estimators_",
            "estimators_features_",
            "_seeds",
            "_resamplings",
            "n_features_in_",
            "classes_",
            "_n_targets",
        )
        old = {name: vars(self)[name] for name in names if name in vars(self)}
        if "estimators_" in old:
            old["categories"] = self._known_categories()
        for name in (*self._out_of_bag_names, "_category_encoder"):
            vars(self).pop(name, None)
        if not self.warm_start or "estimators_" not in old:
            return {}
        n_more = self.n_estimators - len(old["estimators_"])
        if n_more < 0:
            raise ValueError(
                f"n_estimators={self.n_estimators} must be larger or equal to "
                f"len(estimators_)={len(old['estimators_'])} when warm_start==True"
            )
        if n_more == 0:
            warnings.warn(
                "Warm-start fitting without increasing n_estimators does not fit new members.",
                stacklevel=5,
            )
        return old

    def _remove_weightless(self, X, y, sample_weight):
        """Return the rows of positive weight, and which they are: None is all of them."""
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        check_consistent_length(X, y)
        weight = check_sample_weight(sample_weight, X, dtype=np.float64)
        if weight is None or weight.all():
            return X, y, weight, None
        used = np.flatnonzero(weight)
        return rows_of(X, used), rows_of(y, used), weight[used], used

    def _known_categories(self):
        """Return the categories of the features, None if there are none."""
        reader = self._sample_reader()
        if reader is None or reader.is_categorical_ is None:
            return None
        return [None if names is None else names.tolist() for names in reader.categories_]

    def _check_features(self, old):
        """Complain of other features than those that earlier members know."""
        if old and old["n_features_in_"] != self.n_features_in_:
            raise ValueError(
                f"warm_start needs as many features as before, {old['n_features_in_']}, got "
                f"{self.n_features_in_}."
            )
        if old and old["categories"] != self._known_categories():
            raise ValueError("warm_start needs the same categories as before.")

    def _check_targets(self, old):
        """Complain of other targets than those that earlier members know."""

    def _draw_seeds(self, old):
        """Return the seeds of the members to be fitted.

        They are drawn one after the other, so that those of more members begin with those of less.
        """
        n_old = len(old.get("estimators_", []))
        rng = check_random_state(self.random_state)
        if isinstance(self.random_state, Integral):
            return rng.randint(MAX_SEED, size=self.n_estimators)[n_old:]
        return rng.randint(MAX_SEED, size=self.n_estimators - n_old)

    def _draw_columns(self, seeds):
        """Return the features of members."""
        return [np.arange(self.n_features_in_)] * len(seeds)

    def _keep_columns(self, old, columns):
        """Remember the features of new members."""

    def _member_columns(self):
        """Return the features of all members."""
        return self._draw_columns(self.estimators_)

    def _grow(self, group, resampling, seeds, columns):
        """Return fitted members, as many as the callbacks want."""
        members, growing = [], group.fit(resampling, seeds, columns)
        with Progress(self, name="member", total=len(seeds)) as progress:
            try:
                while len(members) < len(seeds) and not progress.stop:
                    with progress.step({"n_members": len(members) + 1}):
                        members.append(next(growing))
                if len(members) == len(seeds):
                    next(growing, None)  # lets it tell that it is done
            finally:
                growing.close()
        return members

    def _pack(self):
        """Return the trees packed for predictions; None if members are of another kind."""
        if not all(map(shares_columns, self.estimators_)):
            return None
        return PackedTrees(
            [member.tree_ for member in self.estimators_],
            [self._node_answers(member) for member in self.estimators_],
            self._member_columns(),
            kind=getattr(self, "voting", None),
        )

    # ------------------------------------------------------------ predicting

    @property
    def estimators_samples_(self):
        """The rows that each member drew, as often as it did; made anew at each call."""
        check_is_fitted(self)
        drawn = []
        for seed, resampling in zip(self._seeds, self._resamplings):
            rows = resampling.draw(seed)
            drawn.append(rows if resampling.used is None else resampling.used[rows])
        return drawn

    def _mean_answers(self, X, **params):
        """Return the mean of the members' answers to samples as the members take them.

        The sum is over the members in their order, so that it is the same for any ``n_jobs``.
        """
        packed = self._current_pack()
        if packed is not None:
            n_threads = effective_n_jobs(self.n_jobs)
            narrator = Narrator(self.verbose, n_threads, len(self.estimators_))
            total = packed.sums(X, n_threads)
            narrator.end(len(self.estimators_))
            return total / len(self.estimators_)

        def answers(member, columns):
            return self._answers(member, features_of(X, columns), **params)

        return sum(self._ask(answers)) / len(self.estimators_)

    def _current_pack(self):
        """Return the packed trees, packed again if somebody changed the list of members."""
        if self._packed is None:
            return None
        trees = [getattr(member, "tree_", None) for member in self.estimators_]
        if self._packed.packs(trees, getattr(self, "voting", None)):
            return self._packed
        return self._pack()

    def _ask(self, question):
        """Yield ``question(member, columns)`` of all members."""
        return in_turn(
            question,
            zip(self.estimators_, self._member_columns()),
            n_jobs=self.n_jobs,
            verbose=self.verbose,
            require="sharedmem",  # members need not travel to other processes and back
        )


class AveragedClassesMixin:
    """Classes as targets: answers are shares, or votes."""

    _parameter_constraints = {"voting": [StrOptions({"average", "vote"})]}

    def _encode_classes(self, y):
        """Return classes, one column for each output, as codes; learn their names."""
        check_classification_targets(y)
        table = as_columns(y)
        found = [np.unique(column, return_inverse=True) for column in table.T]
        self._class_names = [names for names, _ in found]
        single = len(found) == 1
        self.classes_ = self._class_names[0] if single else self._class_names
        counts = [len(names) for names in self._class_names]
        self.n_classes_ = counts[0] if single else counts
        codes = np.stack([code for _, code in found], axis=1)
        return codes[:, 0] if y.ndim == 1 else codes

    def _check_targets(self, old):
        if old:
            before = old["classes_"]
            before = [before] if not isinstance(before, list) else before
            if len(before) != len(self._class_names) or not all(
                map(np.array_equal, before, self._class_names)
            ):
                raise ValueError(
                    "warm_start needs the same classes as before: the members know no others."
                )

    @property
    def _places(self):
        """Where the classes of each output are among the answers."""
        ends = np.cumsum([len(names) for names in self._class_names])
        return [slice(end - len(names), end) for end, names in zip(ends, self._class_names)]

    def _node_answers(self, member):
        tree = member.tree_
        if self.voting == "average":
            parts = [tree.value[:, output, :n] for output, n in enumerate(tree.n_classes)]
        else:
            labels = node_labels(tree, member._cost)
            parts = [np.eye(n)[label] for n, label in zip(tree.n_classes, labels.T)]
        return parts[0] if len(parts) == 1 else np.hstack(parts)

    def _answers(self, member, X, predict=None, predict_proba=None):
        """Return the shares of the classes, of a member that may not know all of them."""
        n_classes = self.n_classes_
        if self.voting == "average" and hasattr(member, "predict_proba"):
            shares = member.predict_proba(X, **(predict_proba or {}))
            if shares.shape[1] == n_classes:
                return shares
            answers = np.zeros((len(shares), n_classes))
            answers[:, member.classes_.astype(np.intp)] = shares
            return answers
        codes = np.asarray(member.predict(X, **(predict or {}))).astype(np.intp)
        return np.eye(n_classes)[codes]

    def _decode(self, codes):
        """Return classes by their codes."""
        table = as_columns(codes)
        labels = [names.take(code) for names, code in zip(self._class_names, table.T)]
        return labels[0] if codes.ndim == 1 else np.stack(labels, axis=1)

    def _encode_again(self, y):
        """Return classes of the training set as codes; -1 for others."""
        y = np.asarray(y)
        table = as_columns(y)
        if table.shape[1] != len(self._class_names):
            raise ValueError(f"y must have {len(self._class_names)} outputs, as in the fit.")
        codes = np.empty(table.shape, dtype=np.intp)
        for output, (names, column) in enumerate(zip(self._class_names, table.T)):
            place = np.minimum(np.searchsorted(names, column), len(names) - 1)
            codes[:, output] = np.where(names[place] == column, place, -1)
        return codes[:, 0] if codes.shape[1] == 1 else codes

    def _labels(self, answers):
        """Return the classes of the largest shares."""
        codes = self._codes(answers)
        labels = [names.take(code) for names, code in zip(self._class_names, codes.T)]
        return labels[0] if len(labels) == 1 else np.stack(labels, axis=1)

    def _codes(self, answers):
        """Return the same as codes, one column for each output."""
        return np.stack([answers[:, place].argmax(axis=1) for place in self._places], axis=1)

    def _losses(self, y, answers):
        """Return the share of the outputs that are wrong."""
        return np.mean(self._codes(answers) != as_columns(y), axis=1)


class AveragedTargetsMixin:
    """Numbers as targets."""

    def _encode_numbers(self, y):
        """Return targets as numbers; learn how many there are."""
        self._n_targets = None if y.ndim == 1 else y.shape[1]
        return y

    def _check_targets(self, old):
        if old and old["_n_targets"] != self._n_targets:
            raise ValueError("warm_start needs as many targets as before.")

    def _decode(self, y):
        return y

    def _encode_again(self, y):
        y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
        return y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y

    def _node_answers(self, member):
        return member.tree_.value[:, :, 0]

    def _answers(self, member, X, predict=None):
        answers = np.asarray(member.predict(X, **(predict or {})), dtype=np.float64)
        return as_columns(answers)

    def _labels(self, answers):
        return answers[:, 0] if self._n_targets is None else answers

    def _losses(self, y, answers):
        """Return the mean squares of the errors of the outputs."""
        return np.mean((as_columns(y) - answers) ** 2, axis=1)


def read_targets(y, *, dtype=None, stacklevel=2):
    """Return validated targets; a single column becomes one dimension, with a warning."""
    y = check_array(y, ensure_2d=False, dtype=dtype, input_name="y")
    if y.ndim == 2 and y.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of "
            "y to (n_samples,), for example using ravel().",
            DataConversionWarning,
            stacklevel=stacklevel,
        )
        return y[:, 0]
    return y
