"""CI fails if a test fails twice; a test that passes when it is run again alone is reported and does not fail it."""

import subprocess
import sys
from pathlib import Path

from tests import suites
from tests.support.running.results import Failure, SuiteResults

_ROOT = Path(__file__).parents[3]
# Each test fails the first time, when its marker file is missing, and creates the file.
_FAILS_ONCE = """
import pathlib
import pytest

@pytest.mark.parametrize("text", ["plain", "$HOME 'quoted' [x]"])
def test_marker_is_gone(text):
    marker = pathlib.Path(__file__).with_suffix("." + text[0])
    if not marker.exists():
        marker.touch()
        raise AssertionError("failed the first time")
"""
_FAILS_ALWAYS = "def test_never_passes():\n    assert 1 == 2\n"


def test_failure_is_flaky_if_it_passes_alone(tmp_path, monkeypatch, capfd):
    status = _run_suites(tmp_path, monkeypatch, {"test_once.py": _FAILS_ONCE})

    output = capfd.readouterr().out
    assert status == 0
    assert output.count("FLAKY") == 4  # each with its failure, and again at the end
    assert "failed the first time" in output
    last = output.rstrip().splitlines()[-3:]
    assert [line.startswith("FLAKY ") for line in last] == [True, True, False]
    assert "'quoted'" in last[1]


def test_second_failure_fails_the_run_after_all_suites(tmp_path, monkeypatch, capfd):
    status = _run_suites(tmp_path, monkeypatch, {"test_always.py": _FAILS_ALWAYS}, {"test_once.py": _FAILS_ONCE})

    last = capfd.readouterr().out.rstrip().splitlines()[-4:]
    assert status == 1
    assert [line.split()[0] for line in last] == ["FLAKY", "FLAKY", "FAILED", "1"]
    assert last[2].endswith("test_always.py::test_never_passes")


def test_unfinished_suite_fails_the_run(tmp_path, monkeypatch, capfd):
    status = _run_suites(tmp_path, monkeypatch, {"test_broken.py": "import no_such_module\n"})

    assert status == 1
    assert capfd.readouterr().out.rstrip().splitlines()[-2] == "FAILED suite0"


def test_many_failures_are_not_run_again(tmp_path, monkeypatch, capfd):
    many = [Failure(f"test {number}", "", ["false"]) for number in range(suites.MAX_RERUNS + 1)]
    verdict = suites.Verdict(failures=many)

    suites._rerun_failures(verdict)

    assert verdict.failed == many
    assert "once more, alone" not in capfd.readouterr().out


def test_slowest_files_are_printed_up_to_ten_minutes(capsys):
    verdict = suites.Verdict()
    verdict.add(SuiteResults({"a.py": 500.0, "b.py": 90.0}))
    verdict.add(SuiteResults({"c.py": 200.0, "d.py": 1.0}))

    suites._print_slowest(verdict.seconds)

    output = capsys.readouterr().out.split("\n", 2)[2].splitlines()
    assert [line.split()[-1] for line in output] == ["a.py", "c.py", "processes"]
    assert "791.0 s" in output[-1]


def _run_suites(tmp_path: Path, monkeypatch, *suites_files: dict[str, str]) -> int:
    """Run the given test files as the only suites of a checkout."""
    (tmp_path / ".ci").mkdir()
    (tmp_path / "conftest.py").write_text(
        "import os, pathlib\n"
        "from tests.support.running import results\n"
        "def pytest_configure(config):\n"
        "    path = os.environ.pop(results.RESULTS_FILE, None)\n"
        "    config.pluginmanager.register(results.Recorder(pathlib.Path(path) if path else None))\n"
    )
    (tmp_path / "setup.cfg").write_text("[tool:pytest]\n")
    for number, files in enumerate(suites_files):
        folder = tmp_path / f"tests{number}"
        folder.mkdir()
        for name, text in files.items():
            (folder / name).write_text(text)
    targets = "\n".join(
        f"suite{number}:\n\t{sys.executable} -m pytest -q -p no:cacheprovider {tmp_path}/tests{number}\n"
        for number in range(len(suites_files))
    )
    (tmp_path / "Makefile").write_text(targets)
    monkeypatch.setenv("PYTHONPATH", str(_ROOT))
    monkeypatch.setattr(suites, "_ROOT", tmp_path)
    return suites.main([f"suite{number}" for number in range(len(suites_files))])


def test_every_test_target_ends_its_processes():
    commands = subprocess.run(
        ["make", "-n", "-o", ".venv/.dev", "test", "long", "faults", "browser", "brokers", "pictures"],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()

    runs = [command for command in commands if "pytest" in command]
    assert len(runs) == 6
    assert [run for run in runs if "-m tests.reaper" not in run] == []
