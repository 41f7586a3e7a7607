"""Payment lists as CSV: the required and optional columns, and the errors of an unreadable list."""

from datetime import UTC, datetime
from time import process_time
from uuid import UUID

import pytest

from domain.restores import lists
from domain.restores.transfers import TransferState

_PAYOUT = UUID(int=5)


def _read(*lines, method="Wallet"):
    return lists.parse([f"{line}\n" for line in lines], method=method)


def test_payment_with_required_columns_only_is_in_us_dollars():
    (payment,) = _read("reference,amount,paid_at", "TX-1,19.7,2026-11-28T10:00+02:00")

    assert (payment.reference, payment.amount_cents, payment.currency) == ("TX-1", 1970, "USD")
    assert (payment.made_at, payment.state) == (datetime(2026, 11, 28, 8, tzinfo=UTC), TransferState.paid)
    assert payment.references == {"walletBatchId": "TX-1", "walletTransactionId": "TX-1"}


def test_headings_match_in_any_case_and_other_columns_are_ignored():
    (payment,) = _read(
        "\ufeffReference,Fee,AMOUNT,Currency,Paid at,Key,State,Native,Account",
        f'TX-1,0.1,"1,840.00",usd,2026-11-28,payout:{_PAYOUT}:3,in_flight,USD=184000/184000@1@2026-11-28,a@b.example',
    )

    assert (payment.payout_id, payment.state, payment.account) == (_PAYOUT, TransferState.in_flight, "a@b.example")
    assert payment.amount_cents == 184_000
    assert [native.currency for native in payment.natives] == ["USD"]


def test_manual_payment_is_identified_by_its_payout_and_reference():
    (payment,) = _read("reference,amount,paid_at,payout_id", f"wire 7,20,2026-11-28,{_PAYOUT}", method="Manual")

    assert (payment.payout_id, payment.key) == (_PAYOUT, None)
    assert payment.references == {"externalTransactionId": "wire 7"}


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ([], "must name the columns"),
        (["reference,amount"], "must name the columns paid_at"),
        (["reference,amount,paid_at", ",1,2026-11-28"], "line 2: reference is empty"),
        (["reference,amount,paid_at", "a,1.001,2026-11-28"], "is not an amount of USD"),
        (["reference,amount,paid_at", "a,-1,2026-11-28"], "is not an amount of USD"),
        (["reference,amount,paid_at", "a,one,2026-11-28"], "line 2"),
        (["reference,amount,paid_at", "a,1,yesterday"], "line 2"),
        (["reference,amount,paid_at,currency", "a,1,2026-11-28,XXX"], "line 2"),
        (["reference,amount,paid_at,state", "a,1,2026-11-28,lost"], "line 2"),
        (["reference,amount,paid_at,payout_id", "a,1,2026-11-28,7"], "line 2"),
        (["reference,amount,paid_at", "a,1,2026-11-28", "a,1,2026-11-28"], "occurs 2 times"),
    ],
)
def test_unreadable_list_is_refused_with_its_line(lines, complaint):
    with pytest.raises(lists.UnreadableList, match=complaint):
        _read(*lines)


_HEAD = "reference,amount,paid_at"


@pytest.mark.parametrize(
    ("typed", "cents"),
    [("19.7", 1_970), ("19", 1_900), ("0.01", 1), ('"1,840.00"', 184_000), ('"1,840,000.5"', 184_000_050)],
)
def test_unambiguous_amount_is_parsed(typed, cents):
    assert _read(_HEAD, f"a,{typed},2026-11-28")[0].amount_cents == cents


@pytest.mark.parametrize(
    "typed",
    [
        '"12,50"', '"1.234,56"', '"1,84"', '"1,8400.00"', '",5"', "1e3", "1E+3", "NaN", "sNaN", "Infinity", "-Infinity",
        "1e999999999", "0", "0.00", "-1", "+1", "1_000", "٢٠", "$20", "20 USD", "0.001", "=20", "20.", ".5", "",
        "9" * 18, "9" * 40, "0x10",
    ],
)  # fmt: skip
def test_ambiguous_or_malformed_amount_is_refused(typed):
    with pytest.raises(lists.UnreadableList, match=r"line 2: .* is not an amount of USD"):
        _read(_HEAD, f"a,{typed},2026-11-28")


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        (["reference;amount;paid_at", "a;1;2026-11-28"], "with commas between the columns"),
        (["reference,amount,Amount,paid_at", "a,1,2,2026-11-28"], "the column amount more than once"),
        (["reference,paid_at,amount", "a,2026-11-28,1,840.00"], "line 2: it has more cells"),
        ([f"{_HEAD},key", "a,1,2026-11-28"], "line 2: it has fewer cells"),
        ([f"{_HEAD},key", f"a,1,2026-11-28,payout:{_PAYOUT}"], "line 2: .* is not a payout's key"),
        ([f"{_HEAD},key,payout_id", f"a,1,2026-11-28,payout:{_PAYOUT}:1,{UUID(int=6)}"], "different payouts"),
        ([f"{_HEAD},native", "a,1,2026-11-28,EUR=92/100@0.92"], "line 2: native .* is invalid"),
        ([f"{_HEAD},native", "a,1,2026-11-28,EUR=92/99@0.92@2026-11-27"], "line 2: native .* does not add up"),
        ([f"{_HEAD},native", "a,1,2026-11-28,EUR=92/100@0@2026-11-27"], "line 2: native .* is invalid"),
        ([f"{_HEAD},native", "a,1,2026-11-28,XXQ=92/100@0.92@2026-11-27"], "line 2: native .* is invalid"),
        ([f"{_HEAD},native", "a,1,2026-11-28,EUR=92/100@0.92@2026-13-27"], "line 2: native .* is invalid"),
        ([_HEAD, "a\x00b,1,2026-11-28"], "line 2: reference has a line break or another control"),
        ([_HEAD, '"a\nb",1,2026-11-28'], "line 2: reference has a line break or another control"),
        ([_HEAD, f"{'a' * 501},1,2026-11-28"], "line 2: reference is longer than"),
        ([_HEAD, f"{'a' * 200_000},1,2026-11-28"], "field larger than field limit"),
        ([_HEAD, '"a,1,2026-11-28'], "unexpected end of data"),
        ([_HEAD, "a,1,0001-01-01T00:00+14:00"], "line 2: paid_at .* is not a time"),
        ([f"{_HEAD},currency", "a,1,2026-11-28,XXX"], "line 2: 'XXX' is not a supported currency"),
        (
            [f"{_HEAD},state", "a,1,2026-11-28,Completed"],
            "line 2: the state 'Completed' must be one of paid, in_flight",
        ),
        ([f"{_HEAD},affiliate_id", "a,1,2026-11-28,7"], "line 2: affiliate_id '7' is not an id"),
    ],
)
def test_list_with_invalid_cells_is_refused_with_its_line(lines, complaint):
    with pytest.raises(lists.UnreadableList, match=complaint):
        _read(*lines)


def test_every_unreadable_line_is_reported_at_once():
    with pytest.raises(lists.UnreadableList) as refusal:
        _read(_HEAD, *[f"r{number},x,2026-11-28" for number in range(50)])

    assert "line 2: " in str(refusal.value)
    assert "line 21: " in str(refusal.value)
    assert str(refusal.value).endswith("and 30 more")


def test_parsing_time_grows_linearly_to_100_000_payments():
    def measure_cpu_seconds(count):
        rows = [f"r{row},1.00,2026-11-28" for row in range(count)]
        before = process_time()
        assert len(_read(_HEAD, *rows)) == count
        return process_time() - before

    small_seconds = measure_cpu_seconds(5_000)
    assert measure_cpu_seconds(100_000) < 20 * small_seconds * 6
