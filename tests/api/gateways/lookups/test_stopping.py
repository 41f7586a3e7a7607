"""What ends a look-up before its time, and what happens to a sale meanwhile."""

import pytest

from adapters import clock
from models import db
from models.platforms import lookups
from pipelines import upkeep
from pipelines.platforms import lookup
from tests.support.gateways.stage import Purchase
from tests.support.job_queues import drain
from tests.support.threads import run_in_threads

ANN = "ann@example.com"


def _path(platform):
    return f"/api/v1/platforms/{platform.connection['id']}"


def _pending(shop):
    return shop.brand.rows("select count(*) from platform_lookup")


def _letters(shop):
    return shop.brand.rows("select recipient, subject from mail_message where kind = 'platform.broken'")


def _prepare(shop):
    """Book a payment of no affiliate, and return its look-up as the job would have it before it asks."""
    shop.deliver(*shop.stage.pay(Purchase(slug=None)).notifications)
    drain("gateways")
    ((lookup_id,),) = shop.brand.rows("select id from platform_lookup")
    with db.unit_of_work(shop.brand.id):
        return lookup.prepare(organization_id=shop.brand.id, lookup_id=lookup_id)


@pytest.mark.parametrize("fault", ["refuse", "forbid"])
def test_a_refusal_stops_look_ups_breaks_the_connection_and_tells_its_owners_once(shop, platform, until_next, fault):
    platform.faults.extend([fault] * 2)
    shop.sell(slug=None)
    shop.sell(slug=None, customer="2", email="bob@example.com")
    shown = shop.brand.get(_path(platform)).json
    assert (shown["status"], shown["lastError"] is None) == ("Broken", False)
    assert _letters(shop) == [("owner@example.com", "Kit refuses the connection of Brand")]
    assert (until_next(), _pending(shop)) == (None, [(0,)])
    assert platform.count_lookups() == 1


def test_a_refusal_by_one_leaves_the_others(shop, connect, until_next):
    first, second = connect("kit"), connect("hubspot")
    first.faults.append("refuse")
    shop.sell(slug=None)
    second.add_person(ANN, slug="jane")
    first.add_person(ANN, slug="jane")
    until_next()
    drain()
    assert shop.conversions("attribution_method") == [("crm_lookup:hubspot",)]
    assert first.count_lookups() == 1


@pytest.mark.parametrize(("method", "body"), [("PATCH", {"creditSales": False}), ("DELETE", None)])
def test_switching_crediting_off_and_removing_the_platform_stop_what_is_pending(
    shop, platform, until_next, method, body
):
    shop.sell(slug=None)
    platform.add_person(ANN, slug="jane")
    assert shop.brand.person("Owner").call(method, _path(platform), body).status_code in (200, 204)
    until_next()
    drain()
    assert (platform.count_lookups(), _pending(shop), until_next()) == (1, [(0,)], None)
    assert shop.conversions() == []


def test_crediting_that_is_switched_on_again_counts_for_later_sales(shop, platform, until_next):
    owner = shop.brand.person("Owner")
    shop.sell(slug=None)
    for wanted in (False, True):
        owner.call("PATCH", _path(platform), {"creditSales": wanted})
    platform.add_person(ANN, slug="jane")
    shop.change("update job set run_at = now()")
    drain()
    assert shop.conversions() == []
    platform.add_person("bob@example.com", slug="jane")
    shop.sell(slug=None, customer="2", email="bob@example.com")
    assert len(shop.conversions()) == 1


@pytest.mark.parametrize(("method", "body"), [("PATCH", {"creditSales": False}), ("DELETE", None)])
def test_an_answer_that_is_in_hand_when_crediting_ends_credits_nobody(shop, platform, method, body):
    platform.add_person(ANN, slug="jane")
    prepared = _prepare(shop)
    said = lookup.ask(prepared)
    shop.brand.person("Owner").call(method, _path(platform), body)
    with db.unit_of_work(shop.brand.id):
        assert lookup.record(prepared, said, now=clock.now()) is None
    assert (shop.conversions(), _pending(shop)) == ([], [(0,)])


def test_credentials_that_were_replaced_meanwhile_are_not_broken_by_an_old_refusal(shop, platform):
    platform.add_person(ANN, slug="jane")
    prepared = _prepare(shop)
    platform.faults.append("refuse")
    said = lookup.ask(prepared)
    shop.brand.person("Owner").call("PATCH", _path(platform), {"credentials": dict(platform.credentials)})
    with db.unit_of_work(shop.brand.id):
        assert lookup.record(prepared, said, now=clock.now()) is not None
    assert shop.brand.get(_path(platform)).json["status"] == "Active"


def test_what_went_back_meanwhile_is_taken_from_the_conversion(shop, platform, until_next):
    sale = shop.sell(slug=None, cents=10_000)
    shop.hear(*shop.stage.refund(sale, 4_000), *shop.stage.dispute(sale, "opened"))
    platform.add_person(ANN, slug="jane")
    until_next()
    drain()
    assert shop.conversions("refunded_cents, reversed_cents, disputed_at is not null, status") == [
        (4_000, 800, True, "Pending")
    ]
    shop.hear(*shop.stage.refund(sale, 6_000))
    assert shop.conversions("refunded_cents, reversed_cents, status") == [(10_000, 2_000, "Refunded")]


def test_a_sale_that_went_back_whole_meanwhile_earns_nothing(shop, platform, until_next):
    sale = shop.sell(slug=None, cents=10_000)
    shop.hear(*shop.stage.refund(sale, 10_000))
    platform.add_person(ANN, slug="jane")
    until_next()
    drain()
    assert shop.conversions("commission_cents - reversed_cents, status") in ([(0, "Refunded")], [])


def test_a_sale_that_was_credited_otherwise_meanwhile_stays_and_nobody_is_asked(shop, platform, until_next):
    shop.brand.affiliate("rob")
    shop.sell(slug=None)
    session = {
        "id": "cs_1",
        "object": "checkout.session",
        "mode": "subscription",
        "payment_status": "paid",
        "client_reference_id": "rob",
        "customer": "cus_1",
        "subscription": "sub_1",
        "livemode": True,
    }
    shop.hear(shop.event("checkout.session.completed", session))
    assert shop.conversions("attribution_method") == [("stripe_reference_id",)]
    platform.add_person(ANN, slug="jane")
    until_next()
    drain()
    assert shop.conversions("attribution_method") == [("stripe_reference_id",)]
    assert (platform.count_lookups(), _pending(shop)) == (1, [(0,)])


def test_an_answer_that_comes_when_the_sale_is_credited_already_changes_nothing(shop, platform):
    platform.add_person(ANN, slug="jane")
    prepared = _prepare(shop)
    said = lookup.ask(prepared)
    drain()
    assert len(shop.conversions()) == 1
    with db.unit_of_work(shop.brand.id):
        assert lookup.record(prepared, said, now=clock.now()) is None
    assert len(shop.conversions()) == 1
    assert len(shop.told("conversion.created")) == 1


def test_four_answers_at_once_credit_once(shop, platform):
    platform.add_person(ANN, slug="jane")
    prepared = _prepare(shop)
    said = lookup.ask(prepared)

    def record(_):
        with db.unit_of_work(shop.brand.id):
            lookup.record(prepared, said, now=clock.now())

    run_in_threads(4, record)
    assert len(shop.conversions()) == 1
    assert len(shop.told("conversion.created")) == 1


def test_somebody_elses_look_up_is_not_there(shop, platform, rival):
    shop.sell(slug=None)
    ((lookup_id,),) = shop.brand.rows("select id from platform_lookup")
    with db.unit_of_work(rival.id):
        assert lookup.prepare(organization_id=rival.id, lookup_id=lookup_id) is None
        assert lookups.find(organization_id=rival.id, lookup_id=lookup_id) is None


def test_of_a_look_up_that_an_operator_discards_nothing_stays(shop, platform):
    shop.sell(slug=None)
    for expected in ([(1,)], [(0,)]):
        with db.any_org_work():
            upkeep.delete_expired()
        assert _pending(shop) == expected
        shop.change("delete from job where name = 'platform.lookup'")
