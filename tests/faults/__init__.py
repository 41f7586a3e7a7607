"""Real processes on a machine of their own, broken on purpose."""

import pytest

for _module in ("ground", "machine", "outcome", "shop"):
    pytest.register_assert_rewrite(f"tests.faults.{_module}")
