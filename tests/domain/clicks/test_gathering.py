"""Under which external id paid clicks are gathered. Source: core spec, "Conversion"; tracking spec, cpc_aggregation."""

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from uuid import UUID

import pytest

from domain.clicks import gathering
from domain.clicks.gathering import HourRow
from domain.programs.fees import Fee
from domain.programs.rewards import Reward

PROGRAM, AFFILIATE, ROW = str(UUID(int=1)), str(UUID(int=2)), UUID(int=3)
FEE, VALUE = Fee(10, "USD"), Decimal("0.10")
REWARD = Reward(FEE, VALUE, "program")
BASE = "cpc:p:a:2026030112"


def _row(status="Pending", currency="USD", value=VALUE):
    return HourRow(ROW, BASE, status, currency, value, commission_cents=100, reversed_cents=0)


@pytest.mark.parametrize(("sub_id", "end"), [(None, ""), ("", ""), ("mail", ":mail")])
def test_the_id_names_campaign_affiliate_hour_and_tag(sub_id, end):
    at = datetime(2026, 3, 1, 12, 59, 59, tzinfo=UTC)

    found = gathering.external_id(program_id=PROGRAM, affiliate_id=AFFILIATE, at=at, sub_id=sub_id)

    assert found == f"cpc:{PROGRAM}:{AFFILIATE}:2026030112{end}"


def test_the_hour_is_that_of_utc():
    at = datetime(2026, 3, 1, 1, 30, tzinfo=timezone(timedelta(hours=2)))

    found = gathering.external_id(program_id=PROGRAM, affiliate_id=AFFILIATE, at=at, sub_id=None)

    assert found.endswith(":2026022823")


def test_an_id_stays_within_what_an_external_id_may_be():
    at = datetime(2026, 3, 1, tzinfo=UTC)
    base = gathering.external_id(program_id=PROGRAM, affiliate_id=AFFILIATE, at=at, sub_id="x" * 64)

    assert max(map(len, gathering.candidates(base, Fee(10**12, "USD")))) <= 255


def test_the_first_clicks_of_an_hour_make_its_row():
    assert gathering.place(BASE, REWARD, {}) == (BASE, None)


@pytest.mark.parametrize("status", ["Pending", "Approved"])
def test_an_open_row_of_the_same_fee_takes_more(status):
    row = _row(status)

    assert gathering.place(BASE, REWARD, {BASE: row}) == (BASE, row)


@pytest.mark.parametrize("other", [{"currency": "EUR"}, {"value": Decimal("0.11")}])
def test_another_fee_of_the_hour_has_a_row_of_its_own(other):
    assert gathering.place(BASE, REWARD, {BASE: _row(**other)}) == (f"{BASE}@10USD", None)


@pytest.mark.parametrize("status", ["Denied", "Invalidated", "Refunded"])
def test_a_row_that_was_decided_against_takes_no_more_and_has_no_successor(status):
    assert gathering.place(BASE, REWARD, {BASE: _row(status)}) is None


def test_a_paid_row_has_successors_and_the_last_of_them_none():
    rows = {}
    for name in gathering.candidates(BASE, FEE):
        assert gathering.place(BASE, REWARD, rows) == (name, None)
        rows[name] = _row("Paid")

    assert gathering.place(BASE, REWARD, rows) is None
