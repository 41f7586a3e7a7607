"""How long deliveries wait for an answer where a test is about those that are given up."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from pipelines.webhooks import deliver
from tests.support.settings_overrides import override_settings


@contextmanager
def short_delivery_timeout() -> Iterator[None]:
    """Have deliveries given up after two seconds, while nothing is sent that is to arrive.

    Before and after it they have longer than a busy machine takes to answer.
    """
    with pytest.MonkeyPatch.context() as patch:
        override_settings(patch, webhooks={"timeout_s": 2})
        client = deliver._client.__wrapped__()
        patch.setattr(deliver, "_client", lambda: client)
        yield
    client.close()
