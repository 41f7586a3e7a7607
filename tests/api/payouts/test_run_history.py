"""Past payout runs, lines of payouts and holds. Source: core spec, "Payouts"."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from tests.support.api.lists import assert_foreign_cursors_refused
from tests.support.api.payouts import UNKNOWN_ID, URL, create_payout, owner_session, read_refusal, run_payouts
from tests.support.rows.payroll import Payroll

RUNS = f"{URL}/runs"
HOLDS = f"{URL}/holds"
_FAIL = "update payout set status = 'Failed', failed_at = now(), failure_reason = 'No.'"


def _counts_by_status(run_view):
    return {name.removesuffix("Count"): run_view[name] for name in run_view if name.endswith("Count")}


def test_run_shows_every_field(payroll):
    payroll.rate("EUR", "0.8")
    payroll.affiliate("ann")
    payroll.sell("ann", 10_000, "EUR")
    receipt = run_payouts(payroll, notes="March", externalTransactionId="batch 7")

    run_view = payroll.brand.get(f"{RUNS}/{receipt['runId']}").json

    assert datetime.fromisoformat(run_view.pop("createdAt")).tzinfo is not None
    assert run_view == {
        "runId": receipt["runId"],
        "confirmedByEmail": "owner@example.com",
        "currency": "USD",
        "nativeTotalsForRun": {"EUR": 2_000},
        "totalCents": 2_500,
        "paidCents": 0,
        "payoutCount": 1,
        "pendingCount": 1,
        "processingCount": 0,
        "paidCount": 0,
        "failedCount": 0,
        "voidedCount": 0,
        "notes": "March",
        "externalTransactionId": "batch 7",
        "needsManualReview": False,
        "reviewStatus": None,
        "holdUntil": None,
    }


def test_payouts_of_a_run_are_counted_by_status(payroll):
    for slug in ("ann", "ben", "cyd", "dee"):
        payroll.affiliate(slug)
        payroll.sell(slug, 10_000)
    receipt = run_payouts(payroll)
    paid, failed, voided = (payout["payoutId"] for payout in receipt["payouts"][:3])
    payroll.execute("update payout set status = 'Paid', paid_at = now() where id = %s", UUID(paid))
    for payout_id in (failed, voided):
        payroll.execute(f"{_FAIL} where id = %s", UUID(payout_id))
    assert owner_session(payroll).post(f"{URL}/{voided}/void").status_code == 200

    run_view = payroll.brand.get(f"{RUNS}/{receipt['runId']}").json

    expected = {"payout": 4, "pending": 1, "processing": 0, "paid": 1, "failed": 1, "voided": 1}
    assert _counts_by_status(run_view) == expected
    assert (run_view["totalCents"], run_view["paidCents"]) == (6_000, 2_000)


def test_run_shows_review_and_hold(payroll):
    payroll.brand.set(needsReview="on", payoutHold="7")
    create_payout(payroll)

    (run_view,) = payroll.brand.get(RUNS).json["items"]

    assert (run_view["needsManualReview"], run_view["reviewStatus"]) == (True, "Pending")
    assert datetime.fromisoformat(run_view["holdUntil"]) > datetime.now(UTC) + timedelta(days=6)


def _create_two_runs(payroll):
    for _ in range(2):
        create_payout(payroll)
    return payroll


def test_runs_are_listed_newest_first_in_pages(app, payroll):
    payroll.affiliate("ann")
    run_ids = []
    for _ in range(3):
        payroll.sell("ann", 10_000)
        run_ids.insert(0, run_payouts(payroll)["runId"])

    first = payroll.brand.get(f"{RUNS}?take=2").json
    second = payroll.brand.get(f"{RUNS}?take=2&cursor={first['nextCursor']}").json

    assert [item["runId"] for item in first["items"] + second["items"]] == run_ids
    assert (first["hasMore"], second["hasMore"], second["nextCursor"]) == (True, False, None)
    other = _create_two_runs(Payroll.create(app))
    assert_foreign_cursors_refused(payroll.brand, RUNS, foreign=(other.brand, RUNS), other=(payroll.brand, URL))


def test_unknown_and_other_tenants_ids_return_the_same_404(payroll, rival):
    receipt, payout_id = run_payouts(_create_due(payroll)), str(payroll.payouts("id")[0][0])

    for path in (f"{RUNS}/{receipt['runId']}", f"{URL}/{payout_id}/lines"):
        assert read_refusal(rival.get(path)) == (404, "not_found")
        assert payroll.brand.get(path).status_code == 200
    for path in (f"{RUNS}/{UNKNOWN_ID}", f"{RUNS}/x", f"{URL}/{UNKNOWN_ID}/lines", f"{URL}/%00/lines"):
        assert read_refusal(payroll.brand.get(path)) == (404, "not_found")
    assert rival.get(RUNS).json["items"] == rival.get(HOLDS).json == []


def _create_due(payroll):
    payroll.affiliate("ann")
    payroll.sell("ann", 10_000)
    return payroll


def test_lines_of_a_payout_are_paged(payroll):
    payroll.rate("EUR", "0.8")
    payroll.affiliate("ann")
    conversion_ids = {payroll.sell("ann", 10_000, "EUR") for _ in range(3)}
    (payout,) = run_payouts(payroll)["payouts"]
    path = f"{URL}/{payout['payoutId']}"

    first = payroll.brand.get(f"{path}/lines?take=2").json
    second = payroll.brand.get(f"{path}/lines?take=2&cursor={first['nextCursor']}").json

    lines = first["items"] + second["items"]
    all_lines = payroll.brand.get(path).json["lineItems"]
    assert {line["conversionId"] for line in lines} == conversion_ids
    assert sorted(lines, key=lambda line: line["id"]) == sorted(all_lines, key=lambda line: line["id"])
    assert (second["hasMore"], second["nextCursor"]) == (False, None)
    other = f"{URL}/{create_payout(_create_two_runs(payroll))}/lines"
    assert payroll.brand.get(f"{other}?cursor={first['nextCursor']}").status_code == 400
    assert payroll.brand.get(f"{path}/lines?cursor=x").status_code == 400


def test_payout_without_lines_has_every_other_field(payroll):
    path = f"{URL}/{create_payout(payroll)}"

    complete, without_lines = payroll.brand.get(path).json, payroll.brand.get(f"{path}?lineItems=false").json

    del complete["lineItems"]
    assert without_lines == complete


def test_holds_are_grouped_by_due_day(payroll):
    payroll.affiliate("ann")
    payroll.brand.set(payoutGraceDays="30")
    for amount, currency in ((10_000, "USD"), (5_000, "USD"), (5_000, "EUR")):
        payroll.sell("ann", amount, currency)
    payroll.brand.other_key(is_test=True).sale(affiliateSlug="ann")
    payroll.sell("ann", 10_000, externalEventId="gone")
    payroll.brand.refund("gone", 10_000)

    holds = payroll.brand.get(HOLDS).json

    assert {hold["day"] for hold in holds} == {(datetime.now(UTC) + timedelta(days=30)).date().isoformat()}
    assert [(hold["currency"], hold["amountCents"], hold["conversionCount"]) for hold in holds] == [
        ("EUR", 1_000, 1),
        ("USD", 3_000, 2),
    ]


def test_due_commission_is_not_on_hold(payroll):
    _create_due(payroll)

    assert payroll.brand.get(HOLDS).json == []
