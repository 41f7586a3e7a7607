"""Emails of every organization: sent ones, ones stored without a mail server, failed ones with the reason.

Reading the text of an email is audited, and sign-in links in it are masked.
"""

from collections.abc import Mapping

from flask import Blueprint, Response

from adapters import clock
from api.edge import audit, body, idempotency, paging, path
from api.edge.operations import EMPTY, object_of, operation, page
from api.operator.operator_guards import READ, WRITE
from domain.mail import sign_in_links
from domain.refusals import Refused
from models import db
from models.mail import MailMessage, any_org_page
from pipelines import mail
from schemas.affiliates.affiliate import Nothing
from schemas.operator.tenants import LetterRecord, MailQuery, OpenedLetterRecord

blueprint = Blueprint("operator_mail", __name__)

_LETTER = LetterRecord()
_OPENED = OpenedLetterRecord()

_COPIED_FIELDS = (
    "id",
    "organization_id",
    "kind",
    "recipient",
    "subject",
    "status",
    "attempts",
    "last_error",
    "created_at",
    "sent_at",
)


@blueprint.get("/api/operator/mail")
@operation(READ, page(_LETTER), asks=MailQuery())
def list_letters() -> Mapping[str, object]:
    """List emails, newest first. Budget: 1 round trip."""
    query = body.query()
    page_request = paging.read_page_request(query)
    with db.any_org_work():
        rows = any_org_page(organization_id=query["organization_id"], status=query["status"], **page_request.window)
    return paging.serialize_page(page_request, rows, lambda rows: [_LETTER.dump(_serialize(row)) for row in rows])


@blueprint.get("/api/operator/mail/<message_id>")
@operation(READ, object_of(_OPENED), refuses=("404 not_found", "409 cannot_open"), shows_secret=True, writes=True)
def open_letter(message_id: str) -> Mapping[str, object]:
    """Show one email with its text. The audit log records the reader. Budget: 2 round trips."""
    wanted_id = path.uuid(message_id, "email")
    with db.any_org_work():
        opened = mail.any_org_open(wanted_id)
        message = opened.message
        audit.record(
            "mail.read",
            wanted_id,
            after={"kind": message.kind},
            organization_id=message.organization_id,
            now=clock.now(),
        )
    text = None if opened.text is None else sign_in_links.mask(opened.text)
    return _OPENED.dump({**_serialize(message), "text": text})


@blueprint.post("/api/operator/mail/<message_id>/retry")
@operation(
    WRITE, EMPTY, status=202, takes=Nothing(), refuses=("404 not_found", "409 no_mail_server", "409 not_retryable")
)
def retry_letter(message_id: str) -> Response:
    """Queue a Kept or Failed email again, once there is a mail server or the cause is fixed."""
    wanted_id = path.uuid(message_id, "email")
    body.load_optional()

    def retry() -> idempotency.Answer:
        letter = mail.any_org_find(wanted_id)
        if not mail.any_org_retry([wanted_id]):
            raise Refused(
                409,
                "not_retryable",
                "This email is neither Kept nor Failed, or its text was deleted.",
            )
        details = {"message": str(wanted_id)}
        audit.record("mail.retried", wanted_id, after=details, organization_id=letter.organization_id, now=clock.now())
        return 202, None

    return idempotency.run_once_for_operator(retry, wakes_relay=True)


def _serialize(message: MailMessage) -> dict[str, object]:
    return {name: getattr(message, name) for name in _COPIED_FIELDS} | {"has_body": message.body_sealed is not None}
