"""Corrections of a conversion's money at the dashboard: refunds, their undoing, another commission."""

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
    """Which forms are worth offering. `remaining_cents` is what a refund may still be of; None: only as a whole."""

    may_refund: bool
    may_restore: bool
    may_adjust: bool
    remaining_cents: int | None
    is_adjusted: bool

    @property
    def has_any(self) -> bool:
        """Whether any form is offered."""
        return self.may_refund or self.may_restore or self.may_adjust


def of(conversion: Mapping[str, Any]) -> Corrections:
    """Return what the signed-in person may correct about a conversion as it is now."""
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


def send(name: str, conversion_id: str, currency: str) -> Response | FormState:
    """Send what was typed to the operation that the form is for."""
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
    """Return whether a refund that no gateway reported may stand; what is left of it only the API knows."""
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
