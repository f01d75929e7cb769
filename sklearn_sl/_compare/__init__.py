"""``python -m sklearn_sl compare``: race the estimators of the package on a data set.

The parts, in the order in which the data flow: ``data`` reads and checks the
data set, ``candidates`` finds who takes part and with which parameter grid,
``race`` scores one candidate, ``pool`` runs all of them in worker processes
under the time budget, ``report`` and ``plots`` show the results, ``cli`` is the
command line.
"""
