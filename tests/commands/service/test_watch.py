"""`make dev` sees every change of the code and tells the supervisor, here the test itself."""

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
    """A checkout with a little code."""
    (tmp_path / "api" / "templates").mkdir(parents=True)
    code = ("app.py", "gunicorn.conf.py", "api/routes.py", "api/templates/docs.html")
    for name in (*code, "README.md", "api/notes.pyc"):
        (tmp_path / name).write_text("")
    return tmp_path


@pytest.mark.parametrize("name", ["app.py", "api/routes.py", "api/templates/docs.html", "api/new.py"])
def test_a_file_that_is_changed_or_added_is_seen(tree, name):
    before = watch.scan(tree)

    (tree / name).write_text("x = 1")
    os.utime(tree / name, ns=(1, 1))

    assert watch.list_changes(before, watch.scan(tree), tree) == [name]


def test_a_file_that_is_removed_is_seen_and_what_is_no_code_is_not(tree):
    before = watch.scan(tree)

    (tree / "README.md").write_text("changed")
    (tree / "api" / "notes.pyc").write_text("changed")
    assert watch.list_changes(before, watch.scan(tree), tree) == []
    (tree / "api" / "routes.py").unlink()

    assert watch.list_changes(before, watch.scan(tree), tree) == ["api/routes.py"]


@pytest.fixture
def told():
    """What the supervisor was told, one by one.

    A signal is given to any thread that takes it, and ends the process where none has said what is to happen then.
    """
    heard = []
    usual = signal.signal(signal.SIGUSR1, lambda number, _: heard.append(number))
    yield heard
    signal.signal(signal.SIGUSR1, usual)


def test_the_supervisor_is_told(tree, told):
    service = tree / "commands" / "service"
    service.mkdir(parents=True)
    shutil.copy(Path(watch.__file__), service / "watch.py")
    watcher = subprocess.Popen(
        [sys.executable, "-m", "commands.service.watch"], cwd=tree, stdout=subprocess.PIPE, text=True
    )
    try:
        for second in range(1, _PATIENCE_S):  # the first changes may come before it has looked
            os.utime(tree / "app.py", ns=(second, second))
            if wait_until(lambda: told, timeout_s=1):
                break
        assert told
        assert watcher.stdout.readline() == "app.py\n"
    finally:
        watcher.kill()
        watcher.communicate()
