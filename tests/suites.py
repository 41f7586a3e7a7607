"""Run suites one after another, then run each failed test once more, alone: `make check` and CI.

python -m tests.suites NAME...     NAME is a target of the Makefile, or an executable file in .ci

A failed suite does not stop the next one. A test that fails twice fails the run. One that passes the second time does
not: it is printed as FLAKY with its first failure and listed at the end of the log, because a rare defect is still a
defect. If many tests fail, something is broken and none is run again.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.running.results import RESULTS_FILE, Failure, SuiteResults

_ROOT = Path(__file__).parents[1]
#: More failures than this are not chance, and running them again would exceed CI's time limit.
MAX_RERUNS = 20
_SLOWEST_S = 600
_WIDTH = 80


@dataclass(slots=True)
class Verdict:
    """The results of all suites, and of the second runs of failed tests."""

    seconds: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    flaky: list[Failure] = field(default_factory=list)
    failed: list[Failure] = field(default_factory=list)

    def add(self, results: SuiteResults) -> None:
        """Count the results of one more suite."""
        self.seconds.update(results.seconds)
        self.failures += results.failures


def main(names: list[str]) -> int:
    """Run the suites and print the verdict; return 0 if nothing failed twice."""
    verdict = Verdict()
    with tempfile.TemporaryDirectory(prefix="finderfee-results-") as folder:
        for name in names:
            verdict.add(_run_suite(name, Path(folder) / f"{name}.json"))
    _rerun_failures(verdict)
    _print_slowest(verdict.seconds)
    _print_verdict(verdict)
    return 1 if verdict.failed else 0


def _run_suite(name: str, results_file: Path) -> SuiteResults:
    """Run one suite and return its results; without a results file they are the time and status of the whole suite."""
    script = _ROOT / ".ci" / name
    command = [str(script)] if script.is_file() else ["make", name]
    print(f"\n=== {name} ===", flush=True)
    started = time.monotonic()
    status = subprocess.run(command, cwd=_ROOT, env={**os.environ, RESULTS_FILE: str(results_file)}).returncode
    took_s = time.monotonic() - started
    print(f"=== {name}: {'passed' if status == 0 else 'failed'} after {took_s:.0f} s ===", flush=True)
    results = SuiteResults.load(results_file) if results_file.exists() else SuiteResults({name: took_s})
    if status and not results.failures:
        # A script is run again as a whole; a pytest run that did not finish is broken, not flaky.
        rerun = command if script.is_file() else []
        results.failures.append(Failure(name, f"{' '.join(command)} ended with status {status}", rerun))
    return results


def _rerun_failures(verdict: Verdict) -> None:
    """Run each failure alone and sort it into `flaky` or `failed`."""
    if len(verdict.failures) > MAX_RERUNS:
        print(f"\n{len(verdict.failures)} failures: too many to be chance, so none is run again.", flush=True)
        verdict.failed += verdict.failures
        return
    for failure in verdict.failures:
        if not failure.rerun:
            verdict.failed.append(failure)
            continue
        print(f"\n=== once more, alone: {failure.name} ===", flush=True)
        passed = subprocess.run(failure.rerun, cwd=_ROOT).returncode == 0
        (verdict.flaky if passed else verdict.failed).append(failure)
        if passed:
            print(f"FLAKY {failure.name}\nIts first failure:\n{failure.text}", flush=True)


def _print_slowest(seconds: Counter[str]) -> None:
    """Print the slowest files until they make up ten minutes, with the time of all."""
    print(f"\n{' the slowest ten minutes ':=^{_WIDTH}}")
    printed_s = 0.0
    for name, took_s in seconds.most_common():
        if printed_s >= _SLOWEST_S:
            break
        print(f"{took_s:7.1f} s  {name}")
        printed_s += took_s
    print(f"{seconds.total():7.1f} s  everything, over all processes")


def _print_verdict(verdict: Verdict) -> None:
    if verdict.flaky or verdict.failed:
        print(f"\n{' failed ':=^{_WIDTH}}")
    for failure in verdict.flaky:
        print(f"FLAKY {failure.name}")
    for failure in verdict.failed:
        print(f"FAILED {failure.name}")
    if verdict.failed:
        print(f"{len(verdict.failed)} failed.", flush=True)
    elif verdict.flaky:
        print(f"All passed, {len(verdict.flaky)} of them only when run alone.", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
