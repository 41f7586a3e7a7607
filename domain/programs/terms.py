"""The valid terms of a program, and the effect of one term on others.

Source: core spec, "Program fields accepted on create or update" and its rules 1 to 5. Types and formats are checked by
the schema of the body.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from domain import statuses
from domain.conversions.commission import CommissionType
from domain.programs import ceilings
from domain.refusals import Refused

#: The commission models of new programs. The legacy models are only for programs that already have them.
OFFERED_MODELS = (statuses.CommissionModel.Cps, statuses.CommissionModel.Cpc, statuses.CommissionModel.Cpl)

_MAX_PER_SALE_USD = 1_000_000_00
_MAX_PER_UNIT_USD = 1_000_00
_MAX_BUDGET_USD = 100_000_000_00
_MIN_LEAD_BOUNTY_USD = 10
_MIN_CLICK_REWARD_USD = 1
# Of the sale leg, in major units of the sale's own currency, so without conversion.
_MAX_SALE_LEG = Decimal(1_000_000)

#: The amounts in home currency, with the column of the currency that each was set in.
CURRENCY_OF = {
    "budget_cents": "budget_currency",
    "min_payout_cents": "min_payout_currency",
    "lead_bounty_cents": "lead_bounty_currency",
    "click_reward_cents": "click_reward_currency",
}


def complete(body: Mapping[str, Any], *, home: ceilings.Home, may_list: bool = False) -> dict[str, Any]:
    """Return the columns of a new program: `body` with the values that its own terms force.

    `body` is `schemas.programs.program.ProgramBody` loaded: columns by name, missing when not sent. `may_list`: the
    brand meets the conditions of listing in the network.
    Raises Refused 400: invalid_commission_type, percentage_out_of_range, fixed_commission_out_of_range,
    unit_fee_out_of_range, sale_commission_incomplete, lead_bounty_out_of_range, click_reward_out_of_range,
    budget_out_of_range, delay_without_renewals.
    """
    model = body["default_commission_model"]
    check_rate(
        model=model,
        type=body["default_commission_type"],
        value=body["default_commission_value"],
        home=home,
        prefix="default",
    )
    check_budget(body.get("budget_cents"), home)
    check_renewals(body.get("recurring_months"), body.get("recurring_delay_invoices"))
    terms = dict(body)
    terms["sale_commission_type"], terms["sale_commission_value"] = sale_leg(
        body.get("sale_commission_type"), body.get("sale_commission_value"), model, home
    )
    terms["lead_bounty_cents"] = lead_bounty(body.get("lead_bounty_cents"), model, home)
    terms["click_reward_cents"] = click_reward(body.get("click_reward_cents"), model, home)
    terms |= currency_columns(terms, home.currency)
    return terms | visibility(body, pays_clicks=terms["click_reward_cents"] is not None, may_list=may_list)


def currency_columns(terms: Mapping[str, Any], currency: str) -> dict[str, str | None]:
    """Return the currency columns of terms whose amounts are all set in one currency; None for a missing amount."""
    columns = {column: None if terms.get(amount) is None else currency for amount, column in CURRENCY_OF.items()}
    is_fee = has_unit_fee(model=terms["default_commission_model"], type=terms["default_commission_type"])
    return {**columns, "fee_currency": currency if is_fee else None}


def has_unit_fee(*, model: str, type: str) -> bool:
    """Return whether this is a fee per click or lead; a Fixed commission per sale is in each sale's own currency."""
    return type == CommissionType.Fixed and not statuses.pays_on_sale(model)


def rate_currency(type: str | None, currency: str) -> str | None:
    """Return the currency to store with a partner's own rate: that of a Fixed one, None for any other."""
    return currency if type == CommissionType.Fixed else None


def check_rate(*, model: str, type: str, value: Decimal, home: ceilings.Home, prefix: str) -> None:
    """Refuse a rate that a program of this model, or one of its affiliates, cannot have.

    `prefix` is that of the field names in the refusal: "default" for `defaultCommissionValue`, "" for
    `commissionValue`, "tiers.2." for one in a list. Raises Refused 400: invalid_commission_type,
    percentage_out_of_range, unit_fee_out_of_range, fixed_commission_out_of_range.
    """
    field = _field_name(prefix, "CommissionValue")
    if type == CommissionType.Percentage:
        if not statuses.pays_on_sale(model):
            raise Refused(
                400,
                "invalid_commission_type",
                f"A {model} program pays a Fixed fee, since there is no amount to take a percentage of.",
                field=_field_name(prefix, "CommissionType"),
            )
        _check_percentage(value, field)
    elif statuses.pays_on_sale(model):
        code = "fixed_commission_out_of_range"
        ceilings.check_major(home, value, max_usd=_MAX_PER_SALE_USD, code=code, field=field)
    else:
        ceilings.check_major(home, value, max_usd=_MAX_PER_UNIT_USD, code="unit_fee_out_of_range", field=field)


def _field_name(prefix: str, name: str) -> str:
    return prefix + name if prefix[-1:].isalpha() else prefix + name[0].lower() + name[1:]


def _check_percentage(value: Decimal, field: str) -> None:
    if not 0 <= value <= 100:
        raise Refused(400, "percentage_out_of_range", f"{field} must be from 0 to 100 percent.", field=field)


def check_budget(cents: int | None, home: ceilings.Home) -> None:
    """Refuse a budget outside its range with 400 budget_out_of_range; None means no budget."""
    if cents is not None:
        ceilings.check_cents(
            home, cents, min_usd=0, max_usd=_MAX_BUDGET_USD, code="budget_out_of_range", field="budgetCents"
        )


def check_renewals(months: int | None, delay_invoices: int | None) -> None:
    """Refuse a delay where only a customer's first payment earns, since no payment would ever earn.

    Raises Refused 400 delay_without_renewals.
    """
    if months == 0 and delay_invoices:
        message = (
            "With recurringMonths 0 only a customer's first payment earns, and recurringDelayInvoices skips it, so"
            " nothing would ever be earned. Change one of the two."
        )
        raise Refused(400, "delay_without_renewals", message, field="recurringDelayInvoices")


def sale_leg(
    type: str | None, value: Decimal | None, model: str, home: ceilings.Home
) -> tuple[str | None, Decimal | None]:
    """Return type and value of the sale leg next to a click or lead primary; None where sales are the primary.

    Raises Refused 400: sale_commission_incomplete, percentage_out_of_range, fixed_commission_out_of_range.
    """
    if statuses.pays_on_sale(model) or (type is None and value is None):
        return None, None
    if type is None or value is None:
        missing = "saleCommissionType" if type is None else "saleCommissionValue"
        message = "saleCommissionType and saleCommissionValue must be sent together."
        raise Refused(400, "sale_commission_incomplete", message, field=missing)
    if type == CommissionType.Percentage:
        _check_percentage(value, "saleCommissionValue")
    elif not 0 <= value <= _MAX_SALE_LEG:
        raise Refused(
            400,
            "fixed_commission_out_of_range",
            f"saleCommissionValue must be from 0 to {_MAX_SALE_LEG} units of each sale's currency.",
            field="saleCommissionValue",
            homeCurrency=home.currency,
        )
    return (type, value) if value else (None, None)


def lead_bounty(cents: int | None, model: str, home: ceilings.Home) -> int | None:
    """Return the lead bounty of a program of this model or None. Raises Refused 400 lead_bounty_out_of_range."""
    if model == statuses.CommissionModel.Cpl or not cents:
        return None
    ceilings.check_cents(
        home,
        cents,
        min_usd=_MIN_LEAD_BOUNTY_USD,
        max_usd=_MAX_PER_UNIT_USD,
        code="lead_bounty_out_of_range",
        field="leadBountyCents",
    )
    return cents


def click_reward(cents: int | None, model: str, home: ceilings.Home) -> int | None:
    """Return the click reward of a program of this model or None. Raises Refused 400 click_reward_out_of_range."""
    if model == statuses.CommissionModel.Cpc or not cents:
        return None
    ceilings.check_cents(
        home,
        cents,
        min_usd=_MIN_CLICK_REWARD_USD,
        max_usd=_MAX_PER_UNIT_USD,
        code="click_reward_out_of_range",
        field="clickRewardCents",
    )
    return cents


def visibility(terms: Mapping[str, Any], *, pays_clicks: bool, may_list: bool) -> dict[str, Any]:
    """Return the columns of who may find and join a program, as far as its terms force them.

    Click rewards close it to strangers. `may_list`: it is already listed in the network and stays so, or its brand has
    an active paid plan and a funding source.
    Source: core spec, clickRewardCents and rule 5.
    """
    if pays_clicks:
        return {
            "auto_approve": False,
            "network_visibility": statuses.NetworkVisibility.InviteOnly.value,
            "is_publicly_discoverable": False,
        }
    if terms.get("network_visibility") == statuses.NetworkVisibility.Networked and not may_list:
        return {"network_visibility": statuses.NetworkVisibility.Private.value}
    return {}
