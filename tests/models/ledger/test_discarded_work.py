"""The ledger check reports discarded money jobs until they are done, requested again, or accepted as lost."""

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
# Reasons why a kind of these queues is not reported by the ledger check.
_UNREPORTED = {
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


def _find_exceptions(brand):
    with db.unit_of_work(brand.id):
        return rules.find_exceptions(brand.id, limit=5)


def _losses(flask, brand):
    return flask.json("jobs", "losses", "--org", str(brand.id))


def _create_dead_letter(brand, job, args, *, organization_id):
    with db.any_org_work():
        rows.stage_dead_letter(
            job, organization_id=organization_id, args=args, fair_key=str(brand.id), error="ValueError: odd"
        )
        ((job_id,),) = db.db.run("select id from job where name = %s and failed_at is not null", (job.name,))
    return job_id


def _create_dead_sales_job(pair, brand, drain, job):
    conversion_id = pair.sell(externalEventId="order-a", amountCents=10_000)
    if job == jobs.OVERRIDE_WRITE:
        pair.settle(conversion_id)
    if job == jobs.REFUND_CASCADE:
        drain()
        brand.refund("order-a", 5_000)
    pair.change(f"update job set failed_at = now() where name = '{job.name}' returning 1")
    ((job_id,),) = brand.rows("select id from job where name = %s and failed_at is not null", job.name)
    return job_id


def _create_event(brand):
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


def _create_dead_letter_of(pair, brand, drain, job):
    """Return the id of a dead letter of a kind and the text that the check must contain."""
    if job.queue in ("sales", "refunds"):
        return _create_dead_sales_job(pair, brand, drain, job), "order-a"
    own = brand.id
    if job == jobs.GATEWAY_EVENT:
        return _create_dead_letter(brand, job, {"event_id": str(_create_event(brand))}, organization_id=own), "evt_a"
    if job == jobs.LEAD_CAPTURE:
        brand.affiliate(slug_of(brand))
        assert post_browser_lead(brand).status_code in (200, 202, 204)
        with db.any_org_work():
            ((job_id,),) = db.db.run("update job set failed_at = now() where name = 'lead.capture' returning id")
        return job_id, "lead.capture of job "
    if job == jobs.LEAD_RECORD:
        args = {"sealed": "secret", "affiliate_id": str(pair.ben)}
        return _create_dead_letter(brand, job, args, organization_id=own), "lead.record of job "
    brand.rows("update program set click_reward_cents = 5, click_reward_currency = 'USD' where true returning 1")
    if job == jobs.CLICKS_RESCORE:
        click_id = str(uuid4())
        brand.rows(
            "insert into click (id, organization_id, program_id, affiliate_id, slug, occurred_at, outcome)"
            " values (%s, %s, %s, %s, 'ben', now(), 'unscored') returning 1",
            *(click_id, brand.id, brand.programs[-1], pair.ben),
        )
        args = {"clicks": orjson.dumps({click_id: {}}).decode()}
        return _create_dead_letter(brand, job, args, organization_id=own), "clicks.rescore of job "
    return _create_dead_letter(brand, job, {"entry": "{}"}, organization_id=own), f"{job.name} of job "


@pytest.fixture
def pair(brand):
    return Recruits.create(brand)


@pytest.fixture(params=_TRACED, ids=lambda job: job.name)
def dead_letter(request, pair, brand, drain):
    """Return a traced kind of job, the id of its dead letter, and the text that the check must contain."""
    return request.param, *_create_dead_letter_of(pair, brand, drain, request.param)


def test_discarded_work_is_reported_until_its_loss_is_accepted(dead_letter, brand, rival, flask):
    job, job_id, expected = dead_letter
    before = _find_exceptions(brand)

    flask.json("jobs", "discard", str(job_id), "--why", "by mistake")
    ((rule, exception),) = _find_exceptions(brand)
    (loss,) = _losses(flask, brand)
    acceptance = flask.json("jobs", "accept-loss", str(job_id), "--why", "a test shop")

    assert before == []
    assert rule == losses.loss_of(job.name).rule
    assert expected in exception
    assert (loss["id"], loss["leaves"]["kind"]) == (job_id, job.name)
    assert acceptance == {"accepted": [loss]}
    assert _find_exceptions(brand) == _find_exceptions(rival) == []
    assert _losses(flask, brand) == []
    ((_, _, audited_id, after),) = list_audit_entries("job.loss_accepted", job_id)
    assert (audited_id, after["why"], after["leaves"]) == (brand.id, "a test shop", loss["leaves"])


def test_visitor_data_is_not_stored_with_a_discard(dead_letter, brand, flask):
    _, job_id, _ = dead_letter

    flask.json("jobs", "discard", str(job_id), "--why", "by mistake")

    ((args,),) = brand.rows("select args from discarded_job")
    assert set(args) <= {"sale_id", "conversion_id", "recruiter_id", "percent", "event_id"} | {
        *("at", "affiliate_id", "program_id", "clicks")
    }


def test_every_money_job_has_a_rule_or_a_reason():
    money_jobs = {job.name for job in jobs.ALL if job.queue in _MONEY_QUEUES}
    with_rule = {job.name for job, loss in losses.LOSSES.items() if loss.rule}

    assert money_jobs - with_rule == set(_UNREPORTED)
    assert {losses.loss_of(job.name).rule for job in _TRACED} <= set(rules.RULES)


def test_resent_sale_removes_its_accepted_loss(pair, brand, drain, flask):
    job_id = _create_dead_sales_job(pair, brand, drain, jobs.SALE_SETTLE)
    flask.json("jobs", "discard", str(job_id), "--why", "w")
    flask.json("jobs", "accept-loss", str(job_id), "--why", "w")

    brand.sale(externalEventId="order-a", amountCents=10_000)
    drain()

    assert pair.parents("amount_cents") == [(10_000,)]
    assert brand.rows("select 1 from discarded_job") == []


def test_second_discard_reopens_an_accepted_loss(pair, brand, drain, flask):
    event = _create_event(brand)
    for _ in range(2):
        job_id = _create_dead_letter(brand, jobs.GATEWAY_EVENT, {"event_id": str(event)}, organization_id=brand.id)
        flask.json("jobs", "discard", str(job_id), "--why", "w")
        assert [loss["id"] for loss in _losses(flask, brand)] == [job_id]
        assert len(_find_exceptions(brand)) == 1
        flask.json("jobs", "accept-loss", str(job_id), "--why", "w")
        assert _find_exceptions(brand) == []


def test_discarded_event_booked_later_is_no_loss(pair, brand, flask):
    event = _create_event(brand)
    job_id = _create_dead_letter(brand, jobs.GATEWAY_EVENT, {"event_id": str(event)}, organization_id=brand.id)
    flask.json("jobs", "discard", str(job_id), "--why", "w")

    brand.rows("update gateway_event set status = 'Processed' where id = %s returning 1", event)

    assert _find_exceptions(brand) == []
    assert flask("jobs", "accept-loss", str(job_id), "--why", "w")[0] == 1


def test_unknown_loss_refuses_all_and_accepts_none(pair, brand, drain, flask):
    job_id = _create_dead_sales_job(pair, brand, drain, jobs.SALE_SETTLE)
    flask.json("jobs", "discard", str(job_id), "--why", "w")

    code, output = flask("jobs", "accept-loss", str(job_id), "999999999", "--why", "w")

    assert (code, "999999999" in output) == (1, True)
    assert len(_losses(flask, brand)) == 1
    assert flask("jobs", "accept-loss", str(job_id))[0] == 2
    assert flask.json("jobs", "accept-loss", str(job_id), "--dry-run")["would_accept"][0]["id"] == job_id
    assert len(_losses(flask, brand)) == 1


@pytest.mark.parametrize("job", jobs.ALL, ids=lambda job: job.name)
@pytest.mark.parametrize("value", ["a-sale", "00000000-0000-0000-0000-000000000000"])
def test_job_with_unknown_ids_can_be_discarded(brand, flask, job, value):
    names = ("sale_id", "conversion_id", "event_id", "lookup_id", "payout_id", "delivery_id", "milestone_id", "sealed")
    job_id = _create_dead_letter(brand, job, dict.fromkeys(names, value) | {"percent": "10"}, organization_id=brand.id)

    flask.json("jobs", "discard", str(job_id), "--why", "nonsense")

    assert brand.rows("select 1 from job where id = %s", job_id) == []
