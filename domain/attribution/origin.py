"""The one line of a conversion that no payment made: an import, the recruiter's share, a click, a lead, a person.

Source: tracking spec, "Attribution method taxonomy".
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from domain.attribution import carried_referral, log
from domain.attribution.facts import Facts, NamedAffiliate, Referral
from domain.attribution.log import LogLine
from domain.attribution.order import decide
from domain.statuses import AffiliateStatus


@dataclass(frozen=True, slots=True)
class Origin:
    """What a conversion itself says of where it comes from.

    `parent_id` and `seller_id` are the sale and the affiliate that an override is a share of; `recorded_by` is the kind
    of caller who recorded it by hand, where that is known. `decided_at` is aware UTC.
    """

    affiliate_id: UUID
    method: str | None
    decided_at: datetime
    parent_id: UUID | None = None
    seller_id: UUID | None = None
    recorded_by: str | None = None


def lines(origin: Origin) -> list[LogLine]:
    """Return why the affiliate was credited, for a conversion without a stored log.

    Without a method it is a signed sale whose buyer was nobody's lead: all steps of the order.
    """
    if origin.method is None:
        return _signed(origin)
    name = origin.method.partition(":")[0]
    told = _TOLD.get(name, _by_its_source)
    step, code, detail = told(origin)
    return [LogLine(step=step, outcome="matched", code=code, detail=detail, affiliate_id=origin.affiliate_id)]


def _signed(origin: Origin) -> list[LogLine]:
    named = Referral(NamedAffiliate(origin.affiliate_id, AffiliateStatus.Approved), method=None)
    return log.read(log.written(decide(Facts(paid_at=origin.decided_at, referral=named)).steps))


_Told = tuple[str, str, str]
_BY_HAND = {
    "api_key": ("recorded_with_key", "Recorded by hand with an API key; the audit log says which."),
    "oauth": ("recorded_by_agent", "Recorded by a program that a person let in; the audit log says by whose leave."),
    "member": ("recorded_by_member", "Recorded by hand at the dashboard; the audit log says by whom."),
}


def _by_hand(origin: Origin) -> _Told:
    code, detail = _BY_HAND.get(origin.recorded_by or "", ("recorded_by_hand", "Recorded by hand."))
    return "manual", code, detail


def _imported(origin: Origin) -> _Told:
    source = (origin.method or "").partition(":")[2] or "another service"
    return "import", "imported", f"Imported from {source}; the import named the affiliate."


def _override(origin: Origin) -> _Told:
    detail = f"The affiliate recruited {origin.seller_id}, who was credited with the sale {origin.parent_id}."
    return "override", "recruit_sold", detail


def _clicks(_: Origin) -> _Told:
    return "click", "clicks_counted", "Visitors came through the affiliate's link in that hour."


def _signup(_: Origin) -> _Told:
    return "lead", "lead_signed_up", "Somebody signed up through the affiliate's link."


def _form(_: Origin) -> _Told:
    return "lead", "lead_form_sent", "Somebody sent the campaign's lead form through the affiliate's link."


def _restored(_: Origin) -> _Told:
    return "restore", "paid_before_restore", "It stands for a payment to the affiliate that a restore had forgotten."


def _by_its_source(origin: Origin) -> _Told:
    return carried_referral.NAME, "named_by_source", f"The source named the affiliate ({origin.method})."


_TOLD: Mapping[str, Callable[[Origin], _Told]] = {
    "manual": _by_hand,
    "historical_import": _imported,
    "sub_affiliate_override": _override,
    "cpc_aggregation": _clicks,
    "lead_signup": _signup,
    "lead_form": _form,
    "restore": _restored,
}
