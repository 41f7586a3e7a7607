"""Emails that tell imported affiliates where their program is now.

A thousand messages are too much for one transaction, and the import's lock blocks everyone who wants to join: a job
sends a batch and stages the next.
Source: core spec, "Affiliates" (import body: notifyAffiliates, notificationMessageHtml).
"""

from datetime import datetime
from uuid import UUID

import settings
from adapters.mail import html, template_renderer
from domain import jobs
from models.affiliates import bulk_actions
from models.imports.imports import ImportJob
from models.organization import organizations
from models.programs import programs
from pipelines import mail, work

_BATCH = 25
_FIRST = UUID(int=0)


def enqueue(job: ImportJob, *, program_id: UUID, message: str) -> None:
    """Stage the job that emails the imported affiliates; `message` (any HTML) is the brand's text, put above ours."""
    _enqueue_next(job.organization_id, program_id, job.id, brand_html=html.clean(message), after=_FIRST)


def send_next(
    *, organization_id: UUID, program_id: UUID, import_job_id: UUID, brand_html: str, after: UUID, now: datetime
) -> None:
    """Stage the emails to the next affiliates of an import, `after` one of them, and the job for the rest.

    Affiliates who are rejected, paused or banned get none.
    """
    people = bulk_actions.list_imported(
        organization_id=organization_id,
        import_job_id=import_job_id,
        statuses=("Approved", "Pending"),
        after=after,
        limit=_BATCH,
    )
    brand = organizations.find(organization_id)
    program = programs.find(organization_id=organization_id, program_id=program_id)
    assert brand is not None  # the import has looked up both
    assert program is not None
    service_text = (
        f"{brand.name} moved the affiliate program {program.name} and your account to a new platform. Sign in with this"
        f" email address to get your links: {settings.current().web.url}/sign-in"
    )
    for affiliate in people:
        mail.send(
            organization_id=organization_id,
            to=affiliate.email,
            subject=" ".join(f"{brand.name} moved your affiliate account".split()),
            text="\n\n".join(part for part in (html.to_text(brand_html), service_text) if part),
            html=template_renderer.render("imported.html", brand_html=brand_html, service_text=service_text),
            kind="affiliate.imported",
            at=now,
        )
    if len(people) == _BATCH:
        _enqueue_next(organization_id, program_id, import_job_id, brand_html=brand_html, after=people[-1].id)


def _enqueue_next(
    organization_id: UUID, program_id: UUID, import_job_id: UUID, *, brand_html: str, after: UUID
) -> None:
    work.enqueue(
        jobs.IMPORT_NOTIFY,
        organization_id=organization_id,
        program_id=program_id,
        import_job_id=import_job_id,
        said=brand_html,
        after=after,
    )
