"""A platform played for a test: the service's settings lead to it; and the calls by which a brand connects it."""

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
#: How long the service waits for one look-up.
USUAL_BUDGET_S = schedule.BUDGET_S
STAGES: dict[str, type[PlatformStage]] = {stage.platform.name: stage for stage in _STAGE_CLASSES}


@contextmanager
def play_platform(name: str = "kit") -> Iterator[PlatformStage]:
    """Play a platform on a port of this machine, and have the service call it there, beside those played already.

    Look-ups wait longer for it than the service does: on a busy machine it may not get to answer for seconds.
    """
    playing = STAGES[name]()
    with pytest.MonkeyPatch.context() as patch, _close_connections(patch):
        patch.setattr(schedule, "BUDGET_S", _PATIENCE_S)
        override_settings(patch, addresses={"apis": {**settings.current().addresses.apis, name: playing.url}})
        yield playing
    playing.stop()


@contextmanager
def _close_connections(patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have the connections that are kept to hosts that a brand typed end with the block, and not with the process."""
    with ExitStack() as created:
        usual = brand_hosts._client.__wrapped__
        ending = functools.cache(lambda policy: created.enter_context(closing(usual(policy))))
        patch.setattr(brand_hosts, "_client", ending)
        yield


def build_platform_body(platform: PlatformStage, **fields: Any) -> dict[str, Any]:
    """Return the body that connects a played platform."""
    return {"platform": platform.platform.name, "credentials": dict(platform.credentials)} | fields


def connect_platform(owner: Brand, platform: PlatformStage, **fields: Any) -> dict[str, Any]:
    """Connect a played platform and return the answer."""
    answer = owner.post("/api/v1/platforms", build_platform_body(platform, **fields))
    assert answer.status_code == 201, answer.get_data(as_text=True)
    return dict(answer.json or {})
