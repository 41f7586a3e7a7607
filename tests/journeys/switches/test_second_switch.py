"""A second switch of the same account brings each customer once, and their count goes on.

Source: the switch-over rules, "Customers", "First payment and ordinals", "Known and changed".
"""

from datetime import timedelta

import pytest

from adapters import clock
from commands.demo.played.sample import Sample
from domain.switches.reasons import LeftOutReason
from domain.switches.records import AffiliateRef
from models import db
from pipelines.switches import running
from tests.api.gateways.conftest import Shop
from tests.journeys.switches.files.test_file_runs import _judge, _run
from tests.support.gateways.gateway_connections import connect_gateway, play_gateway
from tests.support.job_queues import drain as drain_jobs
from tests.support.rows.brands import Brand
from tests.support.switches import undoing
from tests.support.switches.judged_rows import NOW, JudgedSwitch, list_exceptions
from tests.support.switches.played_switch import WholeSwitch, switching
from tests.support.switches.scene import SwitchScene, days_ago
from tests.support.switches.source_records import build_affiliate, build_commission, build_customer

_BROUGHT = """
select b.source_id, a.email, b.customer_id, b.payments from brought_customer b join affiliate a on a.id = b.affiliate_id
order by b.source_id
"""
_COUNTS = "select customer_key, payments from program_customer where payments > 0 order by 1"


@pytest.fixture
def brand(app) -> Brand:
    brand = Brand.create(app)
    brand.program(default_commission_type="Percentage", default_commission_value=20)
    return brand


@pytest.fixture
def bring(brand, monkeypatch):
    """Return a function that brings customers and commissions by a switch of its own."""

    def bring(customers=(), commissions=(), campaigns=None):
        scene = SwitchScene.create(brand, monkeypatch, campaigns=campaigns)
        scene.read("affiliates", [build_affiliate("ann"), build_affiliate("ben"), *_list_others(campaigns)])
        scene.read("customers", customers)
        scene.read("commissions", commissions)
        scene.judge()
        confirm = scene.switch().preview["to_confirm"]
        with db.unit_of_work(brand.id):
            running.start(
                organization_id=brand.id,
                switch_id=scene.id,
                member_id=None,
                confirm=confirm,
                now=clock.now(),
            )
        drain_jobs()
        assert scene.switch().state == "Completed"
        assert list_exceptions(brand.id) == []
        return scene

    return bring


def _list_others(campaigns):
    return [build_affiliate("cid", campaign="second")] if campaigns and "second" in campaigns else []


def _build_sales(*numbers, **fields):
    names = {"customer": "r1", "billing_id": "cus_1"} | fields
    return [build_commission(f"c{n}", occurred_at=days_ago(200 - 20 * n), **names) for n in numbers]


def _sell(brand, **payment):
    """Return who is credited for a payment at a gateway, with its type."""
    with play_gateway() as stage:
        shop = Shop(brand, stage, connect_gateway(brand.person("Owner"), stage))
        stage.now = clock.now() + timedelta(hours=1)
        shop.sell(slug=None, cents=10_000, **payment)
    return brand.rows(
        "select a.email, c.type from conversion c join affiliate a on a.id = c.affiliate_id where c.switch_id is null"
    )


@pytest.mark.parametrize("problem", [None, LeftOutReason.MovedCustomer])
def test_customer_with_a_newer_row_changes_affiliate_and_is_not_brought_again(brand, bring, problem):
    first_paid_at = days_ago(180)
    row = build_customer("r1", billing_id="cus_1", first_paid_at=first_paid_at, created_at=days_ago(190))
    bring([row], _build_sales(1, 2, 3))
    before = brand.rows("select * from brought_customer")
    moved = build_customer(
        "r2", affiliate=AffiliateRef(id="ben"), billing_id="cus_1", first_paid_at=first_paid_at, created_at=days_ago(2)
    )
    old = build_customer("r1", billing_id="cus_1", first_paid_at=first_paid_at, problem=problem)

    second = bring([old, moved], _build_sales(1, 2, 3, 4))

    assert brand.rows(_BROUGHT) == [("r2", "ben@example.com", "cus_1", 4)]
    assert brand.rows(_COUNTS) == [("id:cus_1", 4)]
    undoing.undo(second)
    assert brand.rows("select * from brought_customer") == before
    assert brand.rows(_COUNTS) == [("id:cus_1", 3)]


def test_customer_first_known_from_commissions_is_the_one_who_is_listed_later(brand, bring):
    bring(commissions=_build_sales(1, 2))
    row = build_customer("r1", affiliate=AffiliateRef(id="ben"), billing_id="cus_1", email="x@example.com")

    bring([row], _build_sales(1, 2, 3))
    third = bring([row], _build_sales(1, 2, 3))

    assert brand.rows(_BROUGHT) == [("r1", "ben@example.com", "cus_1", 3)]
    assert third.verdicts("customers") == {"r1": "known"}
    assert _sell(brand)[-1] == ("ben@example.com", "Recurring")


def test_affiliate_of_the_own_row_stays_when_a_later_switch_has_only_commissions(brand, bring):
    bring([build_customer("r1", billing_id="cus_1", email="x@example.com")], _build_sales(1))

    bring(commissions=_build_sales(2, affiliate="ben"))

    assert brand.rows(_BROUGHT) == [("r1", "ann@example.com", "cus_1", 2)]


def test_newest_commission_says_who_is_credited_whatever_the_order_of_the_exports(brand, bring):
    bring(commissions=_build_sales(5, affiliate="ben"))
    bring(commissions=_build_sales(3, 4))
    assert [row[1] for row in brand.rows(_BROUGHT)] == ["ben@example.com"]

    bring(commissions=_build_sales(6))

    assert [(row[1], row[3]) for row in brand.rows(_BROUGHT)] == [("ann@example.com", 4)]


def test_two_people_of_one_email_stay_two(brand, bring):
    bring([build_customer("r1", billing_id="cus_1", email="x@example.com")])
    other = build_customer("r2", billing_id="cus_2", email="x@example.com")

    bring([other])

    assert [row[0] for row in brand.rows(_BROUGHT)] == ["r1", "r2"]


def test_row_of_another_customer_takes_no_one_elses_place(brand, bring):
    row = build_customer("r1", email="x@example.com")
    bring([row])

    second = bring([row, build_customer("r0", billing_id="cus_2", email="x@example.com")])

    assert second.verdicts("customers") == {"r0": "new", "r1": "known"}


def test_customer_of_another_program_stays_there(brand, bring):
    brand.program()
    campaigns = {"main": brand.programs[0], "second": brand.programs[1]}
    bring([build_customer("r1", billing_id="cus_1", first_paid_at=days_ago(9))], campaigns=campaigns)

    row = build_customer("r2", affiliate=AffiliateRef(id="cid"), campaign="second", billing_id="cus_1")
    second = bring([row], campaigns=campaigns)
    assert second.verdicts("customers") == {"r2": "known"}

    # A customer who is still listed in both programs is one of each.
    both = bring([build_customer("r1", billing_id="cus_1"), row], campaigns=campaigns)

    assert both.verdicts("customers") == {"r1": "known", "r2": "new"}


def test_commission_that_was_deleted_there_still_counts(brand, bring):
    row = build_customer("r1", billing_id="cus_1", first_paid_at=days_ago(180))
    bring([row], _build_sales(1, 2, 3))

    bring([row], _build_sales(1, 2, 4))

    assert brand.rows(_COUNTS) == [("id:cus_1", 4)]


def test_number_that_the_source_states_is_not_added_to_its_commissions(brand, bring):
    bring([build_customer("r1", billing_id="cus_1", first_paid_at=days_ago(180), payments=3)])

    bring([build_customer("r1", billing_id="cus_1", payments=4)], _build_sales(1, 2, 3, 4))

    assert brand.rows(_BROUGHT) == [("r1", "ann@example.com", "cus_1", 4)]
    assert brand.rows(_COUNTS) == [("id:cus_1", 4)]


_HEAD = "Affiliate Email,Customer ID,Commission,Amount,Currency,Date,Status,Order\n"
_COLUMNS = {
    "affiliates": {"email": "Email", "fullName": "Name"},
    "commissions": {
        "affiliateEmail": "Affiliate Email",
        "customerId": "Customer ID",
        "commission": "Commission",
        "amount": "Amount",
        "currency": "Currency",
        "occurredAt": "Date",
        "state": "Status",
        "orderId": "Order",
    },
}


def test_partial_exports_add_up(brand, drain):
    counts = []
    for months in ((1, 2, 3, 4, 5, 6), (7,), (1, 2, 3, 4, 5, 6, 7, 8), (3,)):
        lines = [f"ann@x.test,cus_1,5.00,25.00,USD,2026-{month:02}-01,paid,o{month}\n" for month in months]
        files = {"affiliates": "Email,Name\nann@x.test,Ann\n", "commissions": _HEAD + "".join(lines)}
        _run(_judge(brand, drain, files, columns=_COLUMNS), drain)
        counts.append(brand.rows(_COUNTS)[0][1])

    assert counts == [6, 7, 8, 8]
    assert brand.rows(
        "select payments, to_char(first_paid_at, 'MM'), to_char(seen_at, 'MM') from brought_customer"
    ) == [(8, "01", "08")]
    types = brand.rows("select type from conversion order by occurred_at")
    assert [name for (name,) in types] == ["OneTime", *["Recurring"] * 7]
    assert list_exceptions(brand.id) == []


def test_moved_referral_of_a_played_firstpromoter_account_changes_affiliate(brand, monkeypatch):
    with switching(brand, monkeypatch, "firstpromoter", Sample(campaigns=1)) as first:
        first.connect()
        first.read()
        first.run()
        rows = first.account["referrals"]
        place = next(place for place in range(len(rows)) if rows[place].get("customer_since"))
        old = rows[place]
        other = next(
            rows[place]
            for place in range(len(rows))
            if rows[place]["promoter_campaign"]["id"] != old["promoter_campaign"]["id"]
        )
        counted = brand.rows(_COUNTS)
        rows.update(place, state="moved", email=old["email"] + " (moved)")
        rows.append({**old, "id": 3_999_999, "promoter_campaign": other["promoter_campaign"]})
        second = WholeSwitch(brand, first.name, first.server, first.program_id, options=first.options)
        second.connect()
        second.read()
        second.run()

    assert brand.rows(
        "select b.source_id, a.email from brought_customer b join affiliate a on a.id = b.affiliate_id"
        " where b.email = %s",
        old["email"],
    ) == [("3999999", other["promoter_campaign"]["promoter"]["email"].lower())]
    assert brand.rows(_COUNTS) == counted


def test_subscription_that_only_commissions_name_credits_the_next_payment(brand, bring):
    with play_gateway() as stage:
        shop = Shop(brand, stage, connect_gateway(brand.person("Owner"), stage))
        first = shop.sell(slug=None, cents=10_000, email=None)
        ((subscription,),) = brand.rows("select subscription_id from gateway_payment")
        row = build_customer("r1", email="x@example.com", first_paid_at=days_ago(180))
        bring([row], _build_sales(1, billing_id="account-7", subscription_id=subscription))
        stage.now = clock.now() + timedelta(hours=1)
        shop.sell(slug=None, cents=10_000, email=None, renews=first)

    here = (
        "select a.email, c.type from conversion c join affiliate a on a.id = c.affiliate_id where c.switch_id is null"
    )
    assert brand.rows(here)[-1] == ("ann@example.com", "Recurring")


def test_window_of_payments_without_an_amount_goes_on(brand, bring):
    brand.rows("update program set recurring_months = 3 returning id")
    row = build_customer("r1", billing_id="cus_1", created_at=days_ago(400))
    bring([row], _build_sales(1, 2, 3, amount_cents=0))

    assert brand.rows(_COUNTS) == [("id:cus_1", 3)]
    assert brand.rows("select first_paid_at from brought_customer") == [(days_ago(180),)]


def test_two_rows_that_change_one_customer_are_written_and_taken_back(brand):
    # given
    first = JudgedSwitch(brand)
    ben = first.affiliate("ben@example.com")
    customer = first.customer(ben, "cus_1")
    first.run()
    before = brand.rows("select * from brought_customer")
    second = JudgedSwitch(brand)
    for _ in range(2):
        second.customer(ben, "cus_1", customer_id=customer, payments=2, added_payments=1, seen_at=NOW)

    # when
    second.run()

    # then
    assert brand.rows("select id, payments from brought_customer") == [(customer, 2)]
    undoing.undo(second)
    assert brand.rows("select * from brought_customer") == before
    assert brand.rows("select payments from program_customer where customer_key = 'id:cus_1'") == [(1,)]
