"""Tells imported affiliates where their campaign is run from now on.

A thousand messages of some length are too much for one transaction, and the import holds off everybody who wants to
join: a job writes to some of them and asks for the next.
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

_AT_ONCE = 25
_NOBODY = UUID(int=0)


def ask(job: ImportJob, *, program_id: UUID, message: str) -> None:
    """Stage the job that writes to those whom an import brings, with what the brand wrote (HTML, any) above ours."""
    _stage(job.organization_id, program_id, job.id, said=html.clean(message), after=_NOBODY)


def write(
    *, organization_id: UUID, program_id: UUID, import_job_id: UUID, said: str, after: UUID, now: datetime
) -> None:
    """Stage the messages to the next affiliates of an import, after one of them, and the job for those who follow.

    Who was turned down, paused or banned, there or here, is not written to.
    """
    people = bulk_actions.list_imported(
        organization_id=organization_id,
        import_job_id=import_job_id,
        statuses=("Approved", "Pending"),
        after=after,
        limit=_AT_ONCE,
    )
    brand = organizations.find(organization_id)
    program = programs.find(organization_id=organization_id, program_id=program_id)
    assert brand is not None  # the import has looked up both
    assert program is not None
    ours = (
        f"{brand.name} moved the affiliate program {program.name} to a new home, and you with it. "
        f"Sign in with this address: {settings.current().web.url}"
    )
    for one in people:
        mail.send(
            organization_id=organization_id,
            to=one.email,
            subject=" ".join(f"Your affiliate account at {brand.name}".split()),
            text="\n\n".join(part for part in (html.to_text(said), ours) if part),
            html=template_renderer.render("imported.html", said=said, ours=ours),
            kind="affiliate.imported",
            at=now,
        )
    if len(people) == _AT_ONCE:
        _stage(organization_id, program_id, import_job_id, said=said, after=people[-1].id)


def _stage(organization_id: UUID, program_id: UUID, import_job_id: UUID, *, said: str, after: UUID) -> None:
    work.enqueue(
        jobs.IMPORT_NOTIFY,
        organization_id=organization_id,
        program_id=program_id,
        import_job_id=import_job_id,
        said=said,
        after=after,
    )
