"""The `mail` queue: one attempt of one message, or the wait for its slot; emails with links; notifications."""

from uuid import UUID

from adapters import clock
from adapters.mail.smtp import MailUnreachable
from domain import jobs
from models import db
from models.jobs.rows import ClaimedJob
from pipelines import mail
from pipelines.notifications import emails, notices, sale_notices
from pipelines.organization import sign_in_emails
from pipelines.storefront import second_step
from workers.actor import database_job, register_calling_job

_PACED = "emails are sent at the pace of MAIL_PER_MINUTE"


def _send(prepared: mail.PreparedMail) -> mail.MailOutcome:
    try:
        return mail.deliver(prepared)
    except MailUnreachable as error:
        # The failed job is rolled back; the reason is recorded in a transaction of its own, for operators.
        with db.unit_of_work(prepared.message.organization_id):
            mail.record_error(prepared, error)
        raise


register_calling_job(
    jobs.MAIL_SEND,
    prepare=lambda job: mail.prepare(organization_id=job.tenant, message_id=UUID(job.args["message_id"])),
    call=_send,
    record=lambda prepared, outcome: mail.record(prepared, outcome, now=clock.now()),
    why=lambda prepared, outcome: _PACED,
)


@database_job(jobs.SIGN_IN_LETTER)
def send_sign_in_email(job: ClaimedJob) -> None:
    """Email a sign-in link to an address, if it is an affiliate's."""
    sign_in_emails.any_org_send(sealed=job.args["sealed"], now=clock.now())


@database_job(jobs.APPLICATION_LETTER)
def send_application_email(job: ClaimedJob) -> None:
    """Email an applicant the link to the remaining questions, if they have not answered them."""
    affiliate_id = UUID(job.args["affiliate_id"])
    second_step.email_applicant(organization_id=job.tenant, affiliate_id=affiliate_id, now=clock.now())


@database_job(jobs.NOTIFICATION_SALE)
def check_sale(job: ClaimedJob) -> None:
    """Notify the brand's people of a sale that is the first or a large one."""
    conversion_id = UUID(job.args["conversion_id"])
    sale_notices.check(organization_id=job.tenant, conversion_id=conversion_id, now=clock.now())


@database_job(jobs.NOTIFICATION_ADD)
def add_event(job: ClaimedJob) -> None:
    """Write an event into the notifications of an organization."""
    notices.add(notices.event_from_args(job.tenant, job.args), now=clock.now())


@database_job(jobs.NOTIFICATION_EMAIL)
def send_notification(job: ClaimedJob) -> None:
    """Stage the emails of a notification."""
    notification_id = UUID(job.args["notification_id"])
    emails.send(organization_id=job.tenant, notification_id=notification_id, now=clock.now())
