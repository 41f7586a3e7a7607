"""Debug answers: the outcome of a click and its reasons, for people who test their links.

A caller with a key or a session of the program's organization may send `debug=1`. For every other caller, and if the
outcome cannot be determined, the answer is byte for byte the ordinary one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from uuid import UUID

from flask import request

from api.access import callers, member_callers
from api.access.callers import Caller
from api.clicks import visits
from api.clicks.visits import VisitOrigin
from domain.refusals import Refused
from domain.statuses import AffiliateStatus
from models import db
from models.clicks.public_links import Link
from models.programs import programs
from pipelines.clicks import clicks
from pipelines.clicks.clicks import ClickPreview
from schemas.clicks.click import ClickVerdict

_VERDICT = ClickVerdict()

# Clicks with these outcomes are stored but not counted.
_UNCOUNTED_OUTCOMES = ("blocked", "duplicate")


@dataclass(frozen=True, slots=True)
class _Verdict:
    is_recorded: bool
    outcome: str
    score: int
    reasons: list[str]


def find_explainer(
    link: Link | None, origin: VisitOrigin, program_id: UUID | None
) -> Callable[[bool], Mapping[str, object]] | None:
    """Return a function that explains this request's click, given whether it was sent; None if the caller may not know.

    It judges the click, so call it before the click is sent: afterwards the click would be its own duplicate.
    """
    if request.args.get("debug") != "1":
        return None
    try:
        caller = _find_caller()
        if caller is None or not _may_see(caller, link, program_id):
            return None
        verdict = _judge(caller, link, origin)
    except db.UNAVAILABLE:
        return None

    def explain(is_sent: bool) -> Mapping[str, object]:
        lost = _Verdict(False, "none", verdict.score, [*verdict.reasons, "not_taken"])
        return _VERDICT.dump(lost if verdict.is_recorded and not is_sent else verdict)

    return explain


def _find_caller() -> Caller | None:
    credential = callers.read_bearer(request)
    if credential is None:
        return None
    try:
        caller = (
            member_callers.find_member(credential)
            if callers.is_token(credential)
            else callers.find_key_holder(credential)
        )
    except Refused:  # an address that tries keys is blocked elsewhere
        return None
    return caller if isinstance(caller, Caller) else None


def _may_see(caller: Caller, link: Link | None, program_id: UUID | None) -> bool:
    # Without a link the caller must name one of their own programs: whether another brand has the slug is secret.
    if link is not None:
        return link.organization_id == caller.organization_id
    if program_id is None:
        return False
    with db.unit_of_work(caller.organization_id):
        return programs.find(organization_id=caller.organization_id, program_id=program_id) is not None


def _judge(caller: Caller, link: Link | None, origin: VisitOrigin) -> _Verdict:
    if link is None:
        return _no_click("unknown_slug")
    if not link.is_open:
        return _no_click("program_not_open")
    if link.affiliate_status != AffiliateStatus.Approved:
        return _no_click("affiliate_not_approved")
    if not visits.is_visit():
        return _no_click("no_visit")
    with db.unit_of_work(caller.organization_id):
        return _verdict_from_preview(clicks.preview(visits.build_click(link, origin)))


def _verdict_from_preview(preview: ClickPreview) -> _Verdict:
    reasons = list(preview.reasons) + (["duplicate"] if preview.outcome == "duplicate" else [])
    return _Verdict(preview.outcome not in _UNCOUNTED_OUTCOMES, preview.outcome, preview.score, reasons)


def _no_click(reason: str) -> _Verdict:
    return _Verdict(False, "none", 0, [reason])
