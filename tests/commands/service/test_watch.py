"""`make dev` detects every change of the code and signals the supervisor, in these tests the test process itself."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from adapters.embedded.data_folder import wait_until
from commands.service import watch

_PATIENCE_S = 120


@pytest.fixture
def tree(tmp_path):
    """Return a checkout with a few files of code."""
    (tmp_path / "api" / "templates").mkdir(parents=True)
    code = ("app.py", "gunicorn.conf.py", "api/routes.py", "api/templates/docs.html")
    for name in (*code, "README.md", "api/notes.pyc"):
        (tmp_path / name).write_text("")
    return tmp_path


@pytest.mark.parametrize("name", ["app.py", "api/routes.py", "api/templates/docs.html", "api/new.py"])
def test_changed_or_added_file_is_detected(tree, name):
    before = watch.scan(tree)

    (tree / name).write_text("x = 1")
    os.utime(tree / name, ns=(1, 1))

    assert watch.list_changes(before, watch.scan(tree), tree) == [name]


def test_removed_file_is_detected_and_other_files_are_ignored(tree):
    before = watch.scan(tree)

    (tree / "README.md").write_text("changed")
    (tree / "api" / "notes.pyc").write_text("changed")
    assert watch.list_changes(before, watch.scan(tree), tree) == []
    (tree / "api" / "routes.py").unlink()

    assert watch.list_changes(before, watch.scan(tree), tree) == ["api/routes.py"]


@pytest.fixture
def signals():
    """Return the signals that the supervisor received.

    The kernel delivers a signal to any thread that does not block it; without a handler it ends the process.
    """
    received = []
    usual = signal.signal(signal.SIGUSR1, lambda number, _: received.append(number))
    yield received
    signal.signal(signal.SIGUSR1, usual)


def test_supervisor_is_signalled(tree, signals):
    service = tree / "commands" / "service"
    service.mkdir(parents=True)
    shutil.copy(Path(watch.__file__), service / "watch.py")
    watcher = subprocess.Popen(
        [sys.executable, "-m", "commands.service.watch"], cwd=tree, stdout=subprocess.PIPE, text=True
    )
    try:
        for second in range(1, _PATIENCE_S):  # the first changes may precede the watcher's first scan
            os.utime(tree / "app.py", ns=(second, second))
            if wait_until(lambda: signals, timeout_s=1):
                break
        assert signals
        assert watcher.stdout.readline() == "app.py\n"
    finally:
        watcher.kill()
        watcher.communicate()
