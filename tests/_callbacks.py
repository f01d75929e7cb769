"""Callbacks for the tests."""


class Stop:
    """A callback that asks for the end after so many tasks."""

    def __init__(self, after=1):
        self.after, self.ends = after, 0

    def setup(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context):
        self.ends += 1
        return self.ends >= self.after

    def teardown(self, estimator, context):
        pass
