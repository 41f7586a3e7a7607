"""Records public applications to a campaign. Every outcome gives the same answer and costs the same.

Source: tracking spec, "Public storefront" (apply) and "Apply-form recruiter binding".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from domain import emails, statuses
from domain.notifications.kinds import NotificationKind
from domain.programs import application_answers
from domain.programs.application_form import ApplicationForm
from domain.refusals import Refused
from models import advisory_locks, ids, storefront
from models.affiliates import accounts, affiliates, tracking_links
from models.affiliates.affiliates import Affiliate
from models.affiliates.tracking_links import LinkView
from models.notifications.feed import NewNotice
from models.organization import organizations
from models.programs import programs
from models.storefront import ApplicationFacts
from pipelines.affiliates import enrollment, recruitment, status_emails
from pipelines.notifications import notices
from pipelines.organization import capacity
from pipelines.storefront import second_step

_SLUG_TRIES = 10


@dataclass(frozen=True, slots=True)
class FiledApplication:
    """A recorded application: the affiliate's id, and the new rows unless the affiliate existed already."""

    affiliate_id: UUID
    affiliate: Affiliate | None
    links: list[LinkView]


def any_org_find_owner(program_id: UUID) -> UUID:
    """Return the organization of a campaign. Raises Refused 404 not_found."""
    organization_id = programs.any_org_find_organization(program_id)
    if organization_id is None:
        raise _not_open_refusal()
    return organization_id


def any_org_has_account(*, email: str, program_id: UUID) -> bool:
    """Return whether the applicant has an account with this email already; this campaign then creates none for them."""
    has_signed_in = bool(accounts.find_by_email(email))
    # Both queries always run, so that the time taken reveals no more than the answer.
    return affiliates.any_org_has_account(email=email, program_id=program_id) or has_signed_in


def apply(
    *,
    organization_id: UUID,
    program_id: UUID,
    application: Mapping[str, Any],
    source: statuses.AffiliateSource = statuses.AffiliateSource.Public,
    now: datetime,
) -> FiledApplication:
    """Record an application; an existing application stays as it is.

    `application` is `ApplicationBody` loaded. A campaign with automatic approval emails the new affiliate. An
    invite-only campaign takes applications too, and never approves them automatically. The plan's capacity and the
    alias are checked before the applicant, everything is read before anything is decided, and writes travel with the
    commit, so that the database gets the same queries for every applicant.
    Raises Refused: 404 not_found for a campaign that is not open; 400 invalid_request for the answers to its form; 409
    program_at_capacity, alias_already_taken.
    Budget: 4 round trips (campaign; organization; applicant and slugs; writes and commit), 1 more each for the number
    of affiliates under a plan that limits it, for a recruiter and for an alias.
    """
    program = programs.find_open(organization_id=organization_id, program_id=program_id)
    if program is None:
        raise _not_open_refusal()
    form = ApplicationForm.from_stored(program.application_form)
    answers = application_answers.validate(form.list_step(1), application["form_answers"])
    advisory_locks.stage_affiliate_capacity_lock(organization_id)
    organization = organizations.find(organization_id)
    assert organization is not None  # the program is one of its own
    if capacity.count_affiliates_left(organization, now=now) == 0:
        raise Refused(409, "program_at_capacity", "This program accepts no more affiliates at the moment.")
    recruiter_id = recruitment.find_recruiter(program, reference=application["recruiter"], email=application["email"])
    facts, slug = _lock_and_read(program, email=application["email"], alias=application["alias"])
    if facts.is_alias_taken:
        raise enrollment.alias_refusal()
    affiliate_id = facts.affiliate_id or ids.new_id()
    if form.has_second_step:  # for every applicant: the job decides whether to send the email
        second_step.stage_email_job(organization_id=organization_id, affiliate_id=affiliate_id)
    if facts.affiliate_id is not None:
        return FiledApplication(facts.affiliate_id, None, [])
    values = _columns(program, application, recruiter_id, source, now) | {
        "id": affiliate_id,
        "application_data": {**application["answers"], **answers} or None,
    }
    links = enrollment.link_values(values, slug=slug, alias=application["alias"])
    affiliates.stage_all([values])
    tracking_links.stage_all(links)
    affiliate = Affiliate(**values)
    enrollment.emit_events(affiliate, slug=slug, now=now)
    if affiliate.status == statuses.AffiliateStatus.Pending:
        notices.stage(NewNotice(organization_id, NotificationKind.NewApplication.value, affiliate.id))
    if affiliate.status == statuses.AffiliateStatus.Approved:
        status_emails.stage_approved(organization, [affiliate.email], now=now)
    return FiledApplication(
        affiliate.id,
        affiliate,
        [_build_link(link, program, facts.is_shared(link["slug"], alias=application["alias"])) for link in links],
    )


def _build_link(link: Mapping[str, Any], program: programs.Program, needs_program: bool) -> LinkView:
    return LinkView.from_values(link, destination_url=program.referral_destination_url, needs_program=needs_program)


def _not_open_refusal() -> Refused:
    return Refused(404, "not_found", "There is no such program, or it accepts no applications.")


def _lock_and_read(program: programs.Program, *, email: str, alias: str | None) -> tuple[ApplicationFacts, str]:
    """Lock the person and the alias; return the facts about them and the slug that a new affiliate would get."""
    organization_id = program.organization_id
    advisory_locks.stage_person_lock(organization_id=organization_id, email=email)
    if alias is not None:
        advisory_locks.take_slug_lock(organization_id=organization_id, slug=alias)
    for _ in range(_SLUG_TRIES):
        spare = enrollment.random_slug()
        facts = storefront.read_application_facts(
            organization_id=organization_id, program_id=program.id, email=email, alias=alias, spare=spare
        )
        if not facts.is_spare_taken:
            return facts, facts.slug or alias or spare
    raise RuntimeError(f"{_SLUG_TRIES} random slugs in a row were taken")


def _columns(
    program: programs.Program,
    application: Mapping[str, Any],
    recruiter_id: UUID | None,
    source: statuses.AffiliateSource,
    now: datetime,
) -> dict[str, Any]:
    status = statuses.AffiliateStatus.Approved if program.auto_approve else statuses.AffiliateStatus.Pending
    return {
        "organization_id": program.organization_id,
        "program_id": program.id,
        "email": application["email"],
        "email_normalized": emails.normalize(application["email"]),
        "full_name": application["full_name"],
        "status": status.value,
        "source": source.value,
        "recruited_by_affiliate_id": recruiter_id,
        "applied_at": now,
        "approved_at": now if program.auto_approve else None,
        "created_at": now,
    }
