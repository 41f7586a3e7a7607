"""Lists of payments as CSV: which columns count, and what makes a list unreadable."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from domain.restores import lists
from domain.restores.transfers import TransferState

_PAYOUT = UUID(int=5)


def _read(*lines, method="Wallet"):
    return lists.read([f"{line}\n" for line in lines], method=method)


def test_required_columns_alone_are_a_payment_in_us_dollars():
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
    assert [one.currency for one in payment.natives] == ["USD"]


def test_payment_by_hand_is_known_by_its_payout_and_reference():
    (payment,) = _read("reference,amount,paid_at,payout_id", f"wire 7,20,2026-11-28,{_PAYOUT}", method="Manual")

    assert (payment.payout_id, payment.key) == (_PAYOUT, None)
    assert payment.references == {"externalTransactionId": "wire 7"}


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ([], "must name the columns"),
        (["reference,amount"], "must name the columns paid_at"),
        (["reference,amount,paid_at", ",1,2026-11-28"], "line 2: reference is empty"),
        (["reference,amount,paid_at", "a,1.001,2026-11-28"], "no amount of USD"),
        (["reference,amount,paid_at", "a,-1,2026-11-28"], "no amount of USD"),
        (["reference,amount,paid_at", "a,one,2026-11-28"], "line 2"),
        (["reference,amount,paid_at", "a,1,yesterday"], "line 2"),
        (["reference,amount,paid_at,currency", "a,1,2026-11-28,XXX"], "line 2"),
        (["reference,amount,paid_at,state", "a,1,2026-11-28,lost"], "line 2"),
        (["reference,amount,paid_at,payout_id", "a,1,2026-11-28,7"], "line 2"),
        (["reference,amount,paid_at", "a,1,2026-11-28", "a,1,2026-11-28"], "there twice"),
    ],
)
def test_unreadable_list_is_refused_with_its_line(lines, complaint):
    with pytest.raises(lists.UnreadableList, match=complaint):
        _read(*lines)
