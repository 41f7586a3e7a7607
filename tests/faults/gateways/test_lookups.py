"""Platforms and workers fail while a buyer is looked up: the sale stands, and whom it credits is credited once."""

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
def platform(machine: Machine, till: GatewayShop) -> Iterator[KitStage]:
    """Return kit, where the machine expects every platform, connected to the till's brand."""
    playing = KitStage(machine.platform_port)
    status, made = till.call_api("POST", "/api/v1/platforms", {"platform": "kit", "credentials": playing.credentials})
    assert status == 201, made
    yield playing
    playing.stop()


def _sell(till: GatewayShop) -> None:
    for number, email in enumerate(_BUYERS):
        till.deliver(*till.pay(slug=None, customer=str(number), email=email).notifications)


def test_kill_9_during_a_lookup_credits_once(machine: Machine, till: GatewayShop, platform: KitStage) -> None:
    # given: a platform that has the questions and does not answer
    till.subscribe()
    platform.faults.extend(["hang"] * 1_000)
    for email in _BUYERS:
        platform.add_person(email, slug="ben")
    _sell(till)
    machine.wait_until(lambda: platform.count_lookups() >= 2, "as many buyers are asked for as one brand's may at once")

    # when
    machine.kill("gateways")
    platform.faults.clear()
    platform.release_hung.set()
    machine.start("gateways")

    # then
    outcome.check(machine, till)
    assert machine.rows(_METHODS, till.id) == [("crm_lookup:kit",)] * len(_BUYERS)
    assert machine.rows("select from platform_lookup where organization_id = %s", till.id) == []


def test_kill_9_after_the_commit_of_a_credit_credits_once(
    machine: Machine, till: GatewayShop, platform: KitStage
) -> None:
    # given: a fleet that dies in the moment in which the database has credited a sale, and says so
    till.subscribe()
    platform.add_person(_BUYERS[0], slug="ben")

    def is_credited(read: bytes) -> bool:
        return b"COMMIT" in read and bool(machine.rows(_METHODS, till.id))

    dying = ProcessKiller(machine, "gateways", should_kill=is_credited)
    machine.kill("gateways")
    with closing(Proxy(data_folder.resolve(machine.home).postgres_socket, on_reply=dying)) as proxy:
        machine.start("gateways", variables={"DATABASE_URL": proxy.url(machine.urls.database_url)})

        # when
        till.deliver(*till.pay(slug=None, email=_BUYERS[0]).notifications)
        dying.wait_until_dead()
    machine.start("gateways")

    # then
    outcome.check(machine, till)
    assert machine.rows(_METHODS, till.id) == [("crm_lookup:kit",)]


def test_unreachable_platform_loses_no_sale(machine: Machine, till: GatewayShop, platform: KitStage) -> None:
    # given
    till.subscribe()
    for email in _BUYERS:
        platform.add_person(email, slug="ben")
    platform.stop()

    # when: sales go on, and the times of the look-ups pass
    _sell(till)
    named = till.pay(customer="named")
    till.deliver(*named.notifications)
    machine.wait_until(lambda: machine.rows(_METHODS, till.id), "a sale that names somebody is credited meanwhile")
    begun = "select from platform_lookup where organization_id = %s"
    machine.wait_until(lambda: len(machine.rows(begun, till.id)) == len(_BUYERS), "every look-up has begun")
    machine.execute(
        "update platform_lookup set started_at = started_at - interval '2 hours' where organization_id = %s",
        str(till.id),
    )
    machine.execute(
        "update platform_connection set credits_since = credits_since - interval '3 hours' where organization_id = %s",
        str(till.id),
    )

    def are_dead() -> bool:
        machine.execute(
            "update job set run_at = now() where organization_id = %s and deadline is null and failed_at is null",
            str(till.id),
        )
        return len(machine.rows(_DEAD, till.id)) == len(_BUYERS)

    machine.wait_until(are_dead, "every look-up is a dead letter")

    # then
    assert {status for (status,) in till.events("status")} == {"Processed"}
    with closing(_Back(machine, platform)):
        machine.execute(
            "update job set failed_at = null, deadline = null, run_at = now(), max_attempts = attempt + 20"
            " where organization_id = %s and failed_at is not null",
            str(till.id),
        )
        outcome.check(machine, till)
    assert sorted(machine.rows(_METHODS, till.id), key=str).count(("crm_lookup:kit",)) == len(_BUYERS)


class _Back(KitStage):
    """The same platform once more, with the people whom it knew."""

    def __init__(self, machine: Machine, former: KitStage) -> None:
        super().__init__(machine.platform_port)
        self.people = former.people

    def close(self) -> None:
        """Stop answering."""
        self.stop()
