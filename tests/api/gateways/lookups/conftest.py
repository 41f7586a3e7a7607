"""Fixtures of a shop connected to simulated platforms, and of time passing for its look-ups."""

from collections.abc import Callable
from contextlib import ExitStack

import pytest

from tests.api.gateways.conftest import Shop
from tests.support.platforms.platform_connections import connect_platform, play_platform
from tests.support.platforms.stage import PlatformStage


@pytest.fixture
def connect(shop: Shop):
    """Return a function that starts a simulated platform and connects the brand to it."""
    with ExitStack() as stack:

        def start_platform(name: str = "kit", **fields: object) -> PlatformStage:
            platform = stack.enter_context(play_platform(name))
            platform.connection = connect_platform(shop.brand.person("Owner"), platform, **fields)
            return platform

        yield start_platform


@pytest.fixture
def platform(request, connect: Callable[..., PlatformStage]) -> PlatformStage:
    """Return the brand's only connected platform."""
    return connect(getattr(request, "param", "kit"))


@pytest.fixture
def skip_to_next_lookup(shop: Shop):
    """Return a function that moves time on to the next look-up; it returns the seconds, or None without a next one."""

    def skip() -> int | None:
        rows = shop.brand.rows(
            "select ceil(extract(epoch from run_at - now()))::int from job where name = 'platform.lookup'"
            " and failed_at is null and run_at > now()"
        )
        if not rows:
            return None
        ((seconds,),) = rows
        for table, column in (
            ("platform_lookup", "started_at"),
            ("platform_connection", "credits_since"),
            ("job", "run_at"),
        ):
            shop.change(f"update {table} set {column} = {column} - %s * interval '1 second'", seconds)
        return int(seconds)

    return skip
