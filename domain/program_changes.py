"""Decides what a change of a program comes to, once it is merged with what the program is.

Source: core spec, "Program fields accepted on create or update" and its rules 1 to 5. The merged program obeys the
rules of a new one, with two mercies: a term that stays as it is is not measured again with today's rates, and a
legacy model stays with the program that has it.
"""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from domain import ceilings, program_terms, statuses
from domain.refused import Refused

_MODEL = "default_commission_model"
_SALE_PAIR = ("sale_commission_type", "sale_commission_value")


def settle(current: Mapping[str, Any], sent: Mapping[str, Any], *, home: ceilings.Home) -> dict[str, Any]:
    """Return the columns that change, with their new values; none when nothing does.

    `current` are the program's columns, `sent` is `schemas.program.ProgramChanges` loaded.
    Raises Refused 400: invalid_commission_model, and what `program_terms.settle` raises.
    """
    merged = {**current, **sent} | _sale_pair(current, sent)
    model = merged[_MODEL]
    if model != current[_MODEL] and model not in program_terms.OFFERED_MODELS:
        message = f"{model} stays with the programs that have it and is not offered to others."
        raise Refused(400, "invalid_commission_model", message, field="defaultCommissionModel")
    merged |= _measured(current, merged, home)
    merged["sale_commission_type"], merged["sale_commission_value"] = program_terms.sale_leg(
        merged["sale_commission_type"], merged["sale_commission_value"], model, home
    )
    merged |= program_terms.visibility(
        merged,
        pays_clicks=merged["click_reward_cents"] is not None,
        is_listed=current["network_visibility"] == statuses.NetworkVisibility.Networked,
    )
    if merged["custom_domain"] != current["custom_domain"]:
        merged["custom_domain_verified"] = False
    return {column: value for column, value in merged.items() if value != current[column]}


def check_kept_rates(model: str, rates: Iterable[tuple[str, Decimal]], *, home: ceilings.Home) -> None:
    """Refuse a model that the rates of a program's affiliates, groups and tiers (type, value) do not fit.

    Raises Refused 400: invalid_commission_type, percentage_out_of_range, unit_fee_out_of_range,
    fixed_commission_out_of_range.
    """
    for type, value in rates:
        try:
            program_terms.check_rate(model=model, type=type, value=value, home=home, prefix="custom")
        except Refused as refused:
            message = (
                f"An affiliate, group or tier of this program has the rate {value.normalize():f} {type}, which a "
                f"{model} program cannot have. Change it first."
            )
            raise Refused(
                refused.status, refused.code, message, field="defaultCommissionModel", **refused.more
            ) from refused


def _sale_pair(current: Mapping[str, Any], sent: Mapping[str, Any]) -> dict[str, Any]:
    """Return type and value of the sale leg: a value of 0, or nothing but nulls, clears both."""
    named = [sent[column] for column in _SALE_PAIR if column in sent]
    is_cleared = bool(named) and (sent.get("sale_commission_value") == 0 or all(value is None for value in named))
    return {column: None if is_cleared else sent.get(column, current[column]) for column in _SALE_PAIR}


def _measured(current: Mapping[str, Any], merged: Mapping[str, Any], home: ceilings.Home) -> dict[str, Any]:
    """Check the terms that are limited at today's rates, as far as they change, and return what they come to."""
    model = merged[_MODEL]

    def is_new(*columns: str) -> bool:
        return any(merged[column] != current[column] for column in (_MODEL, *columns))

    if is_new("default_commission_type", "default_commission_value"):
        program_terms.check_rate(
            model=model,
            type=merged["default_commission_type"],
            value=merged["default_commission_value"],
            home=home,
            prefix="default",
        )
    if is_new("budget_cents"):
        program_terms.check_budget(merged["budget_cents"], home)
    settled = {}
    if is_new("lead_bounty_cents"):
        settled["lead_bounty_cents"] = program_terms.lead_bounty(merged["lead_bounty_cents"], model, home)
    if is_new("click_reward_cents"):
        settled["click_reward_cents"] = program_terms.click_reward(merged["click_reward_cents"], model, home)
    return settled
