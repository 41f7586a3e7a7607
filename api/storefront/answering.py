"""The second step of an application, as the page behind its link and the portal hand it in.

A link that is forged, over, or about an application that is decided is refused alike, and says nothing of anybody.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import orjson

from adapters import clock
from adapters.mail import answer_links
from adapters.mail.answer_links import Applicant
from api.edge import audit
from api.edge.relay_waker import wake_relay
from domain.programs.application_form import FormField
from domain.refusals import Refused
from domain.statuses import AffiliateStatus
from models import db, stored_answers
from pipelines.storefront import second_step

# For how long a form that is sent once more is the same handing in.
_SAME_FORM_S = 3600


@dataclass(frozen=True, slots=True)
class Asked:
    """What somebody is asked behind a link, and what they answered so far. `is_undecided`: they may change it later."""

    brand: str
    program: str
    fields: Sequence[FormField]
    answers: Mapping[str, object]
    is_undecided: bool


@dataclass(frozen=True, slots=True)
class HandedIn:
    """What was handed in, as it is kept."""

    affiliate_id: UUID
    status: str
    completed_at: datetime
    answers: Mapping[str, object]


def opened(token: str) -> Asked:
    """Return what a link opens; changes nothing. Raises Refused 410 application_closed."""
    applicant = _applicant(token)
    with db.unit_of_work(applicant.organization_id):
        try:
            step = second_step.find(organization_id=applicant.organization_id, affiliate_id=applicant.affiliate_id)
        except Refused as refusal:
            raise _gone() from refusal
    is_undecided = step.affiliate.status == AffiliateStatus.Pending
    return Asked(step.brand, step.program, step.fields, step.answers, is_undecided)


def hand_in_by_link(token: str, sent: Mapping[str, object], *, form_key: str | None) -> None:
    """Hand in the second step behind a link; a form that comes twice, as by a double click, is handed in once.

    Raises Refused: 410 application_closed; 400 invalid_request.
    """
    applicant, now = _applicant(token), clock.now()
    with db.unit_of_work(applicant.organization_id):
        if form_key is not None and not _is_first(applicant, form_key, sent):
            return
        try:
            hand_in(applicant.organization_id, applicant.affiliate_id, sent, now=now)
        except Refused as refusal:
            raise _gone() if refusal.code == "application_closed" else refusal from refusal
    wake_relay()


def hand_in(organization_id: UUID, affiliate_id: UUID, sent: Mapping[str, object], *, now: datetime) -> HandedIn:
    """Hand in the second step of an application in the caller's unit of work, and audit it without the answers.

    Raises Refused: 409 application_closed; 400 invalid_request.
    """
    step = second_step.lock(organization_id=organization_id, affiliate_id=affiliate_id)
    after = second_step.hand_in(step, sent, now=now)
    said = after.application_data or {}
    answers = {field.key: said[field.key] for field in step.fields if field.key in said}
    audit.record(
        "affiliate.application_completed",
        after.id,
        after={"status": after.status, "answered": list(answers)},
        now=now,
        organization_id=organization_id,
    )
    assert after.application_completed_at is not None  # it is now
    return HandedIn(after.id, after.status, after.application_completed_at, answers)


def _is_first(applicant: Applicant, form_key: str, sent: Mapping[str, object]) -> bool:
    # Whoever goes back and changes an answer sends the same key with something else: that is another handing in.
    said = hashlib.sha256(orjson.dumps([form_key, dict(sent)], option=orjson.OPT_SORT_KEYS)).digest()
    return stored_answers.claim(
        organization_id=applicant.organization_id,
        scope=f"second step {applicant.affiliate_id}",
        key=said.hex(),
        request_hash=said,
        window_s=_SAME_FORM_S,
    )


def _applicant(token: str) -> Applicant:
    applicant = answer_links.read(token, now=clock.now())
    if applicant is None:
        raise _gone()
    return applicant


def _gone() -> Refused:
    closed = second_step.closed()
    return Refused(410, closed.code, closed.message)
