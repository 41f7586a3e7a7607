"""The amount of a payment that several commissions share comes over exactly once, also in a catch-up.

Source: the switch-over rules, "Commissions" (several commissions of one payment).
"""

import pytest

from tests.support.rows.brands import Brand
from tests.support.switches.source_records import build_commission, list_conversions, read, run


@pytest.fixture
def brand(brand: Brand) -> Brand:
    brand.program()
    return brand


def _amounts(brand):
    return {source_id: amount for source_id, (amount,) in list_conversions(brand, "amount_cents").items()}


@pytest.mark.parametrize(
    "left_out",
    [{"kind": None}, {"affiliate": None}, {"currency": "XXX"}, {"campaign": "other"}, {"amount_cents": 0}],
    ids=["unknown_status", "affiliate_unknown", "unsupported_currency", "campaign_not_mapped", "without_amount"],
)
def test_next_commission_carries_the_amount_when_the_first_does_not(brand, monkeypatch, left_out):
    rows = [build_commission("c1", **{"payment": "p1", **left_out}), build_commission("c2", "ben", payment="p1")]

    run(read(brand, monkeypatch, rows, campaigns={"other": None}))

    assert _amounts(brand)["c2"] == 10_000


def test_amount_is_not_written_again_when_a_smaller_id_follows(brand, monkeypatch):
    run(read(brand, monkeypatch, [build_commission("c5", payment="p1")]))

    run(read(brand, monkeypatch, [build_commission("c1", "ben", payment="p1"), build_commission("c5", payment="p1")]))

    assert _amounts(brand) == {"c1": 0, "c5": 10_000}


def test_slices_of_a_payment_agree_on_the_amount(brand, monkeypatch):
    monkeypatch.setattr("pipelines.switches.judging.SLICE_ROWS", 1)

    run(read(brand, monkeypatch, [build_commission(f"c{number}", payment="p1") for number in range(3)]))

    assert _amounts(brand) == {"c0": 10_000, "c1": 0, "c2": 0}
