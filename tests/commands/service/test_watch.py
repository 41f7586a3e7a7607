"""`make dev` sees every change of the code and tells the supervisor, here the test itself."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from commands.service import watch


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
    before = watch.look(tree)

    (tree / name).write_text("x = 1")
    os.utime(tree / name, ns=(1, 1))

    assert watch.changed(before, watch.look(tree), tree) == [name]


def test_a_file_that_is_removed_is_seen_and_what_is_no_code_is_not(tree):
    before = watch.look(tree)

    (tree / "README.md").write_text("changed")
    (tree / "api" / "notes.pyc").write_text("changed")
    assert watch.changed(before, watch.look(tree), tree) == []
    (tree / "api" / "routes.py").unlink()

    assert watch.changed(before, watch.look(tree), tree) == ["api/routes.py"]


def test_the_supervisor_is_told(tree):
    service = tree / "commands" / "service"
    service.mkdir(parents=True)
    shutil.copy(Path(watch.__file__), service / "watch.py")
    usual = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    watcher = subprocess.Popen(
        [sys.executable, "-m", "commands.service.watch"], cwd=tree, stdout=subprocess.PIPE, text=True
    )
    try:
        told = None
        for second in range(1, 30):  # the first changes may come before it has looked
            os.utime(tree / "app.py", ns=(second, second))
            told = signal.sigtimedwait({signal.SIGUSR1}, 1)
            if told is not None:
                break
        assert told is not None
        assert watcher.stdout.readline() == "app.py\n"
    finally:
        watcher.kill()
        watcher.communicate()
        while signal.sigtimedwait({signal.SIGUSR1}, 0) is not None:
            pass
        signal.pthread_sigmask(signal.SIG_SETMASK, usual)
