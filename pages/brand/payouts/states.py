"""The state of a payout in words, and the decisions that it allows."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from flask import request

from api import current_time
from domain.payouts.destinations import METHOD_NAMES
from domain.payouts.states import PayoutStatus, ReviewStatus
from pages import template_filters

#: The filter of a list of payouts.
STATUSES = (("", "Any"), *((status.value, status.value) for status in PayoutStatus))


def read_filters() -> dict[str, str | None]:
    """Return the filter and the cursor of this request's address; an invalid status is left out."""
    status = request.args.get("status")
    return {"status": status if status in [*PayoutStatus] else None, "cursor": request.args.get("cursor") or None}


def payout_view(payout: Mapping[str, Any]) -> dict[str, Any]:
    """Return a payout of the API with additional values for display.

    `state` is the text of its badge, `state_detail` its explanation, `says` the sentence on its state;
    `may_…` are the decisions that its state allows.
    """
    status, is_voided = payout["status"], payout["voidedAt"] is not None
    is_listed = status == PayoutStatus.Pending and payout["exportedAt"] is not None
    is_open = status in (PayoutStatus.Pending, PayoutStatus.Failed) and not is_voided
    return {
        **payout,
        "state": "Voided" if is_voided else status,
        "affiliate_label": payout["affiliateName"] or payout["affiliateEmail"],
        "method_label": METHOD_NAMES.get(payout["method"], payout["method"]),
        "state_detail": _describe_state(payout, is_listed=is_listed),
        "may_retry": status == PayoutStatus.Failed and not is_voided,
        "may_void": (status == PayoutStatus.Failed or is_listed) and not is_voided,
        "may_mark": is_open and payout["reviewStatus"] in (None, ReviewStatus.Approved),
    }


def _describe_state(payout: Mapping[str, Any], *, is_listed: bool) -> str:
    """Return the reason of a failure, or what a payout waits for."""
    if payout["status"] == PayoutStatus.Failed:
        code = payout["failureCode"]
        return f"{payout['failureReason']}{f' ({code})' if code else ''}"
    if payout["status"] == PayoutStatus.Processing:
        return "Sent to the payout provider; waiting for its response."
    if payout["status"] == PayoutStatus.Paid:
        return ""
    if payout["needsManualReview"]:
        return "In review by the operator."
    if is_listed:
        return "Exported for manual payment."
    held_until = payout["holdUntil"]
    is_held = held_until is not None and datetime.fromisoformat(held_until) > current_time.now()
    return f"Held until {template_filters.describe_time(held_until)}." if is_held else "Queued."
