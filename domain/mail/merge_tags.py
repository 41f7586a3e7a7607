"""The merge tags of a brand's note to an affiliate, and a commission in words.

Source: core spec, "Affiliate invites", invite rules. Tags are filled in after the note is sanitized, so for HTML
the caller escapes the values first.
"""

import re
from collections.abc import Mapping
from decimal import Decimal

from domain import statuses
from domain.conversions.commission import CommissionType
from domain.money import currencies

_TAG = re.compile(r"\{\{\s*([A-Za-z.]+)\s*\}\}")

_UNITS = {statuses.CommissionModel.Cpc: "click", statuses.CommissionModel.Cpl: "lead"}

# The name of an affiliate without a name.
_DEFAULT_NAME = "there"


def render(text: str, values: Mapping[str, str]) -> str:
    """Return the text with `{{name}}` replaced by its value; spaces inside the braces don't matter.

    A tag that is not in `values` stays as it is, and so does a tag inside a value.
    """
    return _TAG.sub(lambda tag: values.get(tag[1], tag[0]), text)


def first_name(full_name: str) -> str:
    """Return the first word of a name, or "there" for an empty one."""
    words = full_name.split()
    return words[0] if words else _DEFAULT_NAME


def format_commission(*, type: str, value: Decimal, model: str, currency: str) -> str:
    """Return a rate in words: "20 %", "15 USD per sale", "0.50 USD per click".

    A Fixed value is in major units of `currency`, with that currency's decimals unless it is whole.
    """
    if type == CommissionType.Percentage:
        return f"{_format_plain(value)} %"
    unit = _UNITS.get(statuses.CommissionModel(model), "sale")
    return f"{_format_amount(value, currencies.exponent(currency))} {currency} per {unit}"


def _format_plain(value: Decimal) -> str:
    return f"{value.normalize():f}"


def _format_amount(value: Decimal, exponent: int) -> str:
    text = _format_plain(value)
    _, point, decimals = text.partition(".")
    return f"{value:.{exponent}f}" if point and len(decimals) < exponent else text
