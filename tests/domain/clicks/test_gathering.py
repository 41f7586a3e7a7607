"""External ids that aggregate paid clicks. Source: core spec, "Conversion"; tracking spec, cpc_aggregation."""

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


@pytest.mark.parametrize(("sub_id", "suffix"), [(None, ""), ("", ""), ("mail", ":mail")])
def test_external_id_contains_campaign_affiliate_hour_and_sub_id(sub_id, suffix):
    at = datetime(2026, 3, 1, 12, 59, 59, tzinfo=UTC)

    external_id = gathering.external_id(program_id=PROGRAM, affiliate_id=AFFILIATE, at=at, sub_id=sub_id)

    assert external_id == f"cpc:{PROGRAM}:{AFFILIATE}:2026030112{suffix}"


def test_hour_is_in_utc():
    at = datetime(2026, 3, 1, 1, 30, tzinfo=timezone(timedelta(hours=2)))

    external_id = gathering.external_id(program_id=PROGRAM, affiliate_id=AFFILIATE, at=at, sub_id=None)

    assert external_id.endswith(":2026022823")


def test_external_id_has_at_most_255_characters():
    at = datetime(2026, 3, 1, tzinfo=UTC)
    base = gathering.external_id(program_id=PROGRAM, affiliate_id=AFFILIATE, at=at, sub_id="x" * 64)

    assert max(map(len, gathering.candidates(base, Fee(10**12, "USD")))) <= 255


def test_first_clicks_of_an_hour_create_its_row():
    assert gathering.place(BASE, REWARD, {}) == (BASE, None)


@pytest.mark.parametrize("status", ["Pending", "Approved"])
def test_open_row_with_the_same_fee_is_reused(status):
    row = _row(status)

    assert gathering.place(BASE, REWARD, {BASE: row}) == (BASE, row)


@pytest.mark.parametrize("changes", [{"currency": "EUR"}, {"value": Decimal("0.11")}])
def test_another_fee_in_the_hour_gets_its_own_row(changes):
    assert gathering.place(BASE, REWARD, {BASE: _row(**changes)}) == (f"{BASE}@10USD", None)


@pytest.mark.parametrize("status", ["Denied", "Invalidated", "Refunded"])
def test_denied_row_takes_no_clicks_and_has_no_successor(status):
    assert gathering.place(BASE, REWARD, {BASE: _row(status)}) is None


def test_paid_row_has_successors_up_to_the_last_candidate():
    rows = {}
    for name in gathering.candidates(BASE, FEE):
        assert gathering.place(BASE, REWARD, rows) == (name, None)
        rows[name] = _row("Paid")

    assert gathering.place(BASE, REWARD, rows) is None
