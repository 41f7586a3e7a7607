"""Says at the end of a run in which files its time went, over all its processes."""

from collections import Counter

import pytest

_SHOWN = 10


class Slowest:
    """A plugin of the process that reports: it adds up setup, call and teardown of each file's tests."""

    def __init__(self) -> None:
        self._seconds: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a part of a test, whichever process ran it."""
        self._seconds[report.nodeid.partition("::")[0]] += report.duration  # type: ignore[assignment]  # seconds

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the files that took longest, where there is more than one to choose from."""
        if len(self._seconds) > 1:
            terminalreporter.section(f"the slowest of {len(self._seconds)} files")
            for file, seconds in self._seconds.most_common(_SHOWN):
                terminalreporter.line(f"{seconds:7.1f} s  {file}")
            terminalreporter.line(f"{self._seconds.total():7.1f} s  all files, in all processes")
