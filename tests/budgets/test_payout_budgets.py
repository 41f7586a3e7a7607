"""Payouts cost as many round trips for many recipients, lines and currencies as for one."""

import pytest

from adapters import clock
from domain.payouts.transfers import Paid
from models import db
from models.payouts import lists
from pipelines.payouts import due, funding, transfer
from tests.support.api.lists import trips_of
from tests.support.api.payouts import URL, owner, run
from tests.support.rows.paying import EVERYTHING, Payroll

# Who calls is looked up in a transaction of its own.
_CALLER = 2


@pytest.fixture
def payroll(app):
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


def _trips(payroll, work):
    def at_once():
        with db.unit_of_work(payroll.brand.id):
            work()

    return trips_of(at_once)


@pytest.mark.parametrize("query", ["", "?status=Pending", "?take=2"])
def test_a_page_of_payouts_costs_two_round_trips_with_all_its_lines(payroll, query):
    run(payroll)
    few = trips_of(lambda: payroll.brand.get(URL + query))
    _grow(payroll)
    run(payroll)

    many = trips_of(lambda: payroll.brand.get(URL + query))

    assert "2 round trips with the lines" in lists.page.__doc__
    assert few == many == _CALLER + 2


def test_a_page_without_lines_costs_one(payroll):
    run(payroll)

    assert trips_of(lambda: payroll.brand.get(f"{URL}?lineItems=false")) == _CALLER + 1


def test_one_payout_costs_two(payroll):
    (payout,) = run(payroll)["payouts"]

    assert "2 round trips" in lists.find.__doc__
    assert trips_of(lambda: payroll.brand.get(f"{URL}/{payout['payoutId']}")) == _CALLER + 2


def test_the_funding_status_costs_three(payroll):
    run(payroll)

    def look():
        funding.status(organization_id=payroll.brand.id, now=clock.now())

    assert "3 round trips" in funding.status.__doc__
    assert _trips(payroll, look) == 3 + 1


def test_a_preview_costs_seven_for_any_number_of_candidates_and_currencies(payroll):
    def look():
        due.preview(organization_id=payroll.brand.id, filters=EVERYTHING, now=clock.now())

    few = _trips(payroll, look)
    _grow(payroll)

    assert "7 round trips" in due.preview.__doc__
    assert few <= _trips(payroll, look) <= 7 + 1


def test_a_run_costs_the_same_for_any_number_of_recipients_and_lines(payroll):
    person = owner(payroll)

    def paying(total):
        answer = person.post(f"{URL}/run", {"confirmTotalCents": total})
        assert answer.status_code == 200, answer.get_data(as_text=True)

    few = trips_of(lambda: paying(2_000))
    _grow(payroll)
    total = person.post(f"{URL}/preview").json["totalEligibleCents"]

    assert trips_of(lambda: paying(total)) <= few + 1


def test_transfers_cost_one_to_prepare_and_one_to_record_for_any_number(payroll):
    def send(number):
        due_ids = "select id from payout where status = 'Pending' order by id limit %s"
        wanted = [payout_id for (payout_id,) in payroll.brand.rows(due_ids, number)]
        org, prepared = payroll.brand.id, []

        def prepare():
            prepared.extend(transfer.prepare(organization_id=org, payout_ids=wanted, now=clock.now()))

        def record():
            answered = [(each, Paid({"processorTransferId": str(each.payout.id)})) for each in prepared]
            transfer.record(answered, now=clock.now())

        return _trips(payroll, prepare), _trips(payroll, record)

    _grow(payroll)
    run(payroll)
    send(1)  # what is planned once per connection

    assert "1 round trip" in transfer.prepare.__doc__
    assert "1 round trip" in transfer.record.__doc__
    assert send(1) == send(2) == (1 + 1, 1 + 1)


def test_a_list_to_pay_by_hand_costs_the_same_for_any_number_of_payouts(payroll):
    person = owner(payroll)

    def listing(run_id):
        return trips_of(lambda: person.get(f"{URL}/mass-pay.csv?runId={run_id}&claim=true"))

    few = listing(run(payroll)["runId"])
    _grow(payroll)

    assert listing(run(payroll)["runId"]) == few
