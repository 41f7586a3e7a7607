"""Decides what a change of a program comes to, once it is merged with what the program is.

Source: core spec, "Program fields accepted on create or update" and its rules 1 to 5. The merged program obeys the
rules of a new one, with two mercies: a term that stays as it is is not measured again with today's rates, and a
legacy model stays with the program that has it. An amount that is sent is in the home currency of now; the
others keep the currency they were set in.
"""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from domain import statuses
from domain.programs import ceilings, terms
from domain.refused import Refused

_MODEL = "default_commission_model"
_RENEWALS = ("recurring_months", "recurring_delay_invoices")
_SALE_PAIR = ("sale_commission_type", "sale_commission_value")


def settle(
    current: Mapping[str, Any], sent: Mapping[str, Any], *, home: ceilings.Home, may_list: bool = False
) -> dict[str, Any]:
    """Return the columns that change, with their new values; none when nothing does.

    `current` are the program's columns, `sent` is `schemas.programs.program.ProgramChanges` loaded. `may_list`: the
    brand has what listing in the network needs; a program that is listed already stays so without.
    Raises Refused 400: invalid_commission_model, and what `terms.settle` raises.
    """
    merged = {**current, **sent} | _sale_pair(current, sent)
    model = merged[_MODEL]
    if model != current[_MODEL] and model not in terms.OFFERED_MODELS:
        message = f"{model} stays with the programs that have it and is not offered to others."
        raise Refused(400, "invalid_commission_model", message, field="defaultCommissionModel")
    if any(merged.get(column) != current.get(column) for column in _RENEWALS):
        terms.check_renewals(merged.get("recurring_months"), merged.get("recurring_delay_invoices"))
    merged |= _currencies(current, sent, merged, home)
    merged |= _measured(current, merged, home)
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


def check_kept_rates(model: str, rates: Iterable[tuple[str, Decimal, ceilings.Home]]) -> None:
    """Refuse a model that the rates of a program's affiliates, invites, groups and tiers do not fit.

    A rate is its type, its value and what a fee in its own currency is measured with.
    Raises Refused 400: invalid_commission_type, percentage_out_of_range, unit_fee_out_of_range,
    fixed_commission_out_of_range.
    """
    for type, value, home in rates:
        try:
            terms.check_rate(model=model, type=type, value=value, home=home, prefix="custom")
        except Refused as refused:
            message = (
                f"An affiliate, invite, group or tier of this program has the rate {value.normalize():f} {type}, which "
                f"a {model} program cannot have. Change it first."
            )
            raise Refused(
                refused.status, refused.code, message, field="defaultCommissionModel", **refused.more
            ) from refused


def _sale_pair(current: Mapping[str, Any], sent: Mapping[str, Any]) -> dict[str, Any]:
    """Return type and value of the sale leg: a value of 0, or nothing but nulls, clears both."""
    named = [sent[column] for column in _SALE_PAIR if column in sent]
    is_cleared = bool(named) and (sent.get("sale_commission_value") == 0 or all(value is None for value in named))
    return {column: None if is_cleared else sent.get(column, current[column]) for column in _SALE_PAIR}


def _currencies(
    current: Mapping[str, Any], sent: Mapping[str, Any], merged: Mapping[str, Any], home: ceilings.Home
) -> dict[str, str | None]:
    """Return the currencies of the merged amounts: that of now for what is sent, its own for what stays."""
    columns = {
        currency: home.currency if amount in sent else current[currency]
        for amount, currency in terms.CURRENCY_OF.items()
    }
    stays = "default_commission_value" not in sent and current["fee_currency"] is not None
    is_fee = terms.has_unit_fee(model=merged[_MODEL], type=merged["default_commission_type"])
    columns["fee_currency"] = (current["fee_currency"] if stays else home.currency) if is_fee else None
    return columns


def _measured(current: Mapping[str, Any], merged: Mapping[str, Any], home: ceilings.Home) -> dict[str, Any]:
    """Check the terms that are limited at today's rates, as far as they change, and return what they come to.

    What stays in a former home currency while the model changes is held to the limits without a rate.
    """
    model = merged[_MODEL]

    def is_new(*columns: str) -> bool:
        return any(merged[column] != current[column] for column in (_MODEL, *columns))

    def standard(column: str) -> ceilings.Home:
        own = merged[column]
        return home if own in (None, home.currency) else ceilings.Home(currency=own, per_usd=None)

    if is_new("default_commission_type", "default_commission_value", "fee_currency"):
        terms.check_rate(
            model=model,
            type=merged["default_commission_type"],
            value=merged["default_commission_value"],
            home=standard("fee_currency"),
            prefix="default",
        )
    if is_new("budget_cents", "budget_currency"):
        terms.check_budget(merged["budget_cents"], standard("budget_currency"))
    settled = {}
    if is_new("lead_bounty_cents", "lead_bounty_currency"):
        settled["lead_bounty_cents"] = terms.lead_bounty(
            merged["lead_bounty_cents"], model, standard("lead_bounty_currency")
        )
    if is_new("click_reward_cents", "click_reward_currency"):
        settled["click_reward_cents"] = terms.click_reward(
            merged["click_reward_cents"], model, standard("click_reward_currency")
        )
    return settled
