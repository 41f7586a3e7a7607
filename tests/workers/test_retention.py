"""What grows with traffic ends: what is counted, dropped and forgotten, what never is, and what nobody waits for."""

import os
import re
from datetime import timedelta
from uuid import UUID

import peewee
import pytest

import settings
from adapters import sealing
from adapters.fraud import human_check
from domain import jobs
from models import db
from models.ledger import check
from models.upkeep import expiry
from pipelines import retention, upkeep, work
from pipelines.imports import undo
from tests.support.api.auditing import enter
from tests.support.api.racing import at_once, begun
from tests.support.rows import leads, paid_leads
from tests.support.rows.fraud_rows import flagged
from tests.support.rows.program_rows import NOW, ago, click, conversion
from workers import scheduler

_HASH = r"hash:[0-9a-f]{32}"


@pytest.fixture
def ben(brand):
    """The affiliate of the brand's one campaign."""
    brand.program()
    return brand.affiliate("ben")


@pytest.fixture
def in_tens(monkeypatch):
    """Slices of ten rows."""
    monkeypatch.setattr(retention, "SLICE", 10)


def _end(*kinds: str) -> dict[str, int]:
    ended = {}
    for kind in kinds:
        ended[kind] = 0
        while True:
            with db.any_org_work():
                of_slice = retention.any_org_slice(kind, now=NOW)
            ended[kind] += of_slice
            if of_slice < retention.SLICE:
                break
    return ended


def _count(brand, table, condition="true"):
    return brand.rows(f"select count(*) from {table} where organization_id = %s and {condition}", brand.id)[0][0]


def _change(brand, sql, *params):
    with db.unit_of_work(brand.id):
        db.db.stage(sql, params)


def _old_clicks(brand, affiliate_id, number, *, days=100):
    _change(
        brand,
        "insert into click (id, organization_id, program_id, affiliate_id, slug, occurred_at)"
        " select gen_random_uuid(), %s, %s, %s, 'ben', now() - %s * interval '1 day' - n * interval '1 s'"
        " from generate_series(1, %s) n",
        brand.id,
        brand.programs[-1],
        affiliate_id,
        days,
        number,
    )


def _event(brand, kind="conversion.created", *, days=100, body="{}"):
    event_id = brand.rows("select gen_random_uuid()")[0][0]
    _change(
        brand,
        "insert into event (id, organization_id, type, body, created_at) values (%s, %s, %s, %s, %s)",
        event_id,
        brand.id,
        kind,
        body,
        ago(days=days),
    )
    return event_id


# --- clicks


def test_old_clicks_become_counts_and_every_number_stays(brand, ben):
    paying = conversion(brand, ben, type="ClickReward", source="cpc", occurred_at=ago(days=99))
    last = ago(days=95)
    for columns in (
        {"occurred_at": last},
        {"occurred_at": ago(days=95, seconds=1)},
        {"occurred_at": ago(days=96), "is_duplicate": True, "outcome": "duplicate"},
        {"occurred_at": ago(days=97), "sub_id": "mail"},
        {"occurred_at": ago(days=98), "outcome": "earned", "conversion_id": paying},
    ):
        click(brand, ben, **columns)
    paths = [f"/api/v1/programs/{brand.programs[-1]}/tracking-status", "/api/v1/programs/stats"]
    before = [brand.get(path).json for path in paths]

    _end("clicks")

    assert _count(brand, "click") == 0
    assert brand.rows("select sum(number)::int, max(last_at) from click_hour") == [(5, last)]
    assert brand.rows("select sum(number)::int from click_hour where is_duplicate") == [(1,)]
    assert brand.rows("select sub_id, number from click_hour where sub_id is not null") == [("mail", 1)]
    assert brand.rows("select conversion_id from click_hour where conversion_id is not null") == [(paying,)]
    assert [brand.get(path).json for path in paths] == before
    assert before[0]["lastClickAt"] is not None


def test_clicks_of_ninety_days_stay_one_by_one(brand, ben):
    for days in (1, 40, 89):
        click(brand, ben, occurred_at=ago(days=days), visitor_hash=b"v")

    _end("clicks")

    assert (_count(brand, "click"), _count(brand, "click_hour")) == (3, 0)


def test_a_click_that_waits_for_its_score_stays(brand, ben):
    click(brand, ben, occurred_at=ago(days=100), outcome="unscored")

    _end("clicks")

    assert _count(brand, "click", "outcome = 'unscored'") == 1


def test_clicks_of_one_hour_are_one_count_however_many_slices_they_ended_in(brand, ben, in_tens):
    at = ago(days=100).replace(minute=0, second=0, microsecond=0)
    for second in range(25):
        click(brand, ben, occurred_at=at + timedelta(seconds=second))

    _end("clicks")

    assert brand.rows("select number, last_at from click_hour") == [(25, at + timedelta(seconds=24))]


def test_a_held_clicks_conversion_stays_known_to_the_fraud_summary(brand):
    brand.program(click_reward_cents=10)
    ben = brand.affiliate("paid")
    released = conversion(brand, ben, type="ClickReward", source="cpc", occurred_at=ago(days=100))
    click_id = click(brand, ben, occurred_at=ago(days=100), outcome="held", conversion_id=released)
    flagged(brand, ben, subject_id=click_id, action="held", at=ago(days=100))
    path = f"/api/v1/fraud-events/summary?programId={brand.programs[-1]}&days=365"
    before = brand.get(path).json

    _end("clicks")

    assert _count(brand, "click") == 0
    assert before["estimatedNotBilledCents"] == 0
    assert brand.get(path).json == before
    assert brand.rows("select conversion_id from fraud_event") == [(released,)]


def test_an_affiliate_who_once_had_a_click_is_not_taken_back_with_an_import(brand, ben):
    (import_id,) = brand.rows(
        "insert into import_job (id, organization_id, kind, status, total, imported, skipped, errored, reasons,"
        " created_at) values (gen_random_uuid(), %s, 'Affiliates', 'Completed', 1, 1, 0, 0, '{}', now()) returning id",
        brand.id,
    )[0]
    _change(brand, "update affiliate set import_job_id = %s where id = %s", import_id, ben)
    click(brand, ben, occurred_at=ago(days=100))

    _end("clicks")

    with db.unit_of_work(brand.id):
        undone = undo.run(organization_id=brand.id, import_id=UUID(str(import_id)), now=NOW)
    assert (undone.removed, undone.kept) == (0, 1)


# --- slices


def test_no_transaction_ends_more_rows_than_a_slice(brand, ben, in_tens):
    _old_clicks(brand, ben, 35)
    trips = []
    db.db.trip_hooks.append(trips.append)
    try:
        ended = _end("clicks")
    finally:
        db.db.trip_hooks.remove(trips.append)

    assert ended["clicks"] >= 35
    assert sum(b"limit 10" in trip for trip in trips) == ended["clicks"] // 10 + 1
    assert sum(trip.rstrip().endswith(b"commit") for trip in trips) == ended["clicks"] // 10 + 1


def test_a_run_goes_on_slice_by_slice_as_jobs_until_it_is_done(brand, ben, in_tens, drain):
    _end(*retention.kinds())
    _old_clicks(brand, ben, 35)

    with db.any_org_work():
        retention.any_org_start(now=NOW)
    waiting = _jobs_waiting()
    ran = drain("upkeep")

    assert waiting == len(retention.kinds())
    assert ran == waiting + 3
    with db.any_org_work():
        run = expiry.runs()["clicks"]
    assert (run.ended, run.finished_at is not None) == (35, True)
    assert _count(brand, "click") == 0


def test_a_run_is_not_begun_beside_itself(brand, drain):
    for _ in range(2):
        with db.any_org_work():
            retention.any_org_start(now=NOW)

    assert _jobs_waiting() == len(retention.kinds())


def _jobs_waiting():
    with db.any_org_work():
        return db.db.row("select count(*) from job where name = %s", (jobs.RETENTION_SLICE.name,))[0]


def test_the_schedule_begins_it(app):
    assert jobs.RETENTION in {entry.job for entry in scheduler.SCHEDULE}


def test_what_somebody_is_at_work_on_is_passed_over_and_ends_the_next_time(brand, ben):
    held = click(brand, ben, occurred_at=ago(days=100))
    click(brand, ben, occurred_at=ago(days=101))

    with db.unit_of_work(brand.id):
        db.db.run("select from click where id = %s for update", (held,))
        begun(lambda: _end("clicks"), for_s=10)()
        while_held = db.db.row("select count(*) from click")
    _end("clicks")

    assert while_held == (1,)
    assert _count(brand, "click") == 0


@pytest.mark.parametrize("name", expiry.KINDS)
def test_a_slice_is_read_off_an_index_in_its_order(app, name):
    kind = expiry.KINDS[name]
    params = {"limit": 10, "before": NOW, "queues": ["mail"]}

    with db.any_org_work():
        expiry._stage_in_order()
        lines = db.db.run(f"explain select from {expiry._rows(kind, over=True)} limit 10", params)

    plan = "\n".join(line for (line,) in lines)
    assert "Seq Scan" not in plan, plan
    assert "Sort" not in plan, plan


def test_several_who_end_the_same_clicks_count_each_once(brand, ben, in_tens):
    _old_clicks(brand, ben, 60)

    at_once(*[lambda: _end("clicks")] * 3)
    _end("clicks")

    assert _count(brand, "click") == 0
    assert brand.rows("select sum(number)::int from click_hour") == [(60,)]


def test_clicks_are_written_while_a_slice_is_open(brand, ben):
    _old_clicks(brand, ben, 50)

    with db.any_org_work():
        retention.any_org_slice("clicks", now=NOW)
        begun(lambda: click(brand, ben), for_s=10)()

    assert _count(brand, "click") == 1


def test_what_is_kept_for_ever_never_ends(brand, ben, kept):
    kept(clicks=0)
    _old_clicks(brand, ben, 3, days=4000)

    _end("clicks")
    with db.any_org_work():
        retention.any_org_start(now=NOW)

    assert _count(brand, "click") == 3
    assert _jobs_waiting() == len(retention.kinds()) - 1


# --- events and deliveries


@pytest.fixture
def endpoint(brand):
    return brand.endpoint("https://localhost/hook")["id"]


def _delivery(brand, endpoint, event_id, status="Delivered", *, days=100, settled_days=None):
    (delivery_id,) = brand.rows(
        "insert into delivery (id, organization_id, event_id, endpoint_id, event_type, status, created_at, settled_at)"
        " values (gen_random_uuid(), %s, %s, %s, 'conversion.created', %s, %s, %s) returning id",
        brand.id,
        event_id,
        endpoint,
        status,
        ago(days=days),
        None if status == "Pending" else ago(days=settled_days or days),
    )[0]
    return delivery_id


def test_settled_deliveries_end_and_their_events_with_them(brand, ben, endpoint):
    for status in ("Delivered", "Failed"):
        _delivery(brand, endpoint, _event(brand), status)
    old = _delivery(brand, endpoint, _event(brand), "Failed")

    _end("deliveries", "events")

    assert (_count(brand, "delivery"), _count(brand, "event")) == (0, 0)
    assert brand.post(f"/api/v1/webhooks/{endpoint}/deliveries/{old}/redeliver").status_code == 404


def test_what_is_pending_or_was_sent_again_lately_stays_with_its_event(brand, ben, endpoint):
    _delivery(brand, endpoint, _event(brand), "Pending")
    _delivery(brand, endpoint, _event(brand), "Delivered", settled_days=1)
    _delivery(brand, endpoint, _event(brand, days=10), "Delivered", days=10)

    _end("deliveries", "events")

    assert (_count(brand, "delivery"), _count(brand, "event")) == (3, 3)


def test_an_event_that_nobody_was_told_of_ends(brand, ben):
    _event(brand)
    _event(brand, days=10)

    _end("events")

    assert _count(brand, "event") == 1


def test_the_ledger_adds_up_when_the_event_is_gone_that_said_that_nothing_was_owed(brand, ben):
    born = conversion(brand, ben, status="Invalidated", payout_locked=False)
    _event(brand, body=f'{{"data": {{"conversionId": "{born}", "status": "Invalidated"}}}}')
    rule = "the ledger earned what the conversion says"

    with db.any_org_work():
        before = {name for name, _ in check.broken(brand.id, limit=5)}
    _end("events")
    with db.any_org_work():
        after = {name for name, _ in check.broken(brand.id, limit=5)}

    assert _count(brand, "event") == 0
    assert rule not in before
    assert after == before


# --- dead letters


def _letter(brand, queue, *, days, name="webhook.deliver"):
    _change(
        brand,
        "insert into job (organization_id, queue, name, args, fair_key, attempt, max_attempts, failed_at)"
        " values (%s, %s, %s, '{}', 'x', 1, 1, %s)",
        brand.id,
        queue,
        name,
        ago(days=days),
    )


def test_dead_letters_that_nobody_touched_end_except_where_they_are_money(brand):
    for queue in jobs.QUEUES:
        _letter(brand, queue, days=100)
        _letter(brand, queue, days=10)

    _end("dead_letters")

    old = brand.rows("select queue from job where failed_at < %s order by 1", ago(days=50))
    assert [queue for (queue,) in old] == ["payouts", "refunds", "sales"]
    assert _count(brand, "job", "failed_at > now() - interval '50 days'") == len(jobs.QUEUES)


def test_dead_letters_of_clicks_that_may_be_paid_do_not_end(brand):
    names = [job.name for job in (jobs.CLICK_LATE, jobs.CLICK_UNREADABLE, jobs.CLICKS_RESCORE)]
    for name in (*names, jobs.LEAD_CAPTURE.name):
        _letter(brand, "tracking", days=100, name=name)

    _end("dead_letters")

    assert [name for (name,) in brand.rows("select name from job where failed_at is not null order by 1")] == names


# --- people


@pytest.fixture
def expired(brand, ben):
    """A lead that expired 40 days ago."""
    answer = leads.signed(brand, email="Ada@Example.com", name="Ada")
    assert answer.status_code == 200, answer.json
    _expire(brand, days=40)
    return brand


def _expire(brand, *, days, state="Expired"):
    _change(brand, "update lead set state = %s, expires_at = %s", state, ago(days=days))


def _person(brand):
    return brand.rows(
        "select l.email, l.email_normalized, l.name, c.customer_email, c.customer_name, c.customer_avatar_url"
        " from lead l join conversion c on c.id = l.id"
    )[0]


def test_who_a_lead_was_is_forgotten_a_while_after_it_expired(expired):
    ((before_id, before_event),) = expired.rows("select id, event_id from lead")

    _end("leads")

    email, normalized, *rest = _person(expired)
    assert (email, rest) == ("", [None] * 4)
    assert re.fullmatch(_HASH, normalized)
    assert expired.rows("select id, event_id, state from lead") == [(before_id, before_event, "Expired")]
    assert _end("leads")["leads"] == 0, "and once"


@pytest.mark.parametrize(("state", "days"), [("Expired", 29), ("Open", 40), ("Invalidated", 40)])
def test_a_lead_that_may_still_matter_is_not_forgotten(expired, state, days):
    _expire(expired, days=days, state=state)

    _end("leads")

    assert _person(expired)[0] == "Ada@Example.com"


def test_a_lead_is_not_forgotten_while_a_sale_of_its_brand_waits_among_the_dead_letters(expired):
    _letter(expired, "sales", days=1, name="sale.settle")

    _end("leads")

    assert _person(expired)[0] == "Ada@Example.com"


def test_nobody_is_paid_twice_for_a_person_who_is_forgotten(brand, drain):
    with paid_leads.verified_by(URL="local"):
        slug, person = paid_leads.campaign(brand), paid_leads.person()
        paid_leads.send(brand, slug, email=person)
        drain()
        _expire(brand, days=40)
        _end("leads")
        paid_leads.send(brand, slug, email=person.upper())
        drain()

    assert len(paid_leads.rows(brand)) == 1


def test_a_new_secret_key_does_not_pay_for_them_again_while_the_former_one_is_listed(brand, drain, monkeypatch):
    with paid_leads.verified_by(URL="local"):
        slug, person = paid_leads.campaign(brand), paid_leads.person()
        paid_leads.send(brand, slug, email=person)
        drain()
        _expire(brand, days=40)
        _end("leads")
        former = os.environ["SECRET_KEY"]
        with monkeypatch.context() as changed:
            changed.setenv("SECRET_KEY", "another key that is long enough too")
            changed.setenv("SECRET_KEY_PREVIOUS", former)
            settings.current.cache_clear()
            sealing.forget_cached()
            human_check.forget_cached()
            paid_leads.send(brand, slug, email=person)
            drain()
        settings.current.cache_clear()
        sealing.forget_cached()

    assert len(paid_leads.rows(brand)) == 1


# --- the audit log


@pytest.fixture
def old_entry(brand):
    """An entry of 100 days ago from 203.0.113.7."""
    enter(brand, at=ago(days=100))
    return brand


def _ips(brand):
    return [ip for (ip,) in brand.rows("select ip from audit_entry order by created_at")]


def test_an_old_address_becomes_a_hash_and_is_still_found_by_whoever_knows_it(old_entry):
    enter(old_entry, at=ago(days=80))
    before = old_entry.rows("select to_jsonb(e) - 'ip' from audit_entry e order by created_at")

    _end("audit_addresses")

    hashed, kept = _ips(old_entry)
    assert re.fullmatch(_HASH, hashed)
    assert kept == "203.0.113.7"
    assert old_entry.rows("select to_jsonb(e) - 'ip' from audit_entry e order by created_at") == before
    owner = old_entry.person("Owner")
    assert owner.get("/api/v1/audit-log?ip=203.0.113.7").json["total"] == 2
    assert owner.get("/api/v1/audit-log?ip=203.0.113.8").json["total"] == 0


@pytest.mark.parametrize(
    "change",
    [
        "ip = null",
        "ip = '203.0.113.8'",
        "ip = 'hash:short'",
        "ip = 'hash:' || md5('x'), action = 'x'",
        "ip = 'hash:' || md5('x'), actor_user_id = null",
        "ip = 'hash:' || md5('x'), created_at = now()",
        "ip = 'hash:' || md5('x'), before = null",
        "ip = 'hash:' || md5('x'), organization_id = null",
        "user_agent = null",
        "action = action",
    ],
)
def test_nothing_else_of_an_audit_entry_can_be_changed(old_entry, change):
    with pytest.raises(peewee.PeeweeException, match="append-only"), db.any_org_work():
        db.db.run(f"update audit_entry set {change} where organization_id = %s", (old_entry.id,))

    assert _ips(old_entry) == ["203.0.113.7"]


@pytest.mark.parametrize("statement", ["update audit_entry set ip = 'hash:' || md5('x')", "delete from audit_entry"])
def test_a_young_entry_changes_not_at_all(brand, statement):
    enter(brand, at=ago(days=29))

    with pytest.raises(peewee.PeeweeException, match="append-only"), db.unit_of_work(brand.id):
        db.db.run(statement)


def test_a_hash_is_no_address_to_be_hashed_again(old_entry):
    _end("audit_addresses")

    with pytest.raises(peewee.PeeweeException, match="append-only"), db.unit_of_work(old_entry.id):
        db.db.run("update audit_entry set ip = 'hash:' || md5('x')")


def test_the_old_entry_itself_is_never_deleted(old_entry):
    with pytest.raises(peewee.PeeweeException, match="append-only"), db.unit_of_work(old_entry.id):
        db.db.run("delete from audit_entry")


# --- what was forgotten before


def test_answers_that_are_kept_for_an_hour_are_dropped_in_portions(brand, drain, monkeypatch):
    monkeypatch.setattr(upkeep, "_AT_ONCE", 10)
    _change(
        brand,
        "insert into stored_answer (organization_id, scope, key, request_hash, created_at) select %s, 's', n::text,"
        " 'x', now() - interval '2 hours' from generate_series(1, 25) n",
        brand.id,
    )
    _change(brand, "update stored_answer set created_at = now() where key = '7'")

    with db.any_org_work():
        work.enqueue(jobs.FORGET, organization_id=None)
    ran = drain("upkeep")

    assert ran == 3
    assert brand.rows("select key from stored_answer") == [("7",)]


# --- the rest


def test_mail_invites_rail_events_and_fraud_events_end(brand, ben):
    flagged(brand, ben, at=ago(days=366))
    flagged(brand, ben, at=ago(days=364))
    for status, days in (("Sent", 91), ("Failed", 91), ("Sent", 89), ("Queued", 91)):
        _change(
            brand,
            "insert into mail_message (id, organization_id, kind, recipient, subject, status, body_sealed, created_at,"
            " sent_at) values (gen_random_uuid(), %s, 'x', 'a@example.com', 's', %s, %s, %s, %s)",
            brand.id,
            status,
            b"x" if status == "Queued" else None,
            ago(days=days),
            NOW if status == "Sent" else None,
        )
    for state, days in (("Expired", 91), ("Revoked", 91), ("Expired", 89), ("Pending", 91)):
        _change(
            brand,
            "insert into affiliate_invite (id, organization_id, program_id, email, auto_approve, state, token_hash,"
            " expires_at, created_at) values (gen_random_uuid(), %s, %s, %s, false, %s, sha256(%s), %s, %s)",
            brand.id,
            brand.programs[-1],
            f"{state}{days}@example.com",
            state,
            f"{brand.id}{state}{days}".encode(),
            ago(days=days),
            ago(days=days),
        )
    ended = _end("fraud_events", "mail", "invites", "rail_events")

    assert min(ended[kind] for kind in ("fraud_events", "mail", "invites")) >= 1
    assert _count(brand, "fraud_event") == 1
    assert brand.rows("select status from mail_message where kind = 'x' order by 1") == [("Queued",), ("Sent",)]
    assert brand.rows("select state from affiliate_invite order by 1") == [("Expired",), ("Pending",)]


def test_what_contradicts_the_books_is_kept_until_somebody_looked(brand):
    with db.any_org_work():
        for outcome, days in (("Parked", 366), ("Parked", 364)):
            db.db.stage(
                'insert into rail_event (rail, event_id, answer, "references", outcome, received_at)'
                " values ('wallet', %s, 'Paid', '{}', %s, %s)",
                (f"{brand.id}{days}", outcome, ago(days=days)),
            )

    _end("rail_events")

    with db.any_org_work():
        left = db.db.run("select event_id from rail_event where event_id like %s", (f"{brand.id}%",))
        assert left == [(f"{brand.id}364",)]
    assert "Contradicts" in expiry.KINDS["rail_events"].there


def test_members_who_do_not_come_any_more_end_without_keys_and_never_the_last_owner(brand):
    for role in ("Owner", "Viewer", "Admin"):
        assert brand.person(role, email=f"{role}@example.org").get("/api/v1/programs").status_code == 200
    brand.person("Owner", email="second@example.org").get("/api/v1/programs")
    _change(brand, "update member set seen_at = %s", ago(days=400))
    assert brand.person("Admin", email="Admin@example.org").get("/api/v1/programs").status_code == 200, "still comes"

    _end("members")

    left = brand.rows("select email, role from member where subject is not null order by email")
    assert [role for _, role in left] == ["Admin", "Owner"]
    assert brand.get("/api/v1/programs").status_code == 200, "and who has a key stays"


def test_who_comes_is_noted_to_the_day(brand):
    viewer = brand.person("Viewer")
    viewer.get("/api/v1/programs")
    _change(brand, "update member set seen_at = %s where role = 'Viewer'", ago(days=2))

    viewer.get("/api/v1/programs")

    assert brand.rows("select seen_at > now() - interval '1 hour' from member where role = 'Viewer'") == [(True,)]


def test_imports_that_left_nothing_end_and_those_that_brought_something_stay(brand, ben):
    for status, imported in (("Undone", 1), ("Completed", 0), ("Completed", 1)):
        _change(
            brand,
            "insert into import_job (id, organization_id, kind, status, total, imported, skipped, errored, reasons,"
            " created_at, undone_at) values (gen_random_uuid(), %s, 'Affiliates', %s, 1, %s, %s, 0, '{}', %s, %s)",
            brand.id,
            status,
            imported,
            1 - imported,
            ago(days=400),
            NOW if status == "Undone" else None,
        )
    _change(brand, "update affiliate set import_job_id = (select id from import_job where status = 'Undone')")

    _end("imports")

    assert brand.rows("select status, imported from import_job") == [("Completed", 1)]
    assert brand.rows("select import_job_id from affiliate") == [(None,)]


def test_money_is_no_kind():
    money = ("conversion", "sale", "ledger_entry", "refund", "reversal", "payout", "payout_line", "payout_attempt")

    for kind in expiry.KINDS.values():
        for table in money:
            assert f"from {table} " not in kind.rows + (kind.end or ""), (kind.name, table)


def test_a_sale_is_known_for_ever(brand, ben, drain):
    brand.sale(externalEventId="order-1")
    drain()
    for table, column in (("sale", "accepted_at"), ("conversion", "occurred_at"), ("event", "created_at")):
        _change(brand, f"update {table} set {column} = %s", ago(days=4000))

    _end(*retention.kinds())
    again = brand.sale(externalEventId="order-1")

    assert again.json["deduped"] is True
    assert _count(brand, "event") == 0


@pytest.fixture
def kept(monkeypatch):
    """Return what sets days of keeping."""
    import settings

    def keep(**days: int) -> None:
        for kind, number in days.items():
            monkeypatch.setenv(f"RETENTION_{kind.upper()}_DAYS", str(number))
        settings.current.cache_clear()

    yield keep
    monkeypatch.undo()
    settings.current.cache_clear()
