"""Tells people who test their links what becomes of a click, and why; nobody else is told anything.

A caller with a key or a session of the program's organization may ask with `debug=1`. For everybody else, and whenever
something is in the way, the answer is the ordinary one to the byte.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from uuid import UUID

from flask import request

from api.access import callers
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

# A click that is one of these is kept, and counts as no visit.
_UNCOUNTED = ("blocked", "duplicate")


@dataclass(frozen=True, slots=True)
class _Verdict:
    is_recorded: bool
    outcome: str
    score: int
    reasons: list[str]


def asked(
    link: Link | None, origin: VisitOrigin, program_id: UUID | None
) -> Callable[[bool], Mapping[str, object]] | None:
    """Return what explains the click of this request, told whether it was taken; None where nobody may know.

    Judges the click, so it is asked before the click is sent: it would be its own duplicate.
    """
    if request.args.get("debug") != "1":
        return None
    try:
        caller = _caller()
        if caller is None or not _is_of(caller, link, program_id):
            return None
        verdict = _verdict(caller, link, origin)
    except db.UNAVAILABLE:
        return None

    def explain(is_taken: bool) -> Mapping[str, object]:
        lost = _Verdict(False, "none", verdict.score, [*verdict.reasons, "not_taken"])
        shown: Mapping[str, object] = _VERDICT.dump(lost if verdict.is_recorded and not is_taken else verdict)
        return shown

    return explain


def _caller() -> Caller | None:
    sent = callers.bearer(request)
    if sent is None:
        return None
    try:
        found = callers.member(sent) if callers.is_token(sent) else callers.key_holder(sent)
    except Refused:  # an address that tries keys is stopped elsewhere
        return None
    return found if isinstance(found, Caller) else None


def _is_of(caller: Caller, link: Link | None, program_id: UUID | None) -> bool:
    # Without a link of theirs they have to name a program of theirs: whether another brand has the slug is not theirs.
    if link is not None:
        return link.organization_id == caller.organization_id
    if program_id is None:
        return False
    with db.unit_of_work(caller.organization_id):
        return programs.find(organization_id=caller.organization_id, program_id=program_id) is not None


def _verdict(caller: Caller, link: Link | None, origin: VisitOrigin) -> _Verdict:
    if link is None:
        return _no_click("unknown_slug")
    if not link.is_open:
        return _no_click("program_not_open")
    if link.affiliate_status != AffiliateStatus.Approved:
        return _no_click("affiliate_not_approved")
    if not visits.is_visit():
        return _no_click("no_visit")
    with db.unit_of_work(caller.organization_id):
        return _of(clicks.preview(visits.as_click(link, origin)))


def _of(found: ClickPreview) -> _Verdict:
    reasons = list(found.reasons) + (["duplicate"] if found.outcome == "duplicate" else [])
    return _Verdict(found.outcome not in _UNCOUNTED, found.outcome, found.score, reasons)


def _no_click(reason: str) -> _Verdict:
    return _Verdict(False, "none", 0, [reason])
