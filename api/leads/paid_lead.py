"""Leads that a campaign pays for, from people who filled in a form. Limited preview: 404 until enabled for a brand.

Source: core spec, "Click and lead fraud review" (paid lead).
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from flask import Blueprint, Response, request
from marshmallow import ValidationError

from adapters import clock
from adapters.clicks import visitors
from adapters.fraud import human_check
from api.access.guards import Guard
from api.edge import body, idempotency
from api.edge.operations import object_of, operation
from domain.clicks import raw_click
from domain.fraud import Verdict
from domain.refusals import Refused
from models import db
from models.clicks.public_links import Link
from pipelines.clicks import public_links
from pipelines.clicks.public_links import SlugAddress
from pipelines.leads import paid_leads
from pipelines.leads.paid_leads import FormVisit, LeadCase
from schemas.leads.paid_lead import PaidLeadAnswer, PaidLeadBody

blueprint = Blueprint("paid_lead", __name__)

_PUBLIC = Guard(audience="public", bucket="anonymous_tracking", open_cors=True)
_ANSWER = PaidLeadAnswer()

#: The refusals of a lead.
REFUSALS = (
    "404 not_found",
    "400 human_verification_failed",
    "409 campaign_budget_reached",
    "503 human_check_not_configured",
    "503 human_check_unavailable",
    "503 fraud_scoring_unavailable",
)


@blueprint.post("/api/v1/lead")
@operation(_PUBLIC, object_of(_ANSWER), takes=PaidLeadBody(), refuses=REFUSALS)
def create_paid_lead() -> Response:
    """Record a lead from a form. 200 with the same response, whether it is new, known or held back for a review."""
    try:
        posted = body.load()
    except ValidationError:
        _refuse_closed()
        raise
    return take(open_link(posted["slug"], posted["program_id"]), posted)


def _refuse_closed() -> None:
    """Refuse a malformed lead with 404 where a valid one would be: the form does not exist without the preview."""
    slug = (body.json_object() or {}).get("slug")
    if isinstance(slug, str):
        open_link(slug, None)


def open_link(slug: str, program: str | UUID | None) -> Link:
    """Return the link of a slug that takes paid leads; `program` is an id or a slug. Raises Refused 404."""
    with db.any_org_work():
        link = public_links.find(SlugAddress(slug, str(program) if program else None))
    if link is None:
        raise paid_leads.not_open_refusal()
    with db.unit_of_work(link.organization_id):
        paid_leads.check_open(link)
    return link


def not_configured() -> Refused:
    """Return the refusal for an installation without human verification."""
    message = "Human verification is not set up yet. The operator must set HUMAN_CHECK_URL and HUMAN_CHECK_SECRET."
    return Refused(503, "human_check_not_configured", message)


def take(link: Link, posted: Mapping[str, Any]) -> Response:
    """Record a lead of a link; `posted` is a loaded `PaidLeadBody`. Raises Refused 400, 409 and 503.

    No external server is called inside a transaction.
    """
    _check_human(link, posted)
    now = clock.now()
    with db.unit_of_work(link.organization_id):
        case = paid_leads.prepare(link=link, lead=posted, visit=_visit(), now=now)
    verdict = paid_leads.judge(case)
    return idempotency.run_once(lambda: _record(case, verdict), organization_id=link.organization_id, wakes_relay=True)


def _record(case: LeadCase, verdict: Verdict | None) -> tuple[int, Mapping[str, object]]:
    paid_leads.record(case=case, verdict=verdict, now=clock.now())
    return 200, _ANSWER.dump({})


def _check_human(link: Link, posted: Mapping[str, Any]) -> None:
    about = f"{link.program_id} {link.slug} {posted['email']}"
    try:
        is_human = human_check.verify(posted["token"], ip=request.remote_addr or "", about=about, now=clock.now())
    except human_check.NotConfigured as error:
        raise not_configured() from error
    except human_check.VerifierUnavailable as error:
        message = "Human verification is not available right now, and nothing was recorded. Please try again."
        raise Refused(503, "human_check_unavailable", message) from error
    if not is_human:
        message = "Human verification failed or expired. Please try again."
        raise Refused(400, "human_verification_failed", message, field="token")


def _visit() -> FormVisit:
    ip, agent = request.remote_addr or "", raw_click.agent_from_header(request.headers.get("User-Agent", ""))
    return FormVisit(
        ip=ip,
        agent=agent,
        languages=tuple(raw_click.languages_from_header(request.headers.get("Accept-Language", ""))),
        visitor=visitors.hash_visitor(ip, agent),
    )
