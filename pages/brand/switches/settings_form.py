"""The form of a switch's mapping and options: read as the API takes it, filled in, and what of it changed."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from flask import request

from api.switches.switches import list_switches
from domain.money import currencies
from domain.statuses import AffiliateStatus
from pages import api_client, forms
from pages.api_client import ApiResult
from pages.forms import FormState
from pages.times import time_fields

STATUSES = [(status.value, status.value) for status in AffiliateStatus]
FORM_ID = "set-"
_MAX_CAMPAIGNS = 1_000
_MAX_PERCENT, _MAX_AMOUNT = 100, 1_000_000
#: Fields of the API, and those of the form.
_NAMES = {
    "options.currency": "currency",
    "options.assumedCommission": "assumedValue",
    "options.assumedCommission.value": "assumedValue",
    "campaigns": "program-0",
    "currency": "currency",
}
_NOT_A_CURRENCY = "Enter a supported currency code of three letters, such as USD."
_NOT_A_NUMBER = "Enter a number, such as 20 or 12.5."
_OUT_OF_RANGE = "Enter a percentage of at most 100, or an amount of at most 1,000,000."


def find_mistakes() -> FormState | None:
    """Return the typed form with an error at each field that can't be read; None without one."""
    errors = {}
    code, text = request.form.get("currency", "").strip(), _read_assumed_text()
    if code and currencies.normalize(code) is None:
        errors["currency"] = _NOT_A_CURRENCY
    if text:
        value = _parse_number(text)
        highest = _MAX_PERCENT if request.form.get("assumedType") == "Percentage" else _MAX_AMOUNT
        if value is None:
            errors["assumedValue"] = _NOT_A_NUMBER
        elif not 0 <= value <= highest:
            errors["assumedValue"] = _OUT_OF_RANGE
    return forms.form_with_errors(errors, form_id=FORM_ID) if errors else None


def read_changes(switch: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the form changes of a switch, as the API takes it; empty if nothing changed."""
    changes: dict[str, Any] = {}
    mapping = {campaign["sourceId"]: campaign["programId"] for campaign in switch["campaigns"]}
    campaigns = _read_campaigns()
    if any(campaign["programId"] != mapping.get(campaign["sourceId"]) for campaign in campaigns):
        changes["campaigns"] = campaigns
    options = _read_options()
    if any(value != _to_comparable(switch["options"].get(name)) for name, value in options.items()):
        changes["options"] = options
    typed = request.form.get("cutOverAt", "").strip()
    # The form shows whole minutes, so that the stored time is compared as the form shows it.
    if typed != (_to_local_time(switch["cutOverAt"]) or ""):
        changes["cutOverAt"] = time_fields.parse_local_time(typed or None)
    return changes


def form_from_refusal(answer: ApiResult) -> FormState:
    """Return the typed form with the errors of the API, each at its field or in words above the form."""
    assert answer.refusal is not None
    form = forms.form_from_refusal(answer, _NAMES, FORM_ID)
    if form.alert is None or not answer.refusal.fields:
        return form
    return replace(form, alert=" ".join(answer.refusal.fields.values()))


def prefill(switch: Mapping[str, Any], proposed: Mapping[str, str]) -> FormState:
    """Return the form with what is stored; `proposed` are programs by campaign for those that have none."""
    options, assumed = switch["options"], switch["options"]["assumedCommission"] or {}
    programs = {
        f"program-{index}": campaign["programId"] or proposed.get(campaign["sourceId"])
        for index, campaign in enumerate(switch["campaigns"])
    }
    return forms.prefill(
        FORM_ID,
        **programs,
        unpaid=options["unpaid"],
        includeStatuses=options["includeStatuses"] or [status for status, _ in STATUSES],
        withoutReferrals="on" if options["withoutReferrals"] else None,
        groups=options["groups"],
        codes="on" if options["codes"] else None,
        customerIdIs=options["customerIdIs"],
        currency=options["currency"],
        assumedType=assumed.get("type", "Percentage"),
        assumedValue=assumed.get("value"),
        cutOverAt=_to_local_time(switch["cutOverAt"]),
    )


def propose_programs(switch: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the programs of the newest other switch of the same account by campaign, for one without a mapping yet.

    Budget: 3 round trips for a switch that is Connected and has no mapping, else none.
    """
    if switch["state"] != "Connected" or any(campaign["programId"] for campaign in switch["campaigns"]):
        return {}
    former = api_client.require(list_switches, query={"source": switch["source"]})["items"]
    mappings = (
        {campaign["sourceId"]: campaign["programId"] for campaign in row["campaigns"] if campaign["programId"]}
        for row in former
        if row["id"] != switch["id"] and row["account"] == switch["account"]
    )
    return next((mapping for mapping in mappings if mapping), {})


def _read_campaigns() -> list[dict[str, Any]]:
    typed = request.form
    count = min(_MAX_CAMPAIGNS, sum(name.startswith("campaign-") for name in typed))
    return [
        {"sourceId": typed[f"campaign-{index}"], "programId": typed.get(f"program-{index}") or None}
        for index in range(count)
        if f"campaign-{index}" in typed
    ]


def _read_options() -> dict[str, Any]:
    typed = request.form
    statuses = typed.getlist("includeStatuses")
    options: dict[str, Any] = {
        "unpaid": typed.get("unpaid", "history"),
        "includeStatuses": None if len(statuses) in (0, len(STATUSES)) else statuses,
        "withoutReferrals": "withoutReferrals" in typed,
        "groups": typed.get("groups", "tag"),
        "codes": "codes" in typed,
        "customerIdIs": typed.get("customerIdIs", "auto"),
    }
    if "currency" in typed:
        options["currency"] = typed["currency"].strip().upper() or None
    if "assumedType" in typed:
        value = _parse_number(_read_assumed_text())
        options["assumedCommission"] = None if value is None else {"type": typed["assumedType"], "value": value}
    return options


def _read_assumed_text() -> str:
    return request.form.get("assumedValue", "").strip().replace(",", ".")


def _parse_number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) < float("inf") else None


def _to_comparable(value: Any) -> Any:
    """Return a stored option as the form has it."""
    if isinstance(value, dict) and "value" in value:
        return {**value, "value": float(value["value"])}
    return value


def _to_local_time(value: str | None) -> str | None:
    return time_fields.format_local_time(value) if value else None
