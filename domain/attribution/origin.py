"""The attribution log of a conversion that stores none: an import, an override, a click, a lead, a manual sale.

Source: tracking spec, "Attribution method taxonomy".
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from domain.attribution import log, steps
from domain.attribution.facts import Facts, NamedAffiliate, Referral
from domain.attribution.log import LogLine
from domain.attribution.order import decide
from domain.statuses import AffiliateStatus


@dataclass(frozen=True, slots=True)
class Origin:
    """The fields of a conversion that say where it comes from.

    `parent_id` and `seller_id` are the sale and the affiliate of which an override is a share; `recorded_by` is the
    kind of caller who recorded it manually, where that is known. `decided_at` is aware UTC.
    """

    affiliate_id: UUID
    method: str | None
    decided_at: datetime
    parent_id: UUID | None = None
    seller_id: UUID | None = None
    recorded_by: str | None = None


def explain(origin: Origin) -> list[LogLine]:
    """Return why the affiliate was credited, for a conversion without a stored log.

    Without a method it is a signed sale whose buyer was no one's lead: all steps of the order.
    """
    if origin.method is None:
        return _explain_signed_sale(origin)
    name = origin.method.partition(":")[0]
    step, code, detail = _EXPLAIN.get(name, _explain_source)(origin)
    return [LogLine(step=step, outcome="matched", code=code, detail=detail, affiliate_id=origin.affiliate_id)]


def _explain_signed_sale(origin: Origin) -> list[LogLine]:
    referral = Referral(NamedAffiliate(origin.affiliate_id, AffiliateStatus.Approved), method=None)
    return log.read(log.serialize(decide(Facts(paid_at=origin.decided_at, referral=referral)).steps))


_Explanation = tuple[str, str, str]  # step, code, sentence
_BY_HAND = {
    "api_key": ("recorded_with_key", "Recorded by hand with an API key; the audit log says which."),
    "oauth": ("recorded_by_agent", "Recorded by a program that a person authorized; the audit log says who."),
    "member": ("recorded_by_member", "Recorded by hand at the dashboard; the audit log says by whom."),
}


def _explain_manual(origin: Origin) -> _Explanation:
    code, detail = _BY_HAND.get(origin.recorded_by or "", ("recorded_by_hand", "Recorded by hand."))
    return "manual", code, detail


def _explain_import(origin: Origin) -> _Explanation:
    source = (origin.method or "").partition(":")[2] or "another service"
    return "import", "imported", f"Imported from {source}; the import named the affiliate."


def _explain_override(origin: Origin) -> _Explanation:
    detail = f"The affiliate recruited {origin.seller_id}, who was credited with the sale {origin.parent_id}."
    return "override", "recruit_sold", detail


def _explain_clicks(_: Origin) -> _Explanation:
    return "click", "clicks_counted", "Visitors came through the affiliate's link in that hour."


def _explain_signup(_: Origin) -> _Explanation:
    return "lead", "lead_signed_up", "A visitor signed up through the affiliate's link."


def _explain_form(_: Origin) -> _Explanation:
    return "lead", "lead_form_sent", "A visitor sent the program's lead form through the affiliate's link."


def _explain_restore(_: Origin) -> _Explanation:
    return "restore", "paid_before_restore", "Represents a payment to the affiliate that a restore had lost."


def _explain_source(_: Origin) -> _Explanation:
    return steps.CARRIED_REFERRAL.name, "named_by_source", "The source of the conversion names the affiliate."


_EXPLAIN: Mapping[str, Callable[[Origin], _Explanation]] = {
    "manual": _explain_manual,
    "historical_import": _explain_import,
    "sub_affiliate_override": _explain_override,
    "cpc_aggregation": _explain_clicks,
    "lead_signup": _explain_signup,
    "lead_form": _explain_form,
    "restore": _explain_restore,
}
