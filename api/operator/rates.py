"""Reference exchange rates: their age, and the sources of new ones. They are the same for every organization."""

from flask import Blueprint, Response, jsonify

from adapters import clock
from api.access.guards import FRESH_S, KIB, Guard
from api.edge import audit, body, idempotency
from api.edge.operations import EMPTY, array, object_of, operation
from api.operator.operator_guards import READ, WRITE
from domain.money.fx_files import BadRates
from domain.refusals import Refused
from models import db
from models.money import fx_rates
from pipelines import fx_intake
from schemas.affiliates.affiliate import Nothing
from schemas.operator.money import LoadedRatesRecord, RateAgeRecord, RateFileBody

blueprint = Blueprint("operator_rates", __name__)

_AGE = RateAgeRecord()
_LOADED = LoadedRatesRecord()
_FILE = Guard(audience="operator", scope="read_write", fresh_s=FRESH_S, max_body_bytes=5 * 1024 * KIB)


@blueprint.get("/api/operator/rates")
@operation(READ, array(_AGE))
def list_rate_ages() -> Response:
    """List the currencies in use with the age of their newest rate, oldest first, and the amounts that wait for one.

    Budget: 2 round trips, 1 while no rate is stale.
    """
    with db.any_org_work():
        ages = fx_intake.any_org_list_ages(now=clock.now())
        waiting = fx_rates.any_org_sum_unpaid([age.currency for age in ages if age.is_stale])
    return jsonify(
        [
            _AGE.dump(
                {
                    "currency": age.currency,
                    "newest": age.newest and age.newest.isoformat(),
                    "days": age.days,
                    "is_stale": age.is_stale,
                    "waiting_cents": waiting.get(age.currency, 0),
                }
            )
            for age in ages
        ]
    )


@blueprint.post("/api/operator/rates")
@operation(_FILE, object_of(_LOADED), takes=RateFileBody(), refuses=("400 bad_rates",))
def import_rates() -> Response:
    """Store the rates of a file: all of them, or none, with the invalid line.

    An existing rate is replaced; payments that used it do not change.
    """
    content = body.load()["content"].encode()
    try:
        rates = fx_intake.read(content, now=clock.now())
    except BadRates as error:
        raise Refused(400, "bad_rates", f"{error}. Nothing was stored.", field="content") from error

    def load() -> idempotency.Answer:
        loaded = fx_intake.store(rates)
        details = {
            "new": loaded.new,
            "replaced": loaded.replaced,
            "known": loaded.unchanged,
            "newest": str(loaded.newest),
            "skipped": list(loaded.skipped),
        }
        audit.record("fx_rates.loaded", "file", after=details, now=clock.now())
        return 200, details

    return idempotency.run_once_for_operator(load)


@blueprint.post("/api/operator/rates/refresh")
@operation(WRITE, EMPTY, status=202, takes=Nothing(), refuses=("409 no_feed",))
def request_rates() -> Response:
    """Request the rates of the feed now. 202: a worker does it."""
    body.load_optional()

    def request_refresh() -> idempotency.Answer:
        fx_intake.enqueue_refresh()
        audit.record("fx_rates.refresh_asked", "feed", now=clock.now())
        return 202, None

    return idempotency.run_once_for_operator(request_refresh, wakes_relay=True)
