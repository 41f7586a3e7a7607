"""Runs a fake platform that the service's settings lead to, and connects it to a brand."""

import functools
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Any

import pytest

import settings
from adapters.safe_http import brand_hosts
from domain.platforms import schedule
from tests.support.platforms.activecampaign import ActiveCampaignStage
from tests.support.platforms.beehiiv import BeehiivStage
from tests.support.platforms.hubspot import HubSpotStage
from tests.support.platforms.kit import KitStage
from tests.support.platforms.mailchimp import MailchimpStage
from tests.support.platforms.stage import PlatformStage
from tests.support.rows.brands import Brand
from tests.support.settings_overrides import override_settings

_STAGE_CLASSES: tuple[type[PlatformStage], ...] = (
    KitStage,
    BeehiivStage,
    MailchimpStage,
    HubSpotStage,
    ActiveCampaignStage,
)
_PATIENCE_S = 60.0
#: How long the service waits for a lookup.
USUAL_BUDGET_S = schedule.BUDGET_S
STAGES: dict[str, type[PlatformStage]] = {stage.platform.name: stage for stage in _STAGE_CLASSES}


@contextmanager
def play_platform(name: str = "kit") -> Iterator[PlatformStage]:
    """Run a fake platform that the service calls while the block runs, in addition to fakes that run already.

    Lookups wait longer for it than usual: on a busy machine it may respond after seconds.
    """
    platform = STAGES[name]()
    with pytest.MonkeyPatch.context() as patch, _close_connections(patch):
        patch.setattr(schedule, "BUDGET_S", _PATIENCE_S)
        override_settings(patch, addresses={"apis": {**settings.current().addresses.apis, name: platform.url}})
        yield platform
    platform.stop()


@contextmanager
def _close_connections(patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close cached connections to hosts that a brand configured when the block ends, not when the process ends."""
    with ExitStack() as clients:
        create_client = brand_hosts._client.__wrapped__
        cached_client = functools.cache(lambda policy: clients.enter_context(closing(create_client(policy))))
        patch.setattr(brand_hosts, "_client", cached_client)
        yield


def build_platform_body(platform: PlatformStage, **fields: Any) -> dict[str, Any]:
    """Return the request body that connects a fake platform."""
    return {"platform": platform.platform.name, "credentials": dict(platform.credentials)} | fields


def connect_platform(owner: Brand, platform: PlatformStage, **fields: Any) -> dict[str, Any]:
    """Connect a fake platform and return the response body."""
    answer = owner.post("/api/v1/platforms", build_platform_body(platform, **fields))
    assert answer.status_code == 201, answer.get_data(as_text=True)
    return dict(answer.json or {})
