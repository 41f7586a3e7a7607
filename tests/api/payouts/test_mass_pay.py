"""A run's payouts as CSV for manual payment. Source: core spec, "Payouts" and section 8 "Limits" (CSV cells)."""

import csv
import io

import pytest

import settings
from domain.payouts.transfers import Method
from models import db
from pipelines.payouts import rails
from tests.support.api.concurrency import run_concurrently
from tests.support.api.payouts import (
    UNKNOWN_ID,
    URL,
    create_payout,
    list_audit_entries,
    owner_session,
    problem_fields,
    run_payouts,
    session_without_login,
)

LIST = f"{URL}/mass-pay.csv"


@pytest.fixture
def payroll_without_rail(payroll, monkeypatch):
    """Return a payroll in an installation without a rail for Wallet; other methods use the sandbox."""
    has_rail = rails.has_rail
    monkeypatch.setattr(
        rails,
        "has_rail",
        lambda *, organization_id, method: (
            method != Method.Wallet and has_rail(organization_id=organization_id, method=method)
        ),
    )
    return payroll


def _start_run(payroll):
    return run_payouts(payroll)["runId"]


def _download(payroll, run_id, more=""):
    answer = owner_session(payroll).get(f"{LIST}?runId={run_id}{more}")
    assert answer.status_code == 200, answer.get_data(as_text=True)
    return list(csv.DictReader(io.StringIO(answer.text)))


def test_payout_without_a_rail_is_listed_with_its_recipient(payroll_without_rail):
    affiliate_id = payroll_without_rail.affiliate("ann", method="Wallet")
    payroll_without_rail.affiliate("ben")
    payroll_without_rail.sell("ann", 10_025)
    payroll_without_rail.sell("ben", 10_000)
    receipt = run_payouts(payroll_without_rail)

    (row,) = _download(payroll_without_rail, receipt["runId"])

    payout_id = next(
        payout_receipt["payoutId"] for payout_receipt in receipt["payouts"] if payout_receipt["method"] == "Wallet"
    )
    payout = payroll_without_rail.brand.get(f"{URL}/{payout_id}").json
    assert row == {
        "payout_id": payout_id,
        "affiliate_id": str(affiliate_id),
        "affiliate_email": "ann@example.com",
        "affiliate_name": "Ann",
        "method": "Wallet",
        "recipient": "acct_ann",
        "amount": "20.05",
        "currency": "USD",
        "period_start": payout["periodStart"],
        "period_end": payout["periodEnd"],
    }
    assert payout["exportedAt"]


def test_file_is_an_uncached_download(payroll):
    payroll.affiliate("ann")
    payroll.sell("ann")

    answer = owner_session(payroll).get(f"{LIST}?runId={_start_run(payroll)}")

    assert answer.content_type == "text/csv; charset=utf-8"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="mass-pay.csv"'
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.text == (
        "payout_id,affiliate_id,affiliate_email,affiliate_name,method,recipient,amount,currency,period_start,"
        "period_end\r\n"
    )


def test_listed_payout_is_never_sent_and_can_be_listed_again(payroll):
    payroll.affiliate("ann")
    payroll.sell("ann")
    run_id = _start_run(payroll)

    first = _download(payroll, run_id, "&claim=true")
    payroll.pay()

    assert payroll.payouts() == [("Pending", 2_000)]
    assert payroll.brand.rows("select count(*) from payout_attempt") == [(0,)]
    assert len(first) == 1
    assert _download(payroll, run_id) == _download(payroll, run_id, "&claim=true") == first


def test_payout_with_a_rail_is_not_listed_without_a_claim(payroll):
    payroll.affiliate("ann")
    payroll.sell("ann")
    run_id = _start_run(payroll)

    assert _download(payroll, run_id) == []
    payroll.pay()
    assert payroll.payouts() == [("Paid", 2_000)]
    assert _download(payroll, run_id, "&claim=true") == []


def test_payout_marked_paid_is_not_listed_again(payroll):
    payout_id = create_payout(payroll)
    run_id = payroll.brand.get(f"{URL}/{payout_id}").json["runId"]
    _download(payroll, run_id, "&claim=true")

    owner_session(payroll).post(f"{URL}/{payout_id}/mark-paid", {"externalTransactionId": "bank 1"})

    assert _download(payroll, run_id, "&claim=true") == []
    assert payroll.balance("ann") == {"USD": 0}


def test_refund_after_listing_is_a_debt_and_leaves_the_list_unchanged(payroll):
    payroll.affiliate("ann")
    payroll.sell("ann", 10_000, externalEventId="first")
    run_id = _start_run(payroll)
    (row,) = _download(payroll, run_id, "&claim=true")
    payroll.brand.refund("first", 2_500)

    assert _download(payroll, run_id) == [row]
    payout = (
        owner_session(payroll).post(f"{URL}/{row['payout_id']}/mark-paid", {"externalTransactionId": "bank 1"}).json
    )
    assert (payout["amountCents"], payout["lineItems"][0]["reversedAmountCents"]) == (2_000, 500)
    assert payroll.balance("ann") == {"USD": -500}


def test_ban_after_listing_leaves_the_payout_pending(payroll):
    payroll.affiliate("ann")
    payroll.sell("ann")
    run_id = _start_run(payroll)
    _download(payroll, run_id, "&claim=true")

    payroll.brand.post(f"/api/v1/fraud-events/ban-affiliate/{payroll.affiliates['ann']}")

    assert payroll.payouts() == [("Pending", 2_000)]


def test_listed_payout_can_be_voided_and_is_due_again(payroll):
    payroll.affiliate("ann")
    payroll.sell("ann", 10_000, externalEventId="first")
    run_id = _start_run(payroll)
    (row,) = _download(payroll, run_id, "&claim=true")
    payroll.brand.refund("first", 2_500)

    payout = owner_session(payroll).post(f"{URL}/{row['payout_id']}/void").json

    assert (payout["status"], payout["failureCode"], payout["amountCents"]) == ("Failed", "voided", 1_500)
    assert payroll.brand.post(f"{URL}/preview").json["totalEligibleCents"] == 1_500
    assert _download(payroll, run_id, "&claim=true") == []


@pytest.mark.parametrize("settings_", [{"needsReview": "on"}, {"verified": "off"}, {"payoutHold": "1"}])
def test_held_or_reviewed_payout_is_not_listed(payroll, settings_):
    payroll.brand.set(**settings_)
    payroll.affiliate("ann")
    payroll.sell("ann")

    assert _download(payroll, _start_run(payroll), "&claim=true") == []
    assert payroll.payouts("exported_at") == [(None,)]


def test_formula_cells_are_escaped(payroll_without_rail):
    payroll_without_rail.affiliate("ann", method="Wallet")
    payroll_without_rail.execute(
        "update affiliate set full_name = %s, payout_destination = %s where id = %s returning id",
        '=HYPERLINK("http://x","y"), Ünsal',
        "@SUM(1)",
        payroll_without_rail.affiliates["ann"],
    )
    payroll_without_rail.sell("ann")

    (row,) = _download(payroll_without_rail, _start_run(payroll_without_rail))

    assert (row["affiliate_name"], row["recipient"]) == ('\'=HYPERLINK("http://x","y"), Ünsal', "'@SUM(1)")


def test_every_download_is_audited(payroll):
    payroll.affiliate("ann")
    payroll.sell("ann")
    run_id = _start_run(payroll)
    _download(payroll, run_id, "&claim=true")
    _download(payroll, run_id)

    exports = list_audit_entries(payroll.brand, "payout.exported")

    assert [(actor, entity_id) for actor, entity_id, *_ in exports] == [("member", run_id)] * 2
    assert [after["addedCount"] for *_, after in exports] == [1, 0]
    assert exports[0][-1] == {"runId": run_id, "payoutCount": 1, "addedCount": 1, "totalCents": 2_000, "claim": True}


def test_concurrent_downloads_are_equal(payroll):
    for slug in ("ann", "ben"):
        payroll.affiliate(slug)
        payroll.sell(slug)
    run_id = _start_run(payroll)

    lists = run_concurrently(*[lambda: _download(payroll, run_id, "&claim=true") for _ in range(3)])

    assert len(lists[0]) == 2
    assert lists[0] == lists[1] == lists[2]
    assert sum(after["addedCount"] for *_, after in list_audit_entries(payroll.brand, "payout.exported")) == 2


@pytest.mark.parametrize(
    ("query", "field"),
    [("", "runId"), ("?runId=", "runId"), ("?runId=x", "runId"), (f"?runId={UNKNOWN_ID}&claim=1", "claim")],
)
def test_malformed_query_returns_400(payroll, query, field):
    assert problem_fields(owner_session(payroll).get(LIST + query)) == {field}


def test_other_tenants_run_returns_404(payroll, rival):
    payroll.affiliate("ann")
    payroll.sell("ann")
    run_id = _start_run(payroll)

    for caller, requested_id in ((rival.person("Owner"), run_id), (owner_session(payroll), UNKNOWN_ID)):
        answer = caller.get(f"{LIST}?runId={requested_id}&claim=true")
        assert (answer.status_code, answer.json["error"]) == (404, "not_found")
    assert payroll.payouts("exported_at") == [(None,)]


def test_only_a_freshly_logged_in_owner_sees_recipients(payroll):
    for caller in (payroll.brand, session_without_login(payroll.brand)):
        answer = caller.get(f"{LIST}?runId={UNKNOWN_ID}")
        assert (answer.status_code, answer.json["error"]) == (403, "interactive_session_required")
    for role in ("Admin", "Manager", "Viewer"):
        answer = payroll.brand.person(role).get(f"{LIST}?runId={UNKNOWN_ID}")
        assert (answer.status_code, answer.json["error"]) == (403, "forbidden")


def test_sandbox_rail_needs_a_shared_database(payroll):
    payroll.brand.set(sandboxRail="none")

    with db.unit_of_work(payroll.brand.id):
        has_rail = rails.has_rail(organization_id=payroll.brand.id, method=Method.Wallet)
    assert has_rail is (settings.current().servers.database_url is None)
