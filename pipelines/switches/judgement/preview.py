"""The preview of a switch: what Run would do, beside what the source says of itself. Built from the tallies."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from domain.money import wording
from domain.switches.reasons import SwitchVerdict, SwitchWarning
from domain.switches.rules import link_rules
from domain.switches.sources import WRITTEN, Collection
from models.switches.judgement import known_earnings
from models.switches.judgement.judging_state import JudgingCursor
from models.switches.judgement.known_records import MappedProgram
from models.switches.staging import reading
from models.switches.switches import SwitchCampaign
from pipelines.switches import parameters
from pipelines.switches.judgement import figure_comparison, tallies
from pipelines.switches.understanding.context import Judging

_COUNTED = (SwitchVerdict.New, SwitchVerdict.Known, SwitchVerdict.Changed, SwitchVerdict.Merged, SwitchVerdict.LeftOut)
_CONFIRMED = (Collection.Affiliates, Collection.Customers, Collection.Commissions)


def build(judging: Judging, cursors: Mapping[str, JudgingCursor]) -> dict[str, Any]:
    """Return the preview as the switch stores it: the keys of `schemas.switches` in snake_case, JSON values.

    Amounts are minor units of the currency beside them. Source: the switch-over rules, "Preview".
    """
    tallied = {collection.value: cursors[collection].tally for collection in WRITTEN}
    commissions = tallied[Collection.Commissions]
    payable = _amounts(commissions.get("payable", {}))
    counts = {collection: _counts(tally) for collection, tally in tallied.items()}
    created: dict[str, Any] = {name.value: counts[name]["new"] + counts[name]["changed"] for name in _CONFIRMED}
    return {
        "as_of": judging.now.isoformat(),
        "counts": counts,
        "money": [{"currency": currency, **sums} for currency, sums in sorted(commissions.get("money", {}).items())],
        "figures": figure_comparison.list_compared(cursors),
        "left_out": _left_out(tallied),
        "terms": [row for campaign in judging.campaigns if (row := _terms(campaign, judging)) is not None],
        "warnings": _warnings(judging, tallied, omitted_figures=figure_comparison.count_omitted(cursors)),
        "to_confirm": created | {"payable": payable},
        "letters": 0,
    }


def _counts(tally: Mapping[str, Any]) -> dict[str, int]:
    counts = tally.get("counts", {})
    by_verdict = {verdict.value: int(counts.get(verdict, 0)) for verdict in _COUNTED}
    implied = int(counts.get("implied", 0))
    return {"read": sum(by_verdict.values())} | by_verdict | ({"implied": implied} if implied else {})


def _amounts(cents: Mapping[str, int]) -> list[dict[str, Any]]:
    return [{"currency": currency, "cents": cents[currency]} for currency in sorted(cents) if cents[currency]]


def _left_out(tallied: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            "collection": collection,
            "reason": reason,
            "count": entry["count"],
            "commission": _amounts(entry["commission"]),
        }
        for collection, tally in tallied.items()
        for reason, entry in sorted(tally.get("left_out", {}).items())
    ]


def _warnings(
    judging: Judging, tallied: Mapping[str, Mapping[str, Any]], *, omitted_figures: int
) -> list[dict[str, Any]]:
    merged = tallies.merge_counts(tallied.values())
    for warning in reading.list_warnings(**judging.switch.key):
        entry = merged.setdefault(warning["code"], {"count": 0, "example": warning["example"]})
        entry["count"] += warning["count"]
    custom = judging.programs[0].attribution_params if judging.programs else None
    not_added = link_rules.plan_parameters(custom, parameters.list_names(judging.switch)).not_added
    if not_added:
        merged[str(SwitchWarning.ParameterNotAdded)] = {"count": len(not_added), "example": not_added[0]}
    if omitted_figures:
        merged[str(SwitchWarning.MoreFiguresDiffer)] = {"count": omitted_figures, "example": None}
    grown = known_earnings.find_grown(**judging.switch.key) if judging.source.info.assumes_commissions else None
    if grown is not None:
        example = f"{grown.label}: {wording.format_money(grown.cents, grown.currency)} more"
        merged[str(SwitchWarning.UnpaidEarningsGrew)] = {"count": grown.affiliates, "example": example}
    return [{"code": str(code), **merged[code]} for code in sorted(merged)]


def _terms(campaign: SwitchCampaign, judging: Judging) -> dict[str, Any] | None:
    """Return the terms of a mapped campaign beside those of its program, and the names of those that differ."""
    program = next((row for row in judging.programs if row.id == campaign.program_id), None)
    if program is None:
        return None
    theirs, ours = dict(campaign.terms), _program_terms(program)
    # Percent have no currency, so that of the campaign is not compared with them.
    compared = [name for name in theirs if name != "commission_currency" or program.commission_type == "Fixed"]
    return {
        "campaign": campaign.name,
        "program": program.name,
        "theirs": theirs,
        "ours": ours,
        "differ": sorted(name for name in compared if not _is_equal(theirs[name], ours.get(name))),
    }


def _program_terms(program: MappedProgram) -> dict[str, Any]:
    return {
        "commission_type": program.commission_type,
        "commission_value": f"{program.commission_value.normalize():f}",
        "commission_currency": program.commission_currency if program.commission_type == "Fixed" else None,
        "cookie_window_days": program.cookie_window_days,
        "recurring_months": program.recurring_months,
        "hold_days": program.payout_grace_days,
        "minimum_payout_cents": program.min_payout_cents,
    }


def _is_equal(theirs: object, ours: object) -> bool:
    if isinstance(ours, str) and isinstance(theirs, str | int | float):
        try:
            return Decimal(str(theirs)) == Decimal(ours)
        except ArithmeticError:
            return str(theirs) == ours
    return theirs == ours
