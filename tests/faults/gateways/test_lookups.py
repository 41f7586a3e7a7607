"""Platforms and workers fail while a buyer is looked up: no sale is lost, and its affiliate is credited once."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from adapters.embedded import data_folder
from tests.support.installation import outcome
from tests.support.installation.gateway_shop import GatewayShop
from tests.support.installation.machine import Machine
from tests.support.installation.process_killer import ProcessKiller
from tests.support.installation.proxy import Proxy
from tests.support.platforms.kit import KitStage

_BUYERS = [f"buyer-{number}@example.com" for number in range(3)]
_METHODS = "select attribution_method from conversion where organization_id = %s and parent_id is null"
_DEAD = "select id from job where organization_id = %s and failed_at is not null"


@pytest.fixture
def platform(machine: Machine, shop: GatewayShop) -> Iterator[KitStage]:
    """Return a fake Kit at the address of the platforms, connected to the shop's brand."""
    platform = KitStage(machine.platform_port)
    status, connection = shop.call_api(
        "POST", "/api/v1/platforms", {"platform": "kit", "credentials": platform.credentials}
    )
    assert status == 201, connection
    yield platform
    platform.stop()


def _sell(shop: GatewayShop) -> None:
    for number, email in enumerate(_BUYERS):
        shop.deliver(*shop.pay(slug=None, customer=str(number), email=email).notifications)


def test_kill_9_during_a_lookup_credits_once(machine: Machine, shop: GatewayShop, platform: KitStage) -> None:
    # given: a platform that receives the lookups and does not respond
    shop.subscribe()
    platform.faults.extend(["hang"] * 1_000)
    for email in _BUYERS:
        platform.add_person(email, slug="ben")
    _sell(shop)
    machine.wait_until(lambda: platform.count_lookups() >= 2, "as many lookups are open as one brand may have")

    # when
    machine.kill("gateways")
    platform.faults.clear()
    platform.release_hung.set()
    machine.start("gateways")

    # then
    outcome.check(machine, shop)
    assert machine.rows(_METHODS, shop.id) == [("crm_lookup:kit",)] * len(_BUYERS)
    assert machine.rows("select from platform_lookup where organization_id = %s", shop.id) == []


def test_kill_9_after_the_commit_of_a_credit_credits_once(
    machine: Machine, shop: GatewayShop, platform: KitStage
) -> None:
    # given: a fleet that is killed when the database has credited a sale and confirms the commit
    shop.subscribe()
    platform.add_person(_BUYERS[0], slug="ben")

    def is_credited(read: bytes) -> bool:
        return b"COMMIT" in read and bool(machine.rows(_METHODS, shop.id))

    killer = ProcessKiller(machine, "gateways", should_kill=is_credited)
    machine.kill("gateways")
    with closing(Proxy(data_folder.resolve(machine.home).postgres_socket, on_reply=killer)) as proxy:
        machine.start("gateways", variables={"DATABASE_URL": proxy.url(machine.urls.database_url)})

        # when
        shop.deliver(*shop.pay(slug=None, email=_BUYERS[0]).notifications)
        killer.wait_until_dead()
    machine.start("gateways")

    # then
    outcome.check(machine, shop)
    assert machine.rows(_METHODS, shop.id) == [("crm_lookup:kit",)]


def test_unreachable_platform_loses_no_sale(machine: Machine, shop: GatewayShop, platform: KitStage) -> None:
    # given
    shop.subscribe()
    for email in _BUYERS:
        platform.add_person(email, slug="ben")
    platform.stop()

    # when: sales continue, and the time limit of the lookups passes
    _sell(shop)
    named_sale = shop.pay(customer="named")
    shop.deliver(*named_sale.notifications)
    machine.wait_until(lambda: machine.rows(_METHODS, shop.id), "a sale that names its affiliate is credited meanwhile")
    started = "select from platform_lookup where organization_id = %s"
    machine.wait_until(lambda: len(machine.rows(started, shop.id)) == len(_BUYERS), "every lookup has started")
    machine.execute(
        "update platform_lookup set started_at = started_at - interval '2 hours' where organization_id = %s",
        str(shop.id),
    )
    machine.execute(
        "update platform_connection set credits_since = credits_since - interval '3 hours' where organization_id = %s",
        str(shop.id),
    )

    def have_failed() -> bool:
        machine.execute(
            "update job set run_at = now() where organization_id = %s and deadline is null and failed_at is null",
            str(shop.id),
        )
        return len(machine.rows(_DEAD, shop.id)) == len(_BUYERS)

    machine.wait_until(have_failed, "every lookup is a dead letter")

    # then
    assert {status for (status,) in shop.events("status")} == {"Processed"}
    with closing(_RestartedPlatform(machine, platform)):
        machine.execute(
            "update job set failed_at = null, deadline = null, run_at = now(), max_attempts = attempt + 20"
            " where organization_id = %s and failed_at is not null",
            str(shop.id),
        )
        outcome.check(machine, shop)
    assert sorted(machine.rows(_METHODS, shop.id), key=str).count(("crm_lookup:kit",)) == len(_BUYERS)


class _RestartedPlatform(KitStage):
    """A new server for a stopped platform, with the same people."""

    def __init__(self, machine: Machine, former: KitStage) -> None:
        super().__init__(machine.platform_port)
        self.people = former.people

    def close(self) -> None:
        """Stop the server."""
        self.stop()
