"""Commissions of source files, understood by columns and words. Source: the switch-over rules, B2 and B3."""

from datetime import UTC, datetime

import pytest

from adapters.switches.base import UnreadableRow
from domain.switches.reasons import LeftOutReason
from domain.switches.records import AffiliateRef, CommissionKind
from tests.support.switches.file_rows import understand

_COMMISSIONS = {
    "id": "Id",
    "affiliateId": "Partner",
    "affiliateEmail": "Mail",
    "customerId": "Customer",
    "orderId": "Order",
    "amount": "Total",
    "commission": "Earned",
    "currency": "Cur",
    "occurredAt": "Date",
    "state": "State",
    "refunded": "Back",
}
_WORDS = {"unpaid": "owed", "Void": "lost", "rejected": "lost", "on hold": "held"}
_ROW = {
    "Id": "c1",
    "Partner": "7",
    "Mail": "ada@x.test",
    "Total": "49.00",
    "Earned": "9.80",
    "Cur": "usd",
    "Date": "2024-05-01 12:00:00",
    "State": "unpaid",
}


def _commission(*, columns=_COMMISSIONS, words=_WORDS, separator=",", options=None, **cells):
    return understand("commissions", {**_ROW, **cells}, columns, words=words, separator=separator, **(options or {}))


def test_commission_has_every_mapped_field():
    record = _commission(Customer="cus_1", Order="o-1", Back="10.5")

    assert (record.source_id, record.word, record.kind) == ("c1", "unpaid", CommissionKind.Owed)
    assert record.affiliate == AffiliateRef(id="7", email="ada@x.test", campaign="all")
    assert (record.currency, record.amount_cents, record.commission_cents) == ("USD", 4900, 980)
    assert (record.refunded_cents, record.payment) == (1050, "o-1")
    assert (record.claimed_id, record.billing_id) == ("cus_1", None)
    assert record.occurred_at == datetime(2024, 5, 1, 12, tzinfo=UTC)
    assert record.problem is None


@pytest.mark.parametrize(
    ("state", "kind"),
    [
        ("UNPAID", CommissionKind.Owed),
        (" unpaid ", CommissionKind.Owed),
        ("on hold", CommissionKind.Held),
        ("void", CommissionKind.Refunded),
        ("rejected", CommissionKind.Denied),
        ("settled", None),
        ("", None),
    ],
)
def test_state_means_what_the_words_say_and_no_word_is_unknown(state, kind):
    assert _commission(State=state.strip()).kind == kind


def test_lost_sale_with_a_refund_is_refunded():
    assert _commission(State="rejected", Back="49").kind == CommissionKind.Refunded


def test_commission_without_a_column_of_states_is_paid():
    columns = {field: heading for field, heading in _COMMISSIONS.items() if field != "state"}

    assert _commission(columns=columns, State="unpaid").kind == CommissionKind.Paid
    assert _commission(columns=columns, words={"": "owed"}, State="unpaid").kind == CommissionKind.Owed


@pytest.mark.parametrize(
    ("cell", "separator", "currency", "cents"),
    [
        ("9.8", ",", "USD", 980),
        ("$9.80", ",", "USD", 980),
        ("9.80 EUR", ",", "EUR", 980),
        ("EUR 9.80", ",", "EUR", 980),
        ("\u20ac9,80", ";", "EUR", 980),
        ("-9.80", ",", "USD", -980),
        ("-$9.80", ",", "USD", -980),
        ("980", ",", "JPY", 980),
        ("980.00", ",", "JPY", 980),
        ("0.980", ",", "KWD", 980),
        ("9.8000000", ",", "USD", 980),
        ("0", ",", "USD", 0),
    ],
)
def test_amount_is_whole_minor_units_of_its_currency(cell, separator, currency, cents):
    record = _commission(separator=separator, Earned=cell, Total="", Cur=currency)

    assert (record.commission_cents, record.problem) == (cents, None)


@pytest.mark.parametrize(
    "cell", ["1,234.50", "1.234,50", "1 234.50", "(9.80)", "9.80-", "1e3", "NaN", "nine", "$", "", "--9.80"]
)
@pytest.mark.parametrize("separator", [",", ";"])
def test_amount_that_is_no_plain_number_makes_the_row_unreadable(cell, separator):
    with pytest.raises(UnreadableRow, match="commission"):
        _commission(Earned=cell, separator=separator)


@pytest.mark.parametrize(
    ("cells", "problem"),
    [
        ({"Earned": "9.801"}, LeftOutReason.AmountOutOfRange),
        ({"Earned": "9.5", "Total": "50", "Cur": "JPY"}, LeftOutReason.AmountOutOfRange),
        ({"Earned": "99999999999.99"}, LeftOutReason.AmountOutOfRange),
        ({"Total": "999999999999999"}, LeftOutReason.AmountOutOfRange),
        ({"Total": "-49"}, LeftOutReason.AmountOutOfRange),
        ({"Back": "49.01"}, LeftOutReason.AmountOutOfRange),
        ({"Back": "-1"}, LeftOutReason.AmountOutOfRange),
        ({"Cur": "EURO"}, LeftOutReason.UnsupportedCurrency),
        ({"Cur": ""}, LeftOutReason.UnsupportedCurrency),
        ({"Partner": "", "Mail": ""}, LeftOutReason.AffiliateUnknown),
    ],
)
def test_row_that_is_understood_but_cannot_come_has_its_reason(cells, problem):
    assert _commission(**cells).problem == problem


def test_amount_beyond_the_range_of_the_database_counts_nothing():
    record = _commission(Total="999999999999999", Earned="1")

    assert (record.amount_cents, record.commission_cents) == (0, 100)


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({"Date": ""}, "Its date of the sale is missing."),
        ({"Date": "5/1/2024"}, "date of the sale cannot be read. Write it as YYYY-MM-DD"),
        ({"Date": "0001-01-01T00:00:00+14:00"}, "date of the sale"),
        ({"Id": "x" * 301}, "id"),
        ({"Total": "1,234"}, "sale amount has separators of thousands"),
        ({"Earned": "$1,020.50"}, "commission has separators of thousands"),
        ({"Earned": "1.049,00 EUR"}, "commission has separators of thousands"),
        ({"Earned": "1 049"}, "commission has separators of thousands"),
        ({"Earned": "9,80"}, "commission has a comma"),
        ({"Earned": "nine"}, "commission is not a plain number"),
        ({"Back": "yes"}, "refunded"),
        ({"State": "x" * 256}, "status is too long"),
    ],
)
def test_bad_cell_makes_the_row_unreadable(cells, message):
    with pytest.raises(UnreadableRow, match=message):
        _commission(**cells)


def test_unreadable_row_is_named_by_its_place_its_fault_and_its_text():
    with pytest.raises(UnreadableRow) as unreadable:
        _commission(Earned="1,020.50", Order="o-1")

    label = unreadable.value.label
    assert label.startswith("Part 1, line 2: Its commission has separators of thousands.")
    assert "Earned: 1,020.50" in label


def test_columns_of_cents_hold_minor_units():
    columns = {"affiliateEmail": "Mail", "amountCents": "Total", "commissionCents": "Earned", "occurredAt": "Date"}
    record = _commission(columns=columns, options={"currency": "JPY"}, Total="4900", Earned="980")

    assert (record.currency, record.amount_cents, record.commission_cents) == ("JPY", 4900, 980)
    with pytest.raises(UnreadableRow, match="commission"):
        _commission(columns=columns, options={"currency": "JPY"}, Earned="9.80")


def test_option_is_the_currency_of_rows_that_name_none():
    assert _commission(Cur="", options={"currency": "EUR"}).currency == "EUR"
    assert _commission(Cur="USD", options={"currency": "EUR"}).currency == "USD"


def test_commission_without_a_sale_has_an_amount_of_zero():
    columns = {field: heading for field, heading in _COMMISSIONS.items() if field != "amount"}

    assert (_commission(columns=columns).amount_cents, _commission(Total="").amount_cents) == (0, 0)


def test_key_without_an_id_is_the_same_for_equal_rows_only():
    columns = {field: heading for field, heading in _COMMISSIONS.items() if field != "id"}
    keys = {_commission(columns=columns, **cells).source_id for cells in ({}, {"Unmapped": "x"}, {"Id": "other"})}
    others = {_commission(columns=columns, **cells).source_id for cells in ({"Earned": "1"}, {"Order": "2"})}

    assert len(keys) == 1
    assert len(others) == 2
    assert not keys & others


def test_commission_that_was_paid_meanwhile_keeps_its_key():
    columns = {field: heading for field, heading in _COMMISSIONS.items() if field != "id"}

    assert _commission(columns=columns).source_id == _commission(columns=columns, State="on hold", Back="1").source_id


def test_row_with_an_empty_id_gets_a_digest():
    assert _commission(Id="").source_id.startswith("sha256:")


def test_rows_name_no_campaign_where_affiliates_have_their_own():
    columns = {"commissions": _COMMISSIONS, "affiliates": {"email": "E", "campaign": "C"}}
    record = _commission(columns=columns)

    assert (record.campaign, record.affiliate.campaign) == (None, None)
