"""The rows of one customer: the key, who is credited, first payment and number of payments."""

from datetime import UTC, datetime

import pytest

from domain.switches.rules import customer_rules
from domain.switches.rules.customer_rules import BroughtSales, CustomerRow


def _day(day: int) -> datetime:
    return datetime(2026, 3, day, tzinfo=UTC)


def _row(source_id: str = "r1", **fields) -> CustomerRow:
    return CustomerRow(
        **{
            "source_id": source_id,
            "billing_id": None,
            "subscription_id": None,
            "email": None,
            "name": None,
            "first_paid_at": None,
            "became_lead_at": None,
            "created_at": None,
            "payments": None,
        }
        | fields
    )


@pytest.mark.parametrize(
    ("names", "key"),
    [
        (("cus_1", "sub_1", "x@example.com"), "0|id:cus_1"),
        ((None, "sub_1", "x@example.com"), "0|subscription:sub_1"),
        ((None, None, "x@example.com"), "0|email:x@example.com"),
        ((None, None, None), None),
    ],
)
def test_billing_id_counts_before_subscription_and_email(names, key):
    billing_id, subscription_id, email = names

    actual = customer_rules.key(program="0", billing_id=billing_id, subscription_id=subscription_id, email=email)

    assert actual == key


def test_latest_first_payment_says_who_is_credited_then_the_latest_created():
    early = _row("r1", first_paid_at=_day(1), created_at=_day(9))
    late = _row("r2", first_paid_at=_day(2), created_at=_day(1))
    lead = _row("r3", created_at=_day(20))
    newer_lead = _row("r4", created_at=_day(21))

    assert customer_rules.choose_row([early, late, lead]) is late
    assert customer_rules.choose_row([lead, newer_lead]) is newer_lead


def test_first_payment_is_the_earlier_of_the_stated_and_the_earliest_sale():
    stated = _row(first_paid_at=_day(5))

    before = customer_rules.summarize([stated], BroughtSales(2, _day(3), _day(9)), read_at=_day(28))
    after = customer_rules.summarize([stated], BroughtSales(2, _day(7), _day(9)), read_at=_day(28))

    assert (before.first_paid_at, before.payments, before.seen_at) == (_day(3), 2, _day(9))
    assert after.first_paid_at == _day(5)


@pytest.mark.parametrize(("stated", "brought", "payments"), [(7, 2, 7), (1, 2, 2), (None, 2, 2), (1 << 62, 2, 100_000)])
def test_payments_are_the_greater_number(stated, brought, payments):
    row = _row(first_paid_at=_day(5), payments=stated)

    summary = customer_rules.summarize([row], BroughtSales(brought, _day(5), _day(9)), read_at=_day(28))

    assert summary.payments == payments


def test_customer_who_paid_before_the_commissions_that_are_left_has_one_payment():
    summary = customer_rules.summarize([_row(first_paid_at=_day(5))], BroughtSales(), read_at=_day(28))

    assert (summary.payments, summary.seen_at) == (1, _day(5))


def test_lead_has_no_payment_and_is_seen_when_they_became_one():
    row = _row(created_at=_day(2), became_lead_at=_day(4))

    summary = customer_rules.summarize([row], BroughtSales(), read_at=_day(28))

    assert (summary.first_paid_at, summary.payments, summary.seen_at) == (None, 0, _day(4))


def test_names_of_other_rows_fill_what_the_chosen_one_lacks():
    chosen = _row("r2", billing_id="cus_1", first_paid_at=_day(5))
    other = _row("r1", billing_id="cus_1", subscription_id="sub_1", email="x@example.com", name="X")

    summary = customer_rules.summarize([chosen, other], BroughtSales(), read_at=_day(28))

    names = (summary.billing_id, summary.subscription_id, summary.email, summary.name)
    assert names == ("cus_1", "sub_1", "x@example.com", "X")
