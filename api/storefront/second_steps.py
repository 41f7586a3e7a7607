"""The second step of an application, submitted from the page of its link or from the portal.

A link that is forged, expired, or of a decided application gets the same refusal, which reveals nothing.
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

# A form that is sent again within this time counts as the same submission.
_SAME_FORM_S = 3600


@dataclass(frozen=True, slots=True)
class SecondStepForm:
    """The questions behind a link, and the answers so far. `is_undecided`: the answers can still be changed."""

    brand: str
    program: str
    fields: Sequence[FormField]
    answers: Mapping[str, object]
    is_undecided: bool


@dataclass(frozen=True, slots=True)
class SubmittedAnswers:
    """The stored answers of a second step."""

    affiliate_id: UUID
    status: str
    completed_at: datetime
    answers: Mapping[str, object]


def open_form(token: str) -> SecondStepForm:
    """Return the form of a link; changes nothing. Raises Refused 410 application_closed."""
    applicant = _applicant(token)
    with db.unit_of_work(applicant.organization_id):
        try:
            step = second_step.find(organization_id=applicant.organization_id, affiliate_id=applicant.affiliate_id)
        except Refused as refusal:
            raise _closed_link() from refusal
    is_undecided = step.affiliate.status == AffiliateStatus.Pending
    return SecondStepForm(step.brand, step.program, step.fields, step.answers, is_undecided)


def submit_by_link(token: str, submitted: Mapping[str, object], *, form_key: str | None) -> None:
    """Submit the second step of a link; a form that is sent twice, as by a double click, is stored once.

    Raises Refused: 410 application_closed; 400 invalid_request.
    """
    applicant, now = _applicant(token), clock.now()
    with db.unit_of_work(applicant.organization_id):
        if form_key is not None and not _claim_form(applicant, form_key, submitted):
            return
        try:
            submit(applicant.organization_id, applicant.affiliate_id, submitted, now=now)
        except Refused as refusal:
            raise _closed_link() if refusal.code == "application_closed" else refusal from refusal
    wake_relay()


def submit(
    organization_id: UUID, affiliate_id: UUID, submitted: Mapping[str, object], *, now: datetime
) -> SubmittedAnswers:
    """Submit the second step of an application in the caller's unit of work, and audit it without the answers.

    Raises Refused: 409 application_closed; 400 invalid_request.
    """
    step = second_step.lock(organization_id=organization_id, affiliate_id=affiliate_id)
    after = second_step.submit(step, submitted, now=now)
    data = after.application_data or {}
    answers = {field.key: data[field.key] for field in step.fields if field.key in data}
    audit.record(
        "affiliate.application_completed",
        after.id,
        after={"status": after.status, "answered": list(answers)},
        now=now,
        organization_id=organization_id,
    )
    assert after.application_completed_at is not None  # hand_in sets it
    return SubmittedAnswers(after.id, after.status, after.application_completed_at, answers)


def _claim_form(applicant: Applicant, form_key: str, submitted: Mapping[str, object]) -> bool:
    # A person who goes back and changes an answer sends the same key with other answers: a new submission.
    digest = hashlib.sha256(orjson.dumps([form_key, dict(submitted)], option=orjson.OPT_SORT_KEYS)).digest()
    return stored_answers.claim(
        organization_id=applicant.organization_id,
        scope=f"second step {applicant.affiliate_id}",
        key=digest.hex(),
        request_hash=digest,
        window_s=_SAME_FORM_S,
    )


def _applicant(token: str) -> Applicant:
    applicant = answer_links.read(token, now=clock.now())
    if applicant is None:
        raise _closed_link()
    return applicant


def _closed_link() -> Refused:
    closed = second_step.closed_refusal()
    return Refused(410, closed.code, closed.message)
