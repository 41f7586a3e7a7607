"""Real processes on a machine of their own, to be broken on purpose."""

import pytest

for _module in ("ground", "machine", "outcome", "shop"):
    pytest.register_assert_rewrite(f"tests.support.installation.{_module}")
