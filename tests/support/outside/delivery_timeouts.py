"""A short timeout of webhook deliveries, for tests of deliveries that time out."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from pipelines.webhooks import deliver
from tests.support.settings_overrides import override_settings


@contextmanager
def short_delivery_timeout() -> Iterator[None]:
    """Shorten the timeout of webhook deliveries to two seconds while the block runs.

    Deliveries that must succeed do not belong into the block: a busy machine may take longer to respond.
    """
    with pytest.MonkeyPatch.context() as patch:
        override_settings(patch, webhooks={"timeout_s": 2})
        client = deliver._client.__wrapped__()
        patch.setattr(deliver, "_client", lambda: client)
        yield
    client.close()
