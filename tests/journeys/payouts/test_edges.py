"""Interactions of payout decisions: bans and runs, late answers of rails, returned money."""

import pytest

from adapters import clock
from adapters.rails import registry
from adapters.rails.processor_connect import ProcessorConnectRail
from domain.payouts.confirmation import RunRequest
from domain.refusals import Refused
from models import db
from models.ledger import rules
from pipelines.payouts import decisions, run
from tests.adapters.rails import fake_processor as fake
from tests.adapters.rails import rail_setups
from tests.support.api.concurrency import start_call
from tests.support.api.payouts import create_payout
from tests.support.job_queues import drain
from tests.support.rows.payroll import Payroll


@pytest.fixture
def payroll(app):
    payroll = Payroll.create(app)
    yield payroll
    with db.unit_of_work(payroll.brand.id):
        assert rules.find_exceptions(payroll.brand.id, limit=5) == []


def test_status_change_to_banned_voids_unsent_payouts(payroll):
    create_payout(payroll)
    answer = payroll.brand.call("PATCH", f"/api/v1/affiliates/{payroll.affiliates['ann']}", {"status": "Banned"})
    assert answer.status_code == 200
    payroll.pay()
    assert payroll.payouts("status, failure_code, voided_at is not null") == [("Failed", "affiliate_banned", True)]


def test_ban_waits_for_a_run_and_voids_its_payouts(payroll):
    payroll.affiliate("ann")
    payroll.sell("ann")
    ann = f"/api/v1/fraud-events/ban-affiliate/{payroll.affiliates['ann']}"
    with db.unit_of_work(payroll.brand.id):
        run.create(organization_id=payroll.brand.id, request=RunRequest(), now=clock.now())
        db.db.run("select 1")
        join_ban = start_call(lambda: payroll.brand.post(ann))
    join_ban()
    assert payroll.payouts("status, failure_code") == [("Failed", "affiliate_banned")]


def test_payout_paid_contains_only_its_methods_reference(payroll):
    create_payout(payroll, externalTransactionId="batch 7", notes="july")
    payroll.pay()
    ((data,),) = payroll.brand.rows("select body::jsonb -> 'data' from event where type = 'payout.paid'")
    common_fields = {"payoutId", "affiliateId", "amountCents", "currency", "method", "paidAt"}
    assert set(data) == common_fields | {"processorTransferId"}


def _invalidate_and_validate_during_transfer(payroll):
    payroll.execute("update organization set sandbox_rail = 'slow'")
    payroll.affiliate("ann")
    sale = payroll.sell("ann")
    payroll.run()
    payroll.pay()
    assert payroll.payouts() == [("Processing", 2_000)]
    manager = payroll.brand.person("Manager")
    assert manager.post(f"/api/v1/conversions/{sale}/invalidate", {}).status_code == 200
    assert payroll.lines("reversed_amount_cents") == [(2_000,)]
    assert manager.post(f"/api/v1/conversions/{sale}/validate", {}).status_code == 200


def test_revalidated_line_is_not_shown_as_reversed(payroll):
    _invalidate_and_validate_during_transfer(payroll)

    assert payroll.lines("reversed_amount_cents, reversed_at is null") == [(0, True)]


def test_conversion_revalidated_before_failure_is_paid_by_the_retry(payroll):
    _invalidate_and_validate_during_transfer(payroll)
    ((payout_id,),) = payroll.payouts("id")
    with db.unit_of_work(payroll.brand.id):
        payout = decisions.lock(organization_id=payroll.brand.id, payout_id=payout_id)
        decisions.settle_by_hand(payout, paid_as=None, failed_because="not carried out", now=clock.now())
    payroll.execute("update organization set sandbox_rail = 'ok'")

    assert payroll.brand.person("Owner").post(f"/api/v1/payouts/{payout_id}/retry", {}).status_code == 200
    payroll.pay()

    assert payroll.payouts() == [("Paid", 2_000)]
    assert payroll.balance("ann") == {"USD": 0}


@pytest.fixture
def service():
    processor = fake.FakeProcessor()
    yield processor
    processor.stop()


@pytest.fixture
def use_only(monkeypatch):
    """Return a function that makes a rail the only configured one."""
    return lambda rail: monkeypatch.setattr(registry, "_configured_rails", lambda: {rail.method: rail})


def _send_without_answer(payroll, rail, fault="500_before"):
    payroll.execute("update organization set sandbox_rail = null")
    create_payout(payroll)
    rail.misbehave(fault)
    payroll.pay()
    assert payroll.payouts() == [("Processing", 2_000)]


def _look_up_again(payroll):
    payroll.execute("update job set run_at = now() where name = 'payout.transfer'")
    payroll.pay()


def test_payout_is_not_sent_through_a_rail_with_another_account(payroll, service, use_only):
    first, second = rail_setups.over_http(service, "ProcessorConnect"), fake.FakeProcessor()
    use_only(first.rail)
    _send_without_answer(payroll, first, "500_after")
    use_only(ProcessorConnectRail(url=second.url, key=fake.KEY, webhook_secret=fake.WEBHOOK_SECRET))

    _look_up_again(payroll)
    second.stop()

    assert (len(service.books), second.books) == (1, [])
    assert payroll.payouts() == [("Processing", 2_000)]
    use_only(first.rail)
    _look_up_again(payroll)
    assert payroll.payouts() == [("Paid", 2_000)]


def test_sandbox_does_not_settle_a_rails_payout(payroll, service, use_only):
    rail_setup = rail_setups.over_http(service, "ProcessorConnect")
    use_only(rail_setup.rail)
    _send_without_answer(payroll, rail_setup)
    payroll.execute("update organization set sandbox_rail = 'ok'")

    _look_up_again(payroll)

    assert payroll.payouts() == [("Processing", 2_000)]


def test_retry_at_the_same_account_uses_the_same_key(payroll, service, use_only):
    rail_setup = rail_setups.over_http(service, "ProcessorConnect")
    use_only(rail_setup.rail)
    _send_without_answer(payroll, rail_setup)

    service.expire_keys()
    _look_up_again(payroll)

    assert payroll.payouts() == [("Paid", 2_000)]
    assert len(service.books) == 1


@pytest.mark.parametrize(("currency", "rate", "cents"), [("KWD", "0.3", 66_666_666_667), ("USD", "1", 200_000_000_000)])
def test_largest_amounts_are_paid_to_the_cent(payroll, currency, rate, cents):
    payroll.rate(currency, rate)
    payroll.affiliate("ann")
    for _ in range(3):
        payroll.sell("ann", 10**12, currency)

    assert payroll.preview().planned.native_totals == {currency: 600_000_000_000}
    payroll.run()
    payroll.pay()

    assert payroll.payouts() == [("Paid", 3 * cents)]
    assert payroll.balance("ann") == {currency: 0}


def test_amount_below_a_cent_stays_due(payroll):
    payroll.rate("KRW", "1400")
    payroll.affiliate("ann")
    payroll.sell("ann", 35, "KRW")

    with pytest.raises(Refused) as refused:
        payroll.run()

    assert refused.value.code == "nothing_to_pay"
    assert payroll.balance("ann") == {"KRW": 7}


def test_deleted_affiliate_is_paid(payroll):
    payroll.affiliate("ann")
    payroll.sell("ann")
    body = {"action": "delete", "affiliateIds": [str(payroll.affiliates["ann"])]}
    assert payroll.brand.post("/api/v1/affiliates/bulk-action", body).status_code == 200

    payroll.run()
    payroll.pay()

    assert payroll.payouts() == [("Paid", 2_000)]


def test_affiliate_approved_after_a_ban_is_paid(payroll):
    create_payout(payroll)
    ann = f"/api/v1/affiliates/{payroll.affiliates['ann']}"
    payroll.brand.post(f"/api/v1/fraud-events/ban-affiliate/{payroll.affiliates['ann']}")
    assert [candidate.blocked for candidate in payroll.preview().planned.candidates] == ["affiliate_not_approved"]

    assert payroll.brand.call("PATCH", ann, {"status": "Approved"}).status_code == 200
    payroll.run()
    payroll.pay()

    assert payroll.payouts() == [("Failed", 2_000), ("Paid", 2_000)]
    assert payroll.balance("ann") == {"USD": 0}


def test_minimum_payout_keeps_its_currency(payroll):
    payroll.rate("EUR", "0.5")
    payroll.execute("update organization set min_payout_cents = 2001, min_payout_currency = 'USD'")
    payroll.affiliate("ann")
    payroll.sell("ann")
    assert [candidate.blocked for candidate in payroll.preview().planned.candidates] == ["below_minimum"]

    payroll.execute("update organization set home_currency = 'EUR'")

    assert [candidate.blocked for candidate in payroll.preview().planned.candidates] == ["below_minimum"]
    payroll.sell("ann", 5)
    assert [candidate.blocked for candidate in payroll.preview().planned.candidates] == [None]


def test_longer_grace_does_not_affect_existing_payouts(payroll):
    payroll.affiliate("ann")
    payroll.sell("ann")
    payroll.run()
    payroll.sell("ann")

    answer = payroll.brand.person("Owner").call("PATCH", "/api/organizations/me", {"payoutGraceDays": 30})

    assert answer.status_code == 200
    assert payroll.preview().planned.candidates == []
    payroll.pay()
    assert payroll.payouts() == [("Paid", 2_000)]


def test_clicks_during_a_payout_are_due_afterwards(payroll):
    payroll.affiliate("ann")
    sale = payroll.sell("ann")
    payroll.run()
    payroll.execute("update conversion set commission_cents = 2500 where id = %s", sale)
    payroll.execute(
        "insert into ledger_entry (id, organization_id, program_id, affiliate_id, conversion_id, kind, amount_cents,"
        " currency, cause_id, is_test, created_at) select gen_random_uuid(), organization_id, program_id, affiliate_id,"
        " id, 'earn', 500, currency, gen_random_uuid(), false, now() from conversion where id = %s",
        sale,
    )
    payroll.execute("update conversion set source = 'cpc' where id = %s", sale)

    payroll.pay()

    assert payroll.brand.rows("select status, paid_cents from conversion") == [("Pending", 2_000)]
    payroll.run(500)
    payroll.pay()
    assert payroll.payouts() == [("Paid", 2_000), ("Paid", 500)]
    assert payroll.brand.rows("select status, paid_cents from conversion") == [("Paid", 2_500)]


@pytest.mark.parametrize(("is_sent", "paid"), [(False, 100), (True, 200)])
def test_unpaid_override_follows_refunds(payroll, is_sent, paid):
    brand = payroll.brand
    payroll.execute("update program set sub_affiliate_enabled = true, sub_affiliate_percent = 10")
    payroll.affiliate("rex")
    ann = payroll.affiliate("ann", method=None)
    payroll.execute("update affiliate set recruited_by_affiliate_id = %s where id = %s", payroll.affiliates["rex"], ann)
    payroll.sell("ann", externalEventId="first")
    drain()
    payroll.run()
    if is_sent:
        payroll.pay()

    assert brand.refund("first", 5_000).status_code == 200
    drain()
    payroll.pay()

    assert payroll.payouts() == [("Paid", paid)]
    assert payroll.balance("rex") == {"USD": 0}


def test_payout_with_rejected_credentials_is_retried_with_new_credentials(payroll, service, use_only):
    rail_setup = rail_setups.over_http(service, "ProcessorConnect")
    payroll.execute("update organization set sandbox_rail = null")
    create_payout(payroll)
    for key in ("sk_test_typed_wrong", "sk_test_typed_wrong_again"):
        use_only(ProcessorConnectRail(url=service.url, key=key, webhook_secret=None))
        _look_up_again(payroll)
        assert payroll.payouts() == [("Processing", 2_000)]

    use_only(rail_setup.rail)
    _look_up_again(payroll)

    assert payroll.payouts() == [("Paid", 2_000)]
    assert len(service.books) == 1
