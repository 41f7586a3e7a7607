"""Decides which terms a program may have, and what one term does to another.

Source: core spec, "Program fields accepted on create or update" and its rules 1 to 5. Types and shapes are checked
where the body is read.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from domain import statuses
from domain.conversions.commission import CommissionType
from domain.programs import ceilings
from domain.refused import Refused

#: What a program can be told to reward. The legacy models stay with the programs that have them.
OFFERED_MODELS = (statuses.CommissionModel.Cps, statuses.CommissionModel.Cpc, statuses.CommissionModel.Cpl)

_MOST_PER_SALE_USD = 1_000_000_00
_MOST_PER_UNIT_USD = 1_000_00
_MOST_BUDGET_USD = 100_000_000_00
_LEAST_LEAD_BOUNTY_USD = 10
_LEAST_CLICK_REWARD_USD = 1
# Of the sale leg, in major units of the sale's own currency: nothing to convert.
_MOST_SALE_LEG = Decimal(1_000_000)

#: The amounts in home currency, each with the column of the currency that it was set in.
CURRENCY_OF = {
    "budget_cents": "budget_currency",
    "min_payout_cents": "min_payout_currency",
    "lead_bounty_cents": "lead_bounty_currency",
    "click_reward_cents": "click_reward_currency",
}


def settle(wanted: Mapping[str, Any], *, home: ceilings.Home, may_list: bool = False) -> dict[str, Any]:
    """Return the columns of a new program: `wanted` with what its own terms force.

    `wanted` is `schemas.programs.program.ProgramBody` loaded: columns by name, left out when not sent. `may_list`: the
    brand has what listing in the network needs.
    Raises Refused 400: invalid_commission_type, percentage_out_of_range, fixed_commission_out_of_range,
    unit_fee_out_of_range, sale_commission_incomplete, lead_bounty_out_of_range, click_reward_out_of_range,
    budget_out_of_range, delay_without_renewals.
    """
    model = wanted["default_commission_model"]
    check_rate(
        model=model,
        type=wanted["default_commission_type"],
        value=wanted["default_commission_value"],
        home=home,
        prefix="default",
    )
    check_budget(wanted.get("budget_cents"), home)
    check_renewals(wanted.get("recurring_months"), wanted.get("recurring_delay_invoices"))
    terms = dict(wanted)
    terms["sale_commission_type"], terms["sale_commission_value"] = sale_leg(
        wanted.get("sale_commission_type"), wanted.get("sale_commission_value"), model, home
    )
    terms["lead_bounty_cents"] = lead_bounty(wanted.get("lead_bounty_cents"), model, home)
    terms["click_reward_cents"] = click_reward(wanted.get("click_reward_cents"), model, home)
    terms |= stamps(terms, home.currency)
    return terms | visibility(wanted, pays_clicks=terms["click_reward_cents"] is not None, may_list=may_list)


def stamps(terms: Mapping[str, Any], currency: str) -> dict[str, str | None]:
    """Return the currency columns of terms whose amounts are all set in one currency; None beside what is not set."""
    columns = {column: None if terms.get(amount) is None else currency for amount, column in CURRENCY_OF.items()}
    is_fee = has_unit_fee(model=terms["default_commission_model"], type=terms["default_commission_type"])
    return {**columns, "fee_currency": currency if is_fee else None}


def has_unit_fee(*, model: str, type: str) -> bool:
    """Say whether this is a fee per click or lead; a Fixed commission per sale is in each sale's own currency."""
    return type == CommissionType.Fixed and not statuses.pays_on_sale(model)


def fixed_in(type: str | None, currency: str) -> str | None:
    """Return the currency that stands beside a partner's own rate: that of a Fixed one, None for any other."""
    return currency if type == CommissionType.Fixed else None


def check_rate(*, model: str, type: str, value: Decimal, home: ceilings.Home, prefix: str) -> None:
    """Refuse a rate that a program of this model, or one of its affiliates, cannot have.

    `prefix` is what the names of the fields begin with in the refusal: "default" for `defaultCommissionValue`, "" for
    `commissionValue`, "tiers.2." for one in a list.
    Raises Refused 400: invalid_commission_type, percentage_out_of_range, unit_fee_out_of_range,
    fixed_commission_out_of_range.
    """
    field = _named(prefix, "CommissionValue")
    if type == CommissionType.Percentage:
        if not statuses.pays_on_sale(model):
            raise Refused(
                400,
                "invalid_commission_type",
                f"A {model} program pays a Fixed fee: there is no amount to take a percentage of.",
                field=_named(prefix, "CommissionType"),
            )
        _check_percentage(value, field)
    elif statuses.pays_on_sale(model):
        code = "fixed_commission_out_of_range"
        ceilings.check_major(home, value, most_usd=_MOST_PER_SALE_USD, code=code, field=field)
    else:
        ceilings.check_major(home, value, most_usd=_MOST_PER_UNIT_USD, code="unit_fee_out_of_range", field=field)


def _named(prefix: str, name: str) -> str:
    return prefix + name if prefix[-1:].isalpha() else prefix + name[0].lower() + name[1:]


def _check_percentage(value: Decimal, field: str) -> None:
    if not 0 <= value <= 100:
        raise Refused(400, "percentage_out_of_range", f"{field} must be from 0 to 100 percent.", field=field)


def check_budget(cents: int | None, home: ceilings.Home) -> None:
    """Refuse a budget outside its band with 400 budget_out_of_range; None means no budget."""
    if cents is not None:
        ceilings.check_cents(
            home, cents, least_usd=0, most_usd=_MOST_BUDGET_USD, code="budget_out_of_range", field="budgetCents"
        )


def check_renewals(months: int | None, delay_invoices: int | None) -> None:
    """Refuse a delay where only a customer's first payment earns: then no payment would ever earn.

    Raises Refused 400 delay_without_renewals.
    """
    if months == 0 and delay_invoices:
        message = (
            "With recurringMonths 0 only a customer's first payment earns, and recurringDelayInvoices passes over it:"
            " nothing would ever be earned. Set one of the two otherwise."
        )
        raise Refused(400, "delay_without_renewals", message, field="recurringDelayInvoices")


def sale_leg(
    type: str | None, value: Decimal | None, model: str, home: ceilings.Home
) -> tuple[str | None, Decimal | None]:
    """Return type and value of the sale leg beside a click or lead primary; neither where sales are the primary.

    Raises Refused 400: sale_commission_incomplete, percentage_out_of_range, fixed_commission_out_of_range.
    """
    if statuses.pays_on_sale(model) or (type is None and value is None):
        return None, None
    if type is None or value is None:
        missing = "saleCommissionType" if type is None else "saleCommissionValue"
        message = "saleCommissionType and saleCommissionValue are sent together."
        raise Refused(400, "sale_commission_incomplete", message, field=missing)
    if type == CommissionType.Percentage:
        _check_percentage(value, "saleCommissionValue")
    elif not 0 <= value <= _MOST_SALE_LEG:
        raise Refused(
            400,
            "fixed_commission_out_of_range",
            f"saleCommissionValue must be from 0 to {_MOST_SALE_LEG} units of each sale's currency.",
            field="saleCommissionValue",
            homeCurrency=home.currency,
        )
    return (type, value) if value else (None, None)


def lead_bounty(cents: int | None, model: str, home: ceilings.Home) -> int | None:
    """Return the bounty that a program of this model pays, None for none, or refuse: 400 lead_bounty_out_of_range."""
    if model == statuses.CommissionModel.Cpl or not cents:
        return None
    ceilings.check_cents(
        home,
        cents,
        least_usd=_LEAST_LEAD_BOUNTY_USD,
        most_usd=_MOST_PER_UNIT_USD,
        code="lead_bounty_out_of_range",
        field="leadBountyCents",
    )
    return cents


def click_reward(cents: int | None, model: str, home: ceilings.Home) -> int | None:
    """Return the reward that a program of this model pays, None for none, or refuse: 400 click_reward_out_of_range."""
    if model == statuses.CommissionModel.Cpc or not cents:
        return None
    ceilings.check_cents(
        home,
        cents,
        least_usd=_LEAST_CLICK_REWARD_USD,
        most_usd=_MOST_PER_UNIT_USD,
        code="click_reward_out_of_range",
        field="clickRewardCents",
    )
    return cents


def visibility(wanted: Mapping[str, Any], *, pays_clicks: bool, may_list: bool) -> dict[str, Any]:
    """Return the columns that decide who may find and join a program, as far as its terms force them.

    Click rewards close it to strangers. `may_list`: it is listed in the network already, which it keeps, or its brand
    has an active paid plan and a funding source.
    Source: core spec, clickRewardCents and rule 5.
    """
    if pays_clicks:
        return {
            "auto_approve": False,
            "network_visibility": statuses.NetworkVisibility.InviteOnly.value,
            "is_publicly_discoverable": False,
        }
    if wanted.get("network_visibility") == statuses.NetworkVisibility.Networked and not may_list:
        return {"network_visibility": statuses.NetworkVisibility.Private.value}
    return {}
