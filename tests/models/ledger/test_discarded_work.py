"""The ledger check names discarded work on money until it is done, asked for again, or accepted as lost."""

from uuid import uuid4

import orjson
import pytest

from domain import jobs
from models import db
from models.jobs import losses, rows
from models.ledger import rules
from tests.support.outside.console import list_audit_entries
from tests.support.recruits import Recruits
from tests.support.rows.leads import post_browser_lead, slug_of

_TRACED = [job for job in jobs.ALL if losses.loss_of(job.name).is_traced]
_MONEY_QUEUES = ("sales", "refunds", "payouts", "gateways", "lookups", "tracking")
# Why a kind of these queues is not named by the ledger check.
_UNNAMED = {
    "gateway.check": "it is asked for again every hour",
    "web_pixel.settle": "a setting of a store",
    "coupon.make": "a promise that the coupon's own record shows",
    "coupon.delete": "a promise that the coupon's own record shows",
    "code.mint": "a promise that the code's own record shows",
    "code.switch_off": "a promise that the code's own record shows",
    "platform.lookup": "the payment is listed among the uncredited sales",
    "deals.release": "it is asked for again by the schedule",
    "deal.release": "it is asked for again by the schedule",
    "payout.cadence": "it is asked for again by the schedule",
    "payout.prepare": "it is asked for again every day",
}


def _broken(brand):
    with db.unit_of_work(brand.id):
        return rules.find_exceptions(brand.id, limit=5)


def _losses(flask, brand):
    return flask.json("jobs", "losses", "--org", str(brand.id))


def _bury(brand, job, args, *, organization_id):
    with db.any_org_work():
        rows.stage_dead_letter(
            job, organization_id=organization_id, args=args, fair_key=str(brand.id), error="ValueError: odd"
        )
        ((job_id,),) = db.db.run("select id from job where name = %s and failed_at is not null", (job.name,))
    return job_id


def _bury_sales_job(pair, brand, drain, job):
    conversion_id = pair.sell(externalEventId="order-a", amountCents=10_000)
    if job == jobs.OVERRIDE_WRITE:
        pair.settle(conversion_id)
    if job == jobs.REFUND_CASCADE:
        drain()
        brand.refund("order-a", 5_000)
    pair.change(f"update job set failed_at = now() where name = '{job.name}' returning 1")
    ((job_id,),) = brand.rows("select id from job where name = %s and failed_at is not null", job.name)
    return job_id


def _bury_event(brand):
    connection, event = uuid4(), uuid4()
    brand.rows(
        "insert into gateway_connection (id, organization_id, gateway, mode, status, account, token_hash, token_sealed,"
        " credentials_sealed, made_sealed, connected_at)"
        " values (%s, %s, 'stripe', 'live', 'Active', 'a', %s, '', '', '', now()) returning 1",
        *(connection, brand.id, uuid4().bytes),
    )
    brand.rows(
        "insert into gateway_event (id, organization_id, connection_id, event_key, gateway_event_id, type, status, raw,"
        " received_at) values (%s, %s, %s, 'evt_a', 'evt_a', 'invoice.paid', 'Received', 'x', now()) returning 1",
        *(event, brand.id, connection),
    )
    return event


def _bury_one(pair, brand, drain, job):
    """Return the id of a dead letter of a kind whose work is undone, and what the check must say of it."""
    if job.queue in ("sales", "refunds"):
        return _bury_sales_job(pair, brand, drain, job), "order-a"
    own = brand.id
    if job == jobs.GATEWAY_EVENT:
        return _bury(brand, job, {"event_id": str(_bury_event(brand))}, organization_id=own), "evt_a"
    if job == jobs.LEAD_CAPTURE:
        brand.affiliate(slug_of(brand))
        assert post_browser_lead(brand).status_code in (200, 202, 204)
        with db.any_org_work():
            ((job_id,),) = db.db.run("update job set failed_at = now() where name = 'lead.capture' returning id")
        return job_id, "lead.capture of job "
    if job == jobs.LEAD_RECORD:
        args = {"sealed": "secret", "affiliate_id": str(pair.ben)}
        return _bury(brand, job, args, organization_id=own), "lead.record of job "
    brand.rows("update program set click_reward_cents = 5, click_reward_currency = 'USD' where true returning 1")
    if job == jobs.CLICKS_RESCORE:
        click_id = str(uuid4())
        brand.rows(
            "insert into click (id, organization_id, program_id, affiliate_id, slug, occurred_at, outcome)"
            " values (%s, %s, %s, %s, 'ben', now(), 'unscored') returning 1",
            *(click_id, brand.id, brand.programs[-1], pair.ben),
        )
        args = {"clicks": orjson.dumps({click_id: {}}).decode()}
        return _bury(brand, job, args, organization_id=own), "clicks.rescore of job "
    return _bury(brand, job, {"entry": "{}"}, organization_id=own), f"{job.name} of job "


@pytest.fixture
def pair(brand):
    return Recruits.create(brand)


@pytest.fixture(params=_TRACED, ids=lambda job: job.name)
def buried(request, pair, brand, drain):
    """Return a traced kind of job, the id of a dead letter of it, and what the check must say of it."""
    return request.param, *_bury_one(pair, brand, drain, request.param)


def test_discarded_work_is_named_until_its_loss_is_accepted(buried, brand, rival, flask):
    job, job_id, named = buried
    before = _broken(brand)

    flask.json("jobs", "discard", str(job_id), "--why", "by mistake")
    ((rule, exception),) = _broken(brand)
    (listed,) = _losses(flask, brand)
    accepted = flask.json("jobs", "accept-loss", str(job_id), "--why", "a test shop")

    assert before == []
    assert rule == losses.loss_of(job.name).rule
    assert named in exception
    assert (listed["id"], listed["leaves"]["kind"]) == (job_id, job.name)
    assert accepted == {"accepted": [listed]}
    assert _broken(brand) == _broken(rival) == []
    assert _losses(flask, brand) == []
    ((_, _, where, after),) = list_audit_entries("job.loss_accepted", job_id)
    assert (where, after["why"], after["leaves"]) == (brand.id, "a test shop", listed["leaves"])


def test_what_a_visitor_sent_is_not_kept_with_a_discard(buried, brand, flask):
    _, job_id, _ = buried

    flask.json("jobs", "discard", str(job_id), "--why", "by mistake")

    ((args,),) = brand.rows("select args from discarded_job")
    assert set(args) <= {"sale_id", "conversion_id", "recruiter_id", "percent", "event_id"} | {
        *("at", "affiliate_id", "program_id", "clicks")
    }


def test_every_kind_of_money_is_named_by_a_rule_or_listed_with_a_reason():
    of_money = {job.name for job in jobs.ALL if job.queue in _MONEY_QUEUES}
    named = {job.name for job, loss in losses.LOSSES.items() if loss.rule}

    assert of_money - named == set(_UNNAMED)
    assert {losses.loss_of(job.name).rule for job in _TRACED} <= set(rules.RULES)


def test_accepted_loss_is_made_up_for_when_the_sale_is_sent_again(pair, brand, drain, flask):
    job_id = _bury_sales_job(pair, brand, drain, jobs.SALE_SETTLE)
    flask.json("jobs", "discard", str(job_id), "--why", "w")
    flask.json("jobs", "accept-loss", str(job_id), "--why", "w")

    brand.sale(externalEventId="order-a", amountCents=10_000)
    drain()

    assert pair.parents("amount_cents") == [(10_000,)]
    assert brand.rows("select 1 from discarded_job") == []


def test_accepted_loss_is_open_again_when_its_job_is_discarded_again(pair, brand, drain, flask):
    event = _bury_event(brand)
    for _ in range(2):
        job_id = _bury(brand, jobs.GATEWAY_EVENT, {"event_id": str(event)}, organization_id=brand.id)
        flask.json("jobs", "discard", str(job_id), "--why", "w")
        assert [loss["id"] for loss in _losses(flask, brand)] == [job_id]
        assert len(_broken(brand)) == 1
        flask.json("jobs", "accept-loss", str(job_id), "--why", "w")
        assert _broken(brand) == []


def test_discarded_event_that_was_booked_after_all_is_no_loss(pair, brand, flask):
    event = _bury_event(brand)
    job_id = _bury(brand, jobs.GATEWAY_EVENT, {"event_id": str(event)}, organization_id=brand.id)
    flask.json("jobs", "discard", str(job_id), "--why", "w")

    brand.rows("update gateway_event set status = 'Processed' where id = %s returning 1", event)

    assert _broken(brand) == []
    assert flask("jobs", "accept-loss", str(job_id), "--why", "w")[0] == 1


def test_unknown_loss_refuses_all_and_accepts_none(pair, brand, drain, flask):
    job_id = _bury_sales_job(pair, brand, drain, jobs.SALE_SETTLE)
    flask.json("jobs", "discard", str(job_id), "--why", "w")

    code, output = flask("jobs", "accept-loss", str(job_id), "999999999", "--why", "w")

    assert (code, "999999999" in output) == (1, True)
    assert len(_losses(flask, brand)) == 1
    assert flask("jobs", "accept-loss", str(job_id))[0] == 2
    assert flask.json("jobs", "accept-loss", str(job_id), "--dry-run")["would_accept"][0]["id"] == job_id
    assert len(_losses(flask, brand)) == 1


@pytest.mark.parametrize("job", jobs.ALL, ids=lambda job: job.name)
@pytest.mark.parametrize("value", ["a-sale", "00000000-0000-0000-0000-000000000000"])
def test_job_about_nothing_known_can_be_discarded(brand, flask, job, value):
    names = ("sale_id", "conversion_id", "event_id", "lookup_id", "payout_id", "delivery_id", "milestone_id", "sealed")
    job_id = _bury(brand, job, dict.fromkeys(names, value) | {"percent": "10"}, organization_id=brand.id)

    flask.json("jobs", "discard", str(job_id), "--why", "nonsense")

    assert brand.rows("select 1 from job where id = %s", job_id) == []
