"""The data of an affiliate for their embed token: one program of one brand, and nothing of their other programs.

Source: core spec, section 8 "Limits" (affiliate links).
"""

from collections.abc import Mapping
from datetime import datetime, timedelta

from flask import Blueprint, Response, jsonify

import settings
from adapters import clock
from api.access import guards
from api.access.embed_viewers import FrameViewer
from api.access.guards import Guard
from api.edge import audit, body, idempotency
from api.edge.operations import array, object_of, operation
from domain.organization import plans
from domain.programs import daily
from domain.programs.daily import KeyedNumbers
from domain.refusals import Refused, not_found
from domain.statuses import AffiliateStatus, LinkFormat
from models import db
from models.affiliates import affiliates, memberships, tracking_links
from models.ledger import balances
from models.organization import organizations
from models.programs import own_numbers, programs
from pipelines.affiliates import affiliate_links, management, recruitment
from pipelines.payouts import choose_account
from schemas.embed import page
from schemas.embed.page import EmbedDayRecord, EmbedDaysQuery, EmbedLinkBody, EmbedLinkRecord, EmbedMeRecord, FramedRows

blueprint = Blueprint("embed_own", __name__)

_READ = Guard(audience="embed", plan=plans.Tier.Growth, bucket="embed", closed_cors=True)
_WRITE = Guard(audience="embed", scope="read_write", plan=plans.Tier.Growth, bucket="embed", closed_cors=True)
_DAY = EmbedDayRecord()


@blueprint.get("/api/v1/embed/me")
@operation(_READ, object_of(EmbedMeRecord()), asks=EmbedDaysQuery())
def get_embedded_self() -> Mapping[str, object]:
    """Show the affiliate's terms, links and balances, and the numbers of each of the last days.

    Budget: 7 statements, one more if the program pays for recruiting.
    """
    viewer, now, number = guards.viewer(), clock.now(), body.query()["days"]
    with db.unit_of_work(viewer.organization_id):
        rows = _find_rows(viewer, number, now)
    return page.me_record(rows, base_url=settings.current().web.url)


def _find_rows(viewer: FrameViewer, number: int, now: datetime) -> FramedRows:
    organization_id, affiliate_id = viewer.organization_id, viewer.affiliate_id
    affiliate = affiliates.find(organization_id=organization_id, affiliate_id=affiliate_id)
    joined = memberships.find_of_affiliate(organization_id=organization_id, affiliate_id=affiliate_id)
    if affiliate is None or joined is None:  # deleted a moment ago
        raise Refused(401)
    money = balances.list_of_affiliates(organization_id=organization_id, affiliate_ids=[affiliate_id], now=now)
    return FramedRows(
        affiliate=affiliate,
        joined=joined,
        brand=organizations.find(organization_id),
        links=tracking_links.list_of_affiliates(organization_id=organization_id, affiliate_ids=[affiliate_id]),
        balances=money[affiliate_id],
        days=_count_days(viewer, number, now),
        recruiting_url=_recruiting_url(viewer) if joined.recruits else None,
        has_payout_account=choose_account.has_account(organization_id=organization_id, affiliate_id=affiliate_id),
    )


@blueprint.get("/api/v1/embed/me/series")
@operation(_READ, array(_DAY), asks=EmbedDaysQuery(), may_lag="answer")
def list_embedded_days() -> Response:
    """List the affiliate's numbers of each of the last days (UTC). Budget: 1 statement."""
    viewer = guards.viewer()
    with db.unit_of_work(viewer.organization_id):
        days = _count_days(viewer, body.query()["days"], clock.now())
    return jsonify(_DAY.dump(days, many=True))


@blueprint.post("/api/v1/embed/links")
@operation(
    _WRITE,
    object_of(EmbedLinkRecord()),
    status=201,
    takes=EmbedLinkBody(),
    refuses=("400 slug_reserved", "404 not_found", "409 alias_already_taken", "409 link_limit_reached"),
)
def create_embedded_link() -> Response:
    """Create a link for the affiliate, unless their program is archived. 201 with the link."""
    requested, viewer = body.load_optional(), guards.viewer()
    return idempotency.run_once(lambda: _create(viewer, requested["alias"]), organization_id=viewer.organization_id)


def _create(viewer: FrameViewer, alias: str | None) -> idempotency.Answer:
    now, organization_id = clock.now(), viewer.organization_id
    affiliate = management.lock(organization_id=organization_id, affiliate_id=viewer.affiliate_id)
    if affiliate.status != AffiliateStatus.Approved:  # a moment ago
        raise Refused(401)
    program = programs.find(organization_id=organization_id, program_id=affiliate.program_id)
    if program is None or program.archived_at is not None:
        raise not_found("program", affiliate.program_id)
    link = affiliate_links.add(affiliate=affiliate, alias=alias, format=LinkFormat.Short.value, now=now)
    (record,) = page.embed_link_records([link], base_url=settings.current().web.url)
    audit.record("tracking_link.created", link.id, after=record, now=now, organization_id=organization_id)
    return 201, record


def _count_days(viewer: FrameViewer, number: int, now: datetime) -> list[KeyedNumbers]:
    last = now.date()
    first = last - timedelta(days=number - 1)
    parts = own_numbers.list_of_affiliate_by_day(
        organization_id=viewer.organization_id, affiliate_id=viewer.affiliate_id, first=first, last=last
    )
    return daily.sum_by_day(parts, first=first, last=last)


def _recruiting_url(viewer: FrameViewer) -> str | None:
    """Return the affiliate's recruiting address; None while the brand has no portal."""
    try:
        invitation = recruitment.create_invitation(
            organization_id=viewer.organization_id, affiliate_id=viewer.affiliate_id
        )
    except Refused:
        return None
    return invitation.url
