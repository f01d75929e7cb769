"""``python -m sklearn_sl``: race the estimators of the package on a data set, and more.

The parts, in the order in which the data flow:

- ``table`` reads a file as columns, with ``dates``; ``features`` makes features of them, and
  ``data`` a checked data set;
- ``candidates`` finds who takes part and with which parameter grid, ``metrics`` what is scored;
- ``race`` scores one candidate on one fold, with its ``certificates``; ``pool`` runs all of them in
  worker processes under the time budget, and ``progress`` tells of it;
- ``significance`` says which differences are more than chance, ``diagnostics`` looks closer at the
  best;
- ``report`` shows the results, as text and as a ``page`` with ``plots``, which are ``svg``;
  ``state`` hides them in it, for a later run to go on from; ``saved`` keeps the best model;
- ``stream`` is another race, of learners of streams; ``bench`` runs the benchmarks;
- ``run`` is the command ``compare``, ``cli`` the command line.
"""
