"""Which tests of a run share a process, one after the other in their order.

Those of a file do: what a fixture of a module makes is made once. Whole installations and browsers are kept for the
process, so that each test of them goes to whoever is free.
"""

import functools
from pathlib import Path

from xdist.scheduler import LoadScopeScheduling

_TESTS = Path(__file__).parents[2]
# Folders that share something dear in their process (the parsed description, a broker), and those of single tests.
_TOGETHER = ("tests/contracts/", "tests/faults/brokers/")
_SINGLY = ("tests/faults/", "tests/browser/")


class ByFile(LoadScopeScheduling):
    """Hands out files in their order; those that read the syntax trees of the repository as one."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        for folder in _TOGETHER:
            if file.startswith(folder):
                return folder
        if file.startswith(_SINGLY):
            return nodeid
        return "trees" if reads_trees(file) else file


@functools.cache
def reads_trees(file: str) -> bool:
    """Return whether a file of tests reads the syntax trees of the whole repository, which a process parses once."""
    return "from tests.support import trees\n" in (_TESTS.parent / file).read_text()
