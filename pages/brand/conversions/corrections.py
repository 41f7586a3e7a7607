"""Corrections of a conversion's money at the dashboard: refunds, restored refunds, another commission."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flask import Response

from api.conversions.adjustments import adjust_conversion, refund_conversion, restore_refund
from domain.conversions.refund import Reason, RefundOrigin
from domain.statuses import EARNS_NOTHING, SALES, UNPAID, Payability
from pages import api_client, form_values, forms
from pages.form_pages import send_form
from pages.forms import FormState

#: The operations, by the `action` that a form sends.
ACTS: Mapping[str, api_client.View] = {
    "refund": refund_conversion,
    "restore": restore_refund,
    "adjust": adjust_conversion,
}
_REASONS = tuple(reason.value for reason in Reason)


@dataclass(frozen=True, slots=True)
class Corrections:
    """Forms to offer. `remaining_cents` is the maximum of a refund; None: the whole conversion only."""

    may_refund: bool
    may_restore: bool
    may_adjust: bool
    remaining_cents: int | None
    is_adjusted: bool

    @property
    def has_any(self) -> bool:
        """Whether any form is offered."""
        return self.may_refund or self.may_restore or self.may_adjust


def find_corrections(conversion: Mapping[str, Any]) -> Corrections:
    """Return the corrections of a conversion in its current state that the signed-in person may make."""
    is_whole_only = conversion["type"] not in SALES or conversion["amountCents"] == 0
    return Corrections(
        may_refund=api_client.is_allowed(refund_conversion)
        and conversion["refundedAt"] is None
        and conversion["status"] not in EARNS_NOTHING,
        may_restore=api_client.is_allowed(restore_refund) and _has_brand_refund(conversion),
        may_adjust=api_client.is_allowed(adjust_conversion) and _can_change_commission(conversion),
        remaining_cents=None if is_whole_only else conversion["amountCents"] - conversion["refundedAmountCents"],
        is_adjusted=any(
            line["eventType"] == "adjustment" and line["reason"] in _REASONS for line in conversion["events"]
        ),
    )


def send_correction(name: str, conversion_id: str, currency: str) -> Response | FormState:
    """Send the typed form to its operation."""
    form = forms.form_from_request()
    body: dict[str, Any] = {"reason": form.value("reason") or None, "note": form.value("note").strip() or None}
    if name == "refund":
        body["amountCents"] = form_values.parse_amount(form.value("amount"), currency)
    elif name == "adjust":
        body["commissionCents"] = form_values.parse_amount(form.value("commission"), currency)
    return send_form(
        ACTS[name],
        path={"conversion_id": conversion_id},
        body=None if name == "restore" else body,
        to="/dashboard/conversions/{conversion_id}",
        names={"amountCents": "amount", "commissionCents": "commission"},
        form_id=f"{name}-",
    )


def _has_brand_refund(conversion: Mapping[str, Any]) -> bool:
    """Return whether there may be a refund by the brand to restore; only the API knows what is left of it."""
    if conversion["refundedAt"] is None and not conversion["refundedAmountCents"]:
        return False
    refunds: Sequence[Mapping[str, Any]] = [line for line in conversion["events"] if line["eventType"] == "refund"]
    return any(line["origin"] != RefundOrigin.gateway for line in refunds)


def _can_change_commission(conversion: Mapping[str, Any]) -> bool:
    return (
        conversion["status"] in UNPAID
        and conversion["payability"] == Payability.payable
        and not conversion["locked"]
        and conversion["payoutId"] is None
        and conversion["parentAffiliateConversionId"] is None
    )
