"""Unpaid earnings of Lemon Squeezy that grew since an earlier switch (switch-over rules, "Commissions")."""

import pytest

from commands.demo.played.sample import Sample
from tests.support.rows.brands import Brand
from tests.support.switches.played_switch import WholeSwitch, switching

_CODE = "unpaid_earnings_grew"


@pytest.fixture
def brand(app) -> Brand:
    brand = Brand.create(app)
    brand.program()
    return brand


def _read_second(first):
    switch = WholeSwitch(first.brand, first.name, first.server, first.program_id, options=first.options)
    switch.connect()
    switch.read()
    return switch


def _find_warning(switch):
    return next((row for row in switch.find().preview["warnings"] if row["code"] == _CODE), None)


def test_growth_since_the_first_switch_is_named_and_booked_nowhere(brand, monkeypatch):
    with switching(brand, monkeypatch, "lemonsqueezy", Sample(campaigns=1), unpaid="payable") as first:
        first.connect()
        first.read()
        assert _find_warning(first) is None
        first.run()
        rows = first.account["affiliates"]
        place = next(place for place in range(len(rows)) if rows[place]["attributes"]["unpaid_earnings"])
        facts = rows[place]["attributes"]
        rows.update(place, attributes={**facts, "unpaid_earnings": facts["unpaid_earnings"] + 3_000})
        second = _read_second(first)

        example = f"{facts['user_email']}: 30.00 USD more"
        assert _find_warning(second) == {"code": _CODE, "count": 1, "example": example}
        assert second.find().preview["to_confirm"]["payable"] == []


def test_unpaid_earnings_that_stayed_or_fell_are_no_warning(brand, monkeypatch):
    with switching(brand, monkeypatch, "lemonsqueezy", Sample(campaigns=1), unpaid="payable") as first:
        first.connect()
        first.read()
        first.run()
        rows = first.account["affiliates"]
        place = next(place for place in range(len(rows)) if rows[place]["attributes"]["unpaid_earnings"])
        facts = rows[place]["attributes"]
        rows.update(place, attributes={**facts, "unpaid_earnings": 1})

        assert _find_warning(_read_second(first)) is None
