"""Real installations of the service, whose processes and servers fault tests break."""

import pytest

for _module in ("ground", "machine", "outcome", "shop"):
    pytest.register_assert_rewrite(f"tests.support.installation.{_module}")
