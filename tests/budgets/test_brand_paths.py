"""Round trips of a brand's payouts and reports, with few rows and with many: one entry each."""

from datetime import timedelta

import pytest

from adapters import clock
from domain.payouts.transfers import Paid
from domain.programs.days import DayRange, PeriodComparison, pair_periods
from domain.programs.metrics import BoardMetric, MetricsGroup
from models import db
from models.deals import lists as deal_lists
from models.payouts import lists as payout_lists
from models.programs.metrics import MetricsScope
from pipelines.fraud import summary
from pipelines.payouts import funding, run_plan, transfer
from pipelines.programs import numbers, performance
from tests.budgets.counting import HotPath, in_one_transaction
from tests.support.api.payouts import URL, owner_session, run_payouts
from tests.support.rows.deal_scene import OWN, DealScene
from tests.support.rows.deal_scene import URL as DEALS
from tests.support.rows.fraud_rows import record_blocked_click
from tests.support.rows.payroll import EVERYTHING, Payroll
from tests.support.rows.program_rows import insert_click, insert_conversion, time_ago

# A lookup of the caller is a transaction of its own.
_CALLER = 2


def _fraud_summary(brand):
    brand.program(click_reward_cents=5, lead_bounty_cents=50, lead_bounty_currency="EUR")
    affiliate_id = brand.affiliate("ben")
    for reason in ("headless", "rapid", "burst"):
        record_blocked_click(brand, affiliate_id, reason)
        record_blocked_click(brand, affiliate_id, reason, subject="lead")
    with db.unit_of_work(brand.id):
        db.db.stage("update organization set home_currency = 'GBP' where id = %s", (brand.id,))
    fields = {"organization_id": brand.id, "program_id": brand.programs[-1], "days": 30}
    return [in_one_transaction(brand, lambda: summary.summarize(**fields, now=clock.now()))]


def _busy_programs(brand):
    """Yield with one program, and again with five, each with rows in three currencies."""
    for number in range(5):
        brand.program()
        affiliate_id = brand.affiliate(f"partner-{number}")
        for currency in ("USD", "EUR", "JPY"):
            insert_conversion(brand, affiliate_id, currency=currency, occurred_at=time_ago(days=number))
        insert_click(brand, affiliate_id)
        if number in (0, 4):
            yield


def _stats(brand):
    for _ in _busy_programs(brand):
        yield in_one_transaction(brand, lambda: numbers.list_stats(organization_id=brand.id, now=clock.now()))


def _year(today):
    return DayRange(today - timedelta(days=365), today)


def _metrics(brand):
    for _ in _busy_programs(brand):
        for group in MetricsGroup:
            yield in_one_transaction(
                brand,
                lambda group=group: performance.measure(MetricsScope(brand.id, None), _year(clock.now().date()), group),
            )


def _metrics_of_program_and_affiliate(brand):
    for _ in _busy_programs(brand):
        scope = MetricsScope(brand.id, brand.programs[0], brand.affiliate(f"one-{len(brand.programs)}"))
        yield in_one_transaction(
            brand, lambda scope=scope: performance.measure(scope, _year(clock.now().date()), MetricsGroup.day)
        )


def _summaries(brand):
    days = _year(clock.now().date())
    periods = pair_periods(days, PeriodComparison.year, today=days.last)
    for _ in _busy_programs(brand):
        for program_id in (None, brand.programs[0]):
            scope = MetricsScope(brand.id, program_id)
            for group in (MetricsGroup.day, MetricsGroup.month):
                yield in_one_transaction(
                    brand,
                    lambda scope=scope, group=group: performance.summarize(scope, periods, group),
                )


def _leaderboards(brand, *, is_of_program=False):
    for _ in _busy_programs(brand):
        fields = {"organization_id": brand.id, "days": _year(clock.now().date()), "limit": 100}
        fields["program_id"] = brand.programs[0] if is_of_program else None
        for metric in BoardMetric:
            yield in_one_transaction(
                brand, lambda metric=metric, fields=fields: performance.rank(metric=metric, **fields)
            )


def _payroll(app):
    payroll = Payroll.create(app)
    payroll.rate("EUR", "0.9")
    payroll.rate("JPY", "150")
    payroll.affiliate("ann")
    payroll.sell("ann")
    return payroll


def _grow(payroll):
    for slug in ("ben", "cyd", "dee"):
        payroll.affiliate(slug)
        for currency in ("USD", "EUR", "JPY", "USD"):
            payroll.sell(slug, 10_000, currency)


def _payout_pages(_, app, queries=("", "?status=Pending", "?take=2")):
    payroll = _payroll(app)
    for is_grown in (False, True):
        if is_grown:
            _grow(payroll)
        run_payouts(payroll)
        for query in queries:
            yield lambda query=query: payroll.brand.get(URL + query)


def _one_payout(_, app):
    payroll = _payroll(app)
    (payout,) = run_payouts(payroll)["payouts"]
    return [lambda: payroll.brand.get(f"{URL}/{payout['payoutId']}")]


def _funding(_, app):
    payroll = _payroll(app)
    run_payouts(payroll)
    return [
        in_one_transaction(
            payroll.brand, lambda: funding.find_funding(organization_id=payroll.brand.id, now=clock.now())
        )
    ]


def _previews(_, app):
    payroll = _payroll(app)
    fields = {"organization_id": payroll.brand.id, "filters": EVERYTHING}
    call = in_one_transaction(payroll.brand, lambda: run_plan.preview(**fields, now=clock.now()))
    yield call
    _grow(payroll)
    yield call


def _runs(_, app):
    payroll = _payroll(app)
    run_payouts(payroll)
    payroll.sell("ann")
    for is_grown in (False, True):
        if is_grown:
            _grow(payroll)
        person = owner_session(payroll)
        total = person.post(f"{URL}/preview").json["totalEligibleCents"]
        yield lambda person=person, total=total: person.post(f"{URL}/run", {"confirmTotalCents": total})


def _transfers(_, app):
    payroll = _payroll(app)
    _grow(payroll)
    run_payouts(payroll)
    for number in (1, 1, 2):
        due_ids = "select id from payout where status = 'Pending' order by id limit %s"
        ids = [payout_id for (payout_id,) in payroll.brand.rows(due_ids, number)]
        fields, prepared = {"organization_id": payroll.brand.id, "payout_ids": ids}, []
        yield in_one_transaction(
            payroll.brand, lambda fields=fields, to=prepared: to.extend(transfer.prepare(**fields, now=clock.now()))
        )
        answers = [(each, Paid({"processorTransferId": str(each.payout.id)})) for each in prepared]
        yield in_one_transaction(payroll.brand, lambda answers=answers: transfer.record(answers, now=clock.now()))


def _manual_payment_lists(_, app):
    payroll = _payroll(app)
    for is_grown in (False, True):
        if is_grown:
            _grow(payroll)
        run_id = run_payouts(payroll)["runId"]
        person = owner_session(payroll)
        yield lambda run_id=run_id, person=person: person.get(f"{URL}/mass-pay.csv?runId={run_id}&claim=true")


def _deal_pages(_, app, is_own=False):
    dealing = DealScene.create(app)
    dealing.creator.get(OWN)
    for number in (1, 4):
        for _ in range(number):
            dealing.create_offered(*(100, 200, 300)[:number])
        if is_own:
            yield lambda: dealing.creator.get(OWN)
        else:
            for query in ("", "?status=Offered", "?take=2"):
                yield lambda query=query: dealing.brand.get(DEALS + query)


_METRICS_BUDGET = "2 round trips (home currency and rates; days) and the commit"
_COMMIT = 1  # of a transaction with several statements
PATHS = {
    "fraud-summary": HotPath(
        _fraud_summary,
        4 + _COMMIT,
        stated={summary.summarize: "4 round trips (program; organization; counts; rates)"},
    ),
    "stats": HotPath(
        _stats,
        3 + _COMMIT,
        stated={numbers.list_stats: "3 round trips (programs; home currency and rates; owed amounts) and the commit"},
    ),
    "metrics": HotPath(_metrics, 2 + _COMMIT, stated={performance.measure: _METRICS_BUDGET}),
    "metrics-of-program-and-affiliate": HotPath(_metrics_of_program_and_affiliate, 2 + _COMMIT),
    "summary": HotPath(_summaries, 2 + _COMMIT, stated={performance.summarize: _METRICS_BUDGET}),
    "leaderboard": HotPath(_leaderboards, 2 + _COMMIT, stated={performance.rank: _METRICS_BUDGET}),
    "leaderboard-of-program": HotPath(lambda brand: _leaderboards(brand, is_of_program=True), 2 + _COMMIT),
    "payout-page": HotPath(_payout_pages, _CALLER + 2, stated={payout_lists.page: "2 round trips with the lines"}),
    "payout-page-without-lines": HotPath(
        lambda brand, app: _payout_pages(brand, app, ["?lineItems=false"]), _CALLER + 1
    ),
    "payout": HotPath(_one_payout, _CALLER + 2, stated={payout_lists.find: "2 round trips"}),
    "funding-status": HotPath(_funding, 3 + _COMMIT, stated={funding.find_funding: "3 round trips"}),
    "payout-preview": HotPath(_previews, 5 + _COMMIT, stated={run_plan.preview: "7 round trips"}),
    "payout-run": HotPath(_runs, 12),
    "transfer": HotPath(
        _transfers, 1 + _COMMIT, stated={transfer.prepare: "1 round trip", transfer.record: "1 round trip"}
    ),
    "manual-payment-list": HotPath(_manual_payment_lists, 5),
    "deal-page": HotPath(_deal_pages, _CALLER + 2, stated={deal_lists.page: "2 round trips"}),
    "own-deal-page": HotPath(
        lambda brand, app: _deal_pages(brand, app, is_own=True),
        _CALLER + 2,
        stated={deal_lists.any_org_page: "2 round trips"},
    ),
}


@pytest.mark.parametrize("name", PATHS)
def test_brand_path_keeps_its_budget(request, brand, name):
    PATHS[name].assert_budget(brand, request)


def test_stats_leave_the_session_unchanged(brand):
    next(_busy_programs(brand))

    for _ in range(2):
        with db.unit_of_work(brand.id):
            numbers.list_stats(organization_id=brand.id, now=clock.now())
            assert db.db.row("show enable_seqscan") == ("off",)
    with db.unit_of_work(brand.id):
        assert db.db.row("show enable_seqscan") == ("off",)
