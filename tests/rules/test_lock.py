"""What is installed is what setup.cfg says, down to the last file: `make lock` after a change of it."""

import pytest

from tests.support import locks


def test_each_line_of_setup_cfg_is_locked_with_its_version():
    run, extras, dev = locks.chosen()

    for wanted, lock in ((run, locks.RUN), (run | extras, locks.EXTRAS), (extras | dev, locks.DEV)):
        locked = locks.read(lock)
        assert wanted
        assert {name: locked[name].version for name in wanted} == wanted, "make lock"


def test_who_develops_has_what_runs_and_extras_are_besides():
    run, extras, develop = locks.read(locks.RUN), locks.read(locks.EXTRAS), locks.read(locks.DEV)

    assert {name: entry for name, entry in develop.items() if name in extras} == extras, "make lock"
    assert {name: entry for name, entry in extras.items() if name in run} == run, "make lock"


@pytest.mark.parametrize("lock", [locks.RUN, locks.EXTRAS, locks.DEV], ids=lambda lock: lock.stem)
def test_each_entry_names_the_files_that_it_may_be(lock):
    assert [name for name, entry in locks.read(lock).items() if not entry.hashes] == []


@pytest.mark.parametrize("lock", [locks.RUN, locks.EXTRAS, locks.DEV], ids=lambda lock: lock.stem)
def test_a_lock_names_no_place_to_fetch_from(lock):
    text = lock.read_text()

    assert [word for word in ("://", "--index-url", "--extra-index-url", "--find-links") if word in text] == []
