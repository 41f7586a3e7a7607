"""Records the results of a test run: the seconds of each file and the text of each failure."""

import json
import sys
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pytest

#: The environment variable with the file to which a run writes its results.
RESULTS_FILE = "FINDERFEE_RESULTS"
_SHOWN_FILES = 10


@dataclass(frozen=True, slots=True)
class Failure:
    """A test or a check that failed, and the command that runs only it."""

    name: str
    text: str
    rerun: list[str]


@dataclass(slots=True)
class SuiteResults:
    """The results of one suite. `seconds` has the time of each file over all processes of the run."""

    seconds: dict[str, float] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)

    def save(self, path: Path) -> None:
        """Write the results to a file, as a whole or not at all."""
        draft = path.with_suffix(".draft")
        draft.write_text(json.dumps(asdict(self)))
        draft.rename(path)

    @classmethod
    def load(cls, path: Path) -> "SuiteResults":
        """Return the results in a file. Raises FileNotFoundError if the run did not reach its end."""
        content = json.loads(path.read_text())
        return cls(content["seconds"], [Failure(**failure) for failure in content["failures"]])


class Recorder:
    """A pytest plugin of the process that reports: adds up setup, call and teardown by file and keeps failures."""

    def __init__(self, save_to: Path | None) -> None:
        self._save_to = save_to
        self._seconds: Counter[str] = Counter()
        self._failures: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count one phase of a test, whichever process ran it."""
        self._seconds[report.nodeid.partition("::")[0]] += report.duration  # type: ignore[assignment]  # seconds
        if report.failed:
            self._failures.setdefault(report.nodeid, report.longreprtext)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the files that took longest, where there is more than one to choose from."""
        if len(self._seconds) > 1:
            terminalreporter.section(f"the slowest of {len(self._seconds)} files")
            for file, seconds in self._seconds.most_common(_SHOWN_FILES):
                terminalreporter.line(f"{seconds:7.1f} s  {file}")
            terminalreporter.line(f"{self._seconds.total():7.1f} s  all files, in all processes")

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """Save the results of a run that reached its end; one that was interrupted or broke has none."""
        if self._save_to and exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            command = [sys.executable, "-m", "tests.reaper", sys.executable, "-m", "pytest"]
            failures = [Failure(name, text, [*command, name]) for name, text in self._failures.items()]
            SuiteResults(dict(self._seconds), failures).save(self._save_to)
