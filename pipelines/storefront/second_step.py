"""The second step of an application: asked for by a letter, handed in behind its link or at the portal.

It may be handed in, and again, until the brand has decided; whoever was let in before they came to it may do so once.
What is handed in takes the place of what was said before, all of the step together.
Source: tracking spec, section 6, affiliate.application_completed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from adapters.mail import answer_links
from adapters.mail.answer_links import Applicant
from domain import jobs
from domain.programs import application_answers, application_events, application_form
from domain.programs.application_form import ApplicationForm, FormField
from domain.refusals import Refused
from models.affiliates import affiliates
from models.affiliates.affiliates import Affiliate
from models.organization import organizations
from models.programs import programs
from pipelines import mail, work
from pipelines.webhooks import emit

# How long somebody waits who applies again for the sake of another letter.
_LETTER_EVERY = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class SecondStep:
    """What an applicant is still asked, by whom, and who they are."""

    affiliate: Affiliate
    brand: str
    program: str
    fields: tuple[FormField, ...]

    @property
    def answers(self) -> dict[str, object]:
        """What they answered so far."""
        said = self.affiliate.application_data or {}
        return {field.key: said[field.key] for field in self.fields if field.key in said}


def stage_letter(*, organization_id: UUID, affiliate_id: UUID) -> None:
    """Stage the job that writes to an applicant, if there is anything to write."""
    work.enqueue(jobs.APPLICATION_LETTER, organization_id=organization_id, affiliate_id=affiliate_id)


def write_letter(*, organization_id: UUID, affiliate_id: UUID, now: datetime) -> None:
    """Stage the letter with the link for somebody who has not handed in the second step; one an hour at most."""
    affiliate = affiliates.lock(organization_id=organization_id, affiliate_id=affiliate_id)
    if affiliate is None or affiliate.application_completed_at is not None:
        return
    if affiliate.application_asked_at is not None and now < affiliate.application_asked_at + _LETTER_EVERY:
        return
    step = _of(affiliate)
    if step is None:
        return
    affiliates.change(affiliate, {"application_asked_at": now})
    brand, program = (" ".join(name.split()) for name in (step.brand, step.program))
    link = answer_links.address(Applicant(organization_id, affiliate_id), now=now)
    text = (
        f"{brand} has a few more questions about your application to {program}. Answer them here:\n\n{link}\n\n"
        f"The link is yours alone. It works for {answer_links.LASTS.days} days, and again if you want to change your"
        " answers before they have decided. If you did not apply, ignore this letter: nothing happens without you.\n"
    )
    subject = f"A few more questions about your application to {program}"
    mail.send(
        organization_id=organization_id,
        to=affiliate.email,
        subject=subject,
        text=text,
        kind="affiliate.application",
        at=now,
    )


def find(*, organization_id: UUID, affiliate_id: UUID) -> SecondStep:
    """Return what an applicant is still asked. Raises Refused 409 application_closed where it is nothing (any more)."""
    return _asked(affiliates.find(organization_id=organization_id, affiliate_id=affiliate_id))


def lock(*, organization_id: UUID, affiliate_id: UUID) -> SecondStep:
    """Like `find`, with the applicant locked until the transaction ends."""
    return _asked(affiliates.lock(organization_id=organization_id, affiliate_id=affiliate_id))


def hand_in(step: SecondStep, sent: Mapping[str, object], *, now: datetime) -> Affiliate:
    """Keep the answers of a locked applicant, tell the brand, and return them as they are now.

    Raises Refused 400 invalid_request for the answers.
    """
    before = step.affiliate
    answers = application_answers.validate(step.fields, sent)
    asked = {field.key for field in step.fields}
    others = {key: said for key, said in (before.application_data or {}).items() if key not in asked}
    completed_at = before.application_completed_at or now
    after = affiliates.change(before, {"application_data": others | answers, "application_completed_at": completed_at})
    told = application_events.serialize_application_completed(
        affiliate_id=after.id,
        program_id=after.program_id,
        email=after.email,
        full_name=after.full_name,
        status=after.status,
        application_answers=after.application_data or {},
    )
    emit.event(organization_id=after.organization_id, type="affiliate.application_completed", data=told, at=now)
    return after


def closed() -> Refused:
    """Return the refusal of a step that nobody asks for (any more)."""
    return Refused(409, "application_closed", "Nothing more is asked here, or the application has been decided.")


def _asked(affiliate: Affiliate | None) -> SecondStep:
    step = None if affiliate is None else _of(affiliate)
    if step is None:
        raise closed()
    return step


def _of(affiliate: Affiliate) -> SecondStep | None:
    """Return what an applicant is still asked; None where it is nothing."""
    is_open = application_form.is_second_step_open(
        status=affiliate.status,
        source=affiliate.source,
        is_completed=affiliate.application_completed_at is not None,
    )
    if not is_open:
        return None
    program = programs.find_open(organization_id=affiliate.organization_id, program_id=affiliate.program_id)
    brand = organizations.find(affiliate.organization_id)
    if program is None or brand is None:
        return None
    fields = ApplicationForm.from_stored(program.application_form).list_step(2)
    return SecondStep(affiliate, brand.name, program.name, fields) if fields else None
