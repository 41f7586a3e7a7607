"""The columns that a change of a program leads to, after merging it with the current program.

Source: core spec, "Program fields accepted on create or update" and its rules 1 to 5. The merged program obeys the
rules of a new one, with two exceptions: an unchanged term is not checked again at today's rates, and a program keeps
its legacy model. A sent amount is in the current home currency; the others keep the currency that they were set in.
"""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from domain import statuses
from domain.programs import ceilings, terms
from domain.refusals import Refused

_MODEL = "default_commission_model"
_RENEWALS = ("recurring_months", "recurring_delay_invoices")
_SALE_PAIR = ("sale_commission_type", "sale_commission_value")


def merge(
    current: Mapping[str, Any], changes: Mapping[str, Any], *, home: ceilings.Home, may_list: bool = False
) -> dict[str, Any]:
    """Return the changed columns with their new values.

    `current` are the program's columns, `changes` is `schemas.programs.program.ProgramChanges` loaded. `may_list`: the
    brand meets the conditions of listing in the network; a program that is already listed stays so without them.
    Raises Refused 400: invalid_commission_model, and what `terms.settle` raises.
    """
    merged = {**current, **changes} | _merge_sale_leg(current, changes)
    model = merged[_MODEL]
    if model != current[_MODEL] and model not in terms.OFFERED_MODELS:
        message = f"The model {model} is only for programs that already have it. Choose another model."
        raise Refused(400, "invalid_commission_model", message, field="defaultCommissionModel")
    if any(merged.get(column) != current.get(column) for column in _RENEWALS):
        terms.check_renewals(merged.get("recurring_months"), merged.get("recurring_delay_invoices"))
    merged |= _merge_currencies(current, changes, merged, home)
    merged |= _check_changed_terms(current, merged, home)
    for amount, currency in terms.CURRENCY_OF.items():
        if merged[amount] is None:
            merged[currency] = None
    merged["sale_commission_type"], merged["sale_commission_value"] = terms.sale_leg(
        merged["sale_commission_type"], merged["sale_commission_value"], model, home
    )
    merged |= terms.visibility(
        merged,
        pays_clicks=merged["click_reward_cents"] is not None,
        may_list=may_list or current["network_visibility"] == statuses.NetworkVisibility.Networked,
    )
    if merged["custom_domain"] != current["custom_domain"]:
        merged["custom_domain_verified"] = False
    return {column: value for column, value in merged.items() if value != current[column]}


def check_stored_rates(model: str, rates: Iterable[tuple[str, Decimal, ceilings.Home]]) -> None:
    """Refuse a model that the rates of a program's affiliates, invites, groups and tiers do not allow.

    A rate is its type, its value and the currency in which a fee is checked.
    Raises Refused 400: invalid_commission_type, percentage_out_of_range, unit_fee_out_of_range,
    fixed_commission_out_of_range.
    """
    for type, value, home in rates:
        try:
            terms.check_rate(model=model, type=type, value=value, home=home, prefix="custom")
        except Refused as refused:
            message = (
                f"An affiliate, invite, group or tier of this program has the rate {value.normalize():f} {type}, which "
                f"is not possible in a {model} program. Change that rate first."
            )
            raise Refused(
                refused.status, refused.code, message, field="defaultCommissionModel", **refused.more
            ) from refused


def _merge_sale_leg(current: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return type and value of the sale leg: a value of 0, or only nulls, clears both."""
    values = [changes[column] for column in _SALE_PAIR if column in changes]
    is_cleared = bool(values) and (changes.get("sale_commission_value") == 0 or all(value is None for value in values))
    return {column: None if is_cleared else changes.get(column, current[column]) for column in _SALE_PAIR}


def _merge_currencies(
    current: Mapping[str, Any], changes: Mapping[str, Any], merged: Mapping[str, Any], home: ceilings.Home
) -> dict[str, str | None]:
    """Return the currencies of the merged amounts: the home currency for changed ones, their own for the others."""
    columns = {
        currency: home.currency if amount in changes else current[currency]
        for amount, currency in terms.CURRENCY_OF.items()
    }
    is_unchanged = "default_commission_value" not in changes and current["fee_currency"] is not None
    is_fee = terms.has_unit_fee(model=merged[_MODEL], type=merged["default_commission_type"])
    columns["fee_currency"] = (current["fee_currency"] if is_unchanged else home.currency) if is_fee else None
    return columns


def _check_changed_terms(current: Mapping[str, Any], merged: Mapping[str, Any], home: ceilings.Home) -> dict[str, Any]:
    """Check the changed terms against their limits at today's rates, and return their columns.

    A term that stays in a former home currency while the model changes is checked without a rate.
    """
    model = merged[_MODEL]

    def is_new(*columns: str) -> bool:
        return any(merged[column] != current[column] for column in (_MODEL, *columns))

    def home_of(column: str) -> ceilings.Home:
        own = merged[column]
        return home if own in (None, home.currency) else ceilings.Home(currency=own, per_usd=None)

    if is_new("default_commission_type", "default_commission_value", "fee_currency"):
        terms.check_rate(
            model=model,
            type=merged["default_commission_type"],
            value=merged["default_commission_value"],
            home=home_of("fee_currency"),
            prefix="default",
        )
    if is_new("budget_cents", "budget_currency"):
        terms.check_budget(merged["budget_cents"], home_of("budget_currency"))
    columns = {}
    if is_new("lead_bounty_cents", "lead_bounty_currency"):
        columns["lead_bounty_cents"] = terms.lead_bounty(
            merged["lead_bounty_cents"], model, home_of("lead_bounty_currency")
        )
    if is_new("click_reward_cents", "click_reward_currency"):
        columns["click_reward_cents"] = terms.click_reward(
            merged["click_reward_cents"], model, home_of("click_reward_currency")
        )
    return columns
