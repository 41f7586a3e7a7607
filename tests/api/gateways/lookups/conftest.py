"""A shop whose brand is connected to platforms that are played on this machine, and time that passes for look-ups."""

from collections.abc import Callable
from contextlib import ExitStack

import pytest

from tests.api.gateways.conftest import Shop
from tests.support.platforms.platform_connections import connect_platform, play_platform
from tests.support.platforms.stage import PlatformStage


@pytest.fixture
def connect(shop: Shop):
    """Return what plays a platform and connects the brand to it."""
    with ExitStack() as playing:

        def start(name: str = "kit", **fields: object) -> PlatformStage:
            platform = playing.enter_context(play_platform(name))
            platform.connection = connect_platform(shop.brand.person("Owner"), platform, **fields)
            return platform

        yield start


@pytest.fixture
def platform(request, connect: Callable[..., PlatformStage]) -> PlatformStage:
    """Return the one platform that the brand is connected to."""
    return connect(getattr(request, "param", "kit"))


@pytest.fixture
def until_next(shop: Shop):
    """Return what lets time pass until platforms are asked again; it returns the seconds, None if that never is."""

    def wait() -> int | None:
        waiting = shop.brand.rows(
            "select ceil(extract(epoch from run_at - now()))::int from job where name = 'platform.lookup'"
            " and failed_at is null and run_at > now()"
        )
        if not waiting:
            return None
        ((seconds,),) = waiting
        for table, column in (
            ("platform_lookup", "started_at"),
            ("platform_connection", "credits_since"),
            ("job", "run_at"),
        ):
            shop.change(f"update {table} set {column} = {column} - %s * interval '1 second'", seconds)
        return int(seconds)

    return wait
