"""Real processes on a machine of their own, broken on purpose."""

import pytest

pytest.register_assert_rewrite(
    "tests.faults.ground", "tests.faults.machine", "tests.faults.outcome", "tests.faults.shop"
)
