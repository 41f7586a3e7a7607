"""Sums by currency as text stored by rails: serialized, parsed, and refused if they do not add up."""

from datetime import date
from decimal import Decimal

import pytest

from domain.payouts import native_sums
from domain.payouts.native_sums import NativeSum

_SUMS = (
    NativeSum("EUR", 1840, 2000, Decimal("0.920000000000"), date(2026, 11, 27)),
    NativeSum("JPY", 300, 200, Decimal(150), date(2026, 11, 26)),
)


def test_serialized_sums_parse_back_unchanged():
    text = native_sums.to_text(_SUMS)

    assert text == "EUR=1840/2000@0.92@2026-11-27,JPY=300/200@150@2026-11-26"
    assert native_sums.from_text(text, total_cents=2200) == _SUMS


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "EUR=1840/2000@0.92",
        "EUR=1840/2000@0.92@2026-11-27,",
        "EUR=-1/2200@0.92@2026-11-27",
        "EUR=1840/2199@0.92@2026-11-27",
        "EUR=1/1100@1@2026-11-27,EUR=1/1100@1@2026-11-27",
    ],
)
def test_malformed_text_or_another_total_returns_none(text):
    assert native_sums.from_text(text, total_cents=2200) is None
