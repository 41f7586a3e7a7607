"""Decides which tests of a run share a process, in which they run in their order.

The tests of a file share one, so that fixtures of a module are created once. Installations and browsers live as long as
their process, so each of their tests may run in any process that is free.
"""

import functools
from pathlib import Path

from xdist.scheduler import LoadScopeScheduling

_TESTS = Path(__file__).parents[2]
# Folders whose tests share something expensive (the parsed API description, a broker), and folders of single tests.
_SHARED_FOLDERS = ("tests/contracts/", "tests/faults/brokers/")
_SINGLE_TEST_FOLDERS = ("tests/faults/", "tests/browser/")


class ByFile(LoadScopeScheduling):
    """Schedules files in their order, and the files that read the syntax trees of the repository together."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        for folder in _SHARED_FOLDERS:
            if file.startswith(folder):
                return folder
        if file.startswith(_SINGLE_TEST_FOLDERS):
            return nodeid
        return "trees" if reads_trees(file) else file


@functools.cache
def reads_trees(file: str) -> bool:
    """Return whether a test file reads the syntax trees of the whole repository, which a process parses once."""
    return "from tests.support import trees\n" in (_TESTS.parent / file).read_text()
