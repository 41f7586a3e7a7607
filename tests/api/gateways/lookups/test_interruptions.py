"""Events that end a look-up early, and changes of a sale while its look-up is pending."""

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


def _build_path(platform):
    return f"/api/v1/platforms/{platform.connection['id']}"


def _count_pending(shop):
    return shop.brand.rows("select count(*) from platform_lookup")


def _list_emails(shop):
    drain()
    return shop.brand.rows("select recipient, subject from mail_message where kind = 'notification.connection_broken'")


def _prepare_lookup(shop):
    """Book an uncredited payment; return its look-up as the job prepares it before calling platforms."""
    shop.deliver(*shop.stage.pay(Purchase(slug=None)).notifications)
    drain("gateways")
    ((lookup_id,),) = shop.brand.rows("select id from platform_lookup")
    with db.unit_of_work(shop.brand.id):
        return lookup.prepare(organization_id=shop.brand.id, lookup_id=lookup_id)


@pytest.mark.parametrize("fault", ["refuse", "forbid"])
def test_refusal_ends_look_ups_breaks_the_connection_and_emails_owners_once(shop, platform, skip_to_next_lookup, fault):
    platform.faults.extend([fault] * 2)
    shop.sell(slug=None)
    shop.sell(slug=None, customer="2", email="bob@example.com")
    connection = shop.brand.get(_build_path(platform)).json
    assert (connection["status"], connection["lastError"] is None) == ("Broken", False)
    assert _list_emails(shop) == [("owner@example.com", "Connection broken: Kit refuses your credentials")]
    assert (skip_to_next_lookup(), _count_pending(shop)) == (None, [(0,)])
    assert platform.count_lookups() == 1


def test_refusal_by_one_platform_leaves_the_others(shop, connect, skip_to_next_lookup):
    first, second = connect("kit"), connect("hubspot")
    first.faults.append("refuse")
    shop.sell(slug=None)
    second.add_person(ANN, slug="jane")
    first.add_person(ANN, slug="jane")
    skip_to_next_lookup()
    drain()
    assert shop.conversions("attribution_method") == [("crm_lookup:hubspot",)]
    assert first.count_lookups() == 1


@pytest.mark.parametrize(("method", "body"), [("PATCH", {"creditSales": False}), ("DELETE", None)])
def test_switching_crediting_off_or_removing_the_platform_ends_look_ups(
    shop, platform, skip_to_next_lookup, method, body
):
    shop.sell(slug=None)
    platform.add_person(ANN, slug="jane")
    assert shop.brand.person("Owner").call(method, _build_path(platform), body).status_code in (200, 204)
    skip_to_next_lookup()
    drain()
    assert (platform.count_lookups(), _count_pending(shop), skip_to_next_lookup()) == (1, [(0,)], None)
    assert shop.conversions() == []


def test_crediting_switched_on_again_applies_to_later_sales(shop, platform, skip_to_next_lookup):
    owner = shop.brand.person("Owner")
    shop.sell(slug=None)
    for is_on in (False, True):
        owner.call("PATCH", _build_path(platform), {"creditSales": is_on})
    platform.add_person(ANN, slug="jane")
    shop.change("update job set run_at = now()")
    drain()
    assert shop.conversions() == []
    platform.add_person("bob@example.com", slug="jane")
    shop.sell(slug=None, customer="2", email="bob@example.com")
    assert len(shop.conversions()) == 1


@pytest.mark.parametrize(("method", "body"), [("PATCH", {"creditSales": False}), ("DELETE", None)])
def test_answer_received_before_crediting_ends_credits_no_one(shop, platform, method, body):
    platform.add_person(ANN, slug="jane")
    prepared = _prepare_lookup(shop)
    answer = lookup.ask_platforms(prepared)
    shop.brand.person("Owner").call(method, _build_path(platform), body)
    with db.unit_of_work(shop.brand.id):
        assert lookup.record(prepared, answer, now=clock.now()) is None
    assert (shop.conversions(), _count_pending(shop)) == ([], [(0,)])


def test_refusal_of_replaced_credentials_leaves_the_platform_active(shop, platform):
    platform.add_person(ANN, slug="jane")
    prepared = _prepare_lookup(shop)
    platform.faults.append("refuse")
    answer = lookup.ask_platforms(prepared)
    shop.brand.person("Owner").call("PATCH", _build_path(platform), {"credentials": dict(platform.credentials)})
    with db.unit_of_work(shop.brand.id):
        assert lookup.record(prepared, answer, now=clock.now()) is not None
    assert shop.brand.get(_build_path(platform)).json["status"] == "Active"


def test_refund_during_look_up_is_deducted_from_the_conversion(shop, platform, skip_to_next_lookup):
    sale = shop.sell(slug=None, cents=10_000)
    shop.receive(*shop.stage.refund(sale, 4_000), *shop.stage.dispute(sale, "opened"))
    platform.add_person(ANN, slug="jane")
    skip_to_next_lookup()
    drain()
    assert shop.conversions("refunded_cents, reversed_cents, disputed_at is not null, status") == [
        (4_000, 800, True, "Pending")
    ]
    shop.receive(*shop.stage.refund(sale, 6_000))
    assert shop.conversions("refunded_cents, reversed_cents, status") == [(10_000, 2_000, "Refunded")]


def test_full_refund_during_look_up_leaves_no_earnings(shop, platform, skip_to_next_lookup):
    sale = shop.sell(slug=None, cents=10_000)
    shop.receive(*shop.stage.refund(sale, 10_000))
    platform.add_person(ANN, slug="jane")
    skip_to_next_lookup()
    drain()
    assert shop.conversions("commission_cents - reversed_cents, status") in ([(0, "Refunded")], [])


def test_sale_credited_otherwise_during_look_up_stays_and_ends_it(shop, platform, skip_to_next_lookup):
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
    shop.receive(shop.build_stripe_event("checkout.session.completed", session))
    assert shop.conversions("attribution_method") == [("stripe_reference_id",)]
    platform.add_person(ANN, slug="jane")
    skip_to_next_lookup()
    drain()
    assert shop.conversions("attribution_method") == [("stripe_reference_id",)]
    assert (platform.count_lookups(), _count_pending(shop)) == (1, [(0,)])


def test_answer_for_an_already_credited_sale_changes_nothing(shop, platform):
    platform.add_person(ANN, slug="jane")
    prepared = _prepare_lookup(shop)
    answer = lookup.ask_platforms(prepared)
    drain()
    assert len(shop.conversions()) == 1
    with db.unit_of_work(shop.brand.id):
        assert lookup.record(prepared, answer, now=clock.now()) is None
    assert len(shop.conversions()) == 1
    assert len(shop.list_webhook_data("conversion.created")) == 1


def test_concurrent_answers_credit_once(shop, platform):
    platform.add_person(ANN, slug="jane")
    prepared = _prepare_lookup(shop)
    answer = lookup.ask_platforms(prepared)

    def record(_):
        with db.unit_of_work(shop.brand.id):
            lookup.record(prepared, answer, now=clock.now())

    run_in_threads(4, record)
    assert len(shop.conversions()) == 1
    assert len(shop.list_webhook_data("conversion.created")) == 1


def test_another_tenants_look_up_is_not_found(shop, platform, rival):
    shop.sell(slug=None)
    ((lookup_id,),) = shop.brand.rows("select id from platform_lookup")
    with db.unit_of_work(rival.id):
        assert lookup.prepare(organization_id=rival.id, lookup_id=lookup_id) is None
        assert lookups.find(organization_id=rival.id, lookup_id=lookup_id) is None


def test_discarded_look_up_is_deleted(shop, platform):
    shop.sell(slug=None)
    for expected in ([(1,)], [(0,)]):
        with db.any_org_work():
            upkeep.delete_expired()
        assert _count_pending(shop) == expected
        shop.change("delete from job where name = 'platform.lookup'")
