"""The clicks and sales of the signed-in affiliate's links: by day and by channel tag."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from flask import Blueprint, Response, jsonify

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge import body
from api.edge.operations import array, operation
from domain.programs import daily
from models import db
from models.programs import own_numbers
from schemas.me.numbers import OwnChannelRecord, OwnDayRecord, OwnNumbersQuery, days

blueprint = Blueprint("own_numbers", __name__)

_READ = Guard(audience="affiliate", verified_email=True)
_DAY, _CHANNEL = OwnDayRecord(), OwnChannelRecord()
_MAX_CHANNELS = 200


@blueprint.get("/api/me/stats/daily")
@operation(_READ, array(_DAY), asks=OwnNumbersQuery(), may_lag="answer")
def list_own_days() -> Response:
    """Show the clicks and sales of the caller's links by day, by default of the last 30. Budget: 1 statement."""
    query, first, last = _read_query()
    account = guards.account()
    with db.any_org_work():
        parts = own_numbers.any_org_list_by_day(
            account_id=account.id, email=account.email, program_id=query["program_id"], first=first, last=last
        )
    return jsonify(_DAY.dump(daily.sum_by_day(parts, first=first, last=last), many=True))


@blueprint.get("/api/me/stats/channels")
@operation(_READ, array(_CHANNEL), asks=OwnNumbersQuery(), may_lag="answer")
def list_own_channels() -> Response:
    """Show the clicks and sales of the caller's top 200 channel tags. Budget: 1 statement."""
    query, first, last = _read_query()
    account = guards.account()
    with db.any_org_work():
        parts = own_numbers.any_org_list_by_channel(
            account_id=account.id,
            email=account.email,
            program_id=query["program_id"],
            since=_start_of_day(first),
            until=_start_of_day(last) + timedelta(days=1),
        )
    return jsonify(_CHANNEL.dump(daily.sum_by_channel(parts, limit=_MAX_CHANNELS), many=True))


def _read_query() -> tuple[dict[str, Any], date, date]:
    query = dict[str, Any](body.query())
    first, last = days(query, today=clock.now().date())
    return query, first, last


def _start_of_day(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
