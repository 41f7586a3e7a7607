"""Program terms as text. Source: core spec, "Program fields accepted on create or update"."""

from decimal import Decimal

import pytest

from domain.programs import terms_text
from domain.programs.terms_text import DescribedTerms

_FIXED = {"rate_type": "Fixed", "rate_value": Decimal("7.5")}
_CPL = {"model": "Cpl", "rate_currency": "EUR", **_FIXED}
_CPC = {"model": "Cpc", "rate_currency": "JPY", "rate_type": "Fixed", "rate_value": Decimal(3)}


def _terms(**more):
    optional = ("rate_currency", "sale_commission_type", "sale_commission_value", "lead_bounty_cents")
    optional += ("lead_bounty_currency", "click_reward_cents", "click_reward_currency", "recurring_months")
    defaults = {"model": "Cps", "rate_type": "Percentage", "rate_value": Decimal("20.000000")}
    defaults |= {"has_tiers": False, "recurring_delay_invoices": 0}
    return DescribedTerms(**(dict.fromkeys(optional) | defaults | more))


@pytest.mark.parametrize(
    ("terms", "text"),
    [
        ({}, "20 % of each payment."),
        ({"rate_value": Decimal("12.5"), "recurring_months": 1}, "12.5 % of each payment in a customer's first month."),
        ({"recurring_months": 0}, "20 % of a customer's first payment."),
        (
            {"recurring_months": 12, "recurring_delay_invoices": 2, "has_tiers": True},
            "20 % of each payment in a customer's first 12 months, nothing for the first 2 invoices, more in higher"
            " tiers.",
        ),
        ({"recurring_delay_invoices": 1}, "20 % of each payment, nothing for the first invoice."),
        (_FIXED, "7.5 in the sale's currency for each payment."),
        ({"rate_type": "Fixed", "rate_value": Decimal(1200)}, "1,200 in the sale's currency for each payment."),
        (_FIXED | {"rate_currency": "USD"}, "7.50 USD for each payment."),
        (_CPL, "7.50 EUR for each lead."),
        (_CPC | {"has_tiers": True}, "3 JPY for each click, more in higher tiers."),
        (_CPC | {"rate_value": Decimal("0.125"), "rate_currency": "USD"}, "0.125 USD for each click."),
        (
            _CPL | {"sale_commission_type": "Percentage", "sale_commission_value": Decimal(10), "recurring_months": 0},
            "7.50 EUR for each lead. Plus 10 % of a customer's first payment.",
        ),
        (
            _CPC | {"sale_commission_type": "Fixed", "sale_commission_value": Decimal(5)},
            "3 JPY for each click. Plus 5 in the sale's currency for each payment.",
        ),
        (
            {
                "lead_bounty_cents": 150,
                "lead_bounty_currency": "USD",
                "click_reward_cents": 5,
                "click_reward_currency": "KWD",
            },
            "20 % of each payment. Plus 1.50 USD for each lead. Plus 0.005 KWD for each click.",
        ),
        ({"lead_bounty_cents": 0, "lead_bounty_currency": "USD"}, "20 % of each payment."),
    ],
    ids=str,
)
def test_terms_are_described_in_sentences(terms, text):
    assert terms_text.describe(_terms(**terms)) == text
