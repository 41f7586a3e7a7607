"""Waits, retries and pauses while an account is read (switch-over rules, "Jobs")."""

from datetime import UTC, datetime, timedelta

import pytest

from commands.demo.played import faults
from domain import jobs
from models import db
from models.jobs import rows as job_rows
from pipelines.switches import reading
from tests.support.job_queues import run_pointer
from tests.support.settings_overrides import override_settings
from tests.support.switches import reading_runs as runs
from tests.support.switches.small_source import KEY, create_account, play_small
from workers import dead_letters


@pytest.fixture
def account():
    return create_account()


@pytest.fixture
def server(app, monkeypatch, account):
    with play_small(monkeypatch, account) as server:
        yield server


def _assert_waits(brand, switch, at_least_s, at_most_s):
    """Check that the switch and its only job wait for so long from its last request on."""
    ((name, run_at),) = runs.jobs_of(brand)
    assert (name, run_at, switch.state) == ("switch.read", switch.waiting_until, "Reading")
    waited = (switch.waiting_until - switch.touched_at).total_seconds()
    assert at_least_s <= waited <= at_most_s


def _attempts(brand):
    return brand.rows("select attempt from job where name = 'switch.read'")


def test_retry_after_in_seconds_is_waited(brand, server):
    server.faults.add(faults.too_many(retry_after_s=30, path="/customers"))
    switch = runs.read(brand, runs.start(brand))

    _assert_waits(brand, switch, 30, 30)
    assert _attempts(brand) == [(0,)]
    runs.let_time_pass(brand, switch)
    switch = runs.read(brand, switch)
    assert (switch.stage, switch.waiting_until) == ("judge", None)


def test_retry_after_as_a_date_is_waited(brand, server):
    server.faults.add(faults.too_many(retry_after_s=300, is_date=True, path="/customers"))
    switch = runs.read(brand, runs.start(brand))

    _assert_waits(brand, switch, 290, 301)


def test_reset_header_is_waited(brand, server):
    reset_at = datetime.now(UTC) + timedelta(minutes=10)
    reset = ("X-RateLimit-Reset", str(int(reset_at.timestamp())))
    server.faults.add(faults.too_many(reset=reset, path="/customers"))
    switch = runs.read(brand, runs.start(brand))

    assert timedelta() <= switch.waiting_until - reset_at.replace(microsecond=0) < timedelta(seconds=2)


def test_waits_after_429s_without_a_time_double_up_to_a_minute(brand, server):
    server.faults.add(faults.too_many(path="/customers", times=7))
    switch = runs.start(brand)
    waits = []
    for _ in range(7):
        switch = runs.read(brand, switch)
        waits.append(round((switch.waiting_until - switch.touched_at).total_seconds()))
        runs.let_time_pass(brand, switch)

    assert waits == [2, 4, 8, 16, 32, 60, 60]
    assert runs.read(brand, switch).stage == "judge"


def test_job_that_comes_too_early_makes_no_request(brand, server):
    server.faults.add(faults.too_many(retry_after_s=30, path="/customers"))
    switch = runs.read(brand, runs.start(brand))
    request_count = len(server.log)
    with db.unit_of_work(brand.id):
        db.db.run("update job set run_at = now() returning 1")

    switch = runs.read(brand, switch, max_pages=3)
    assert len(server.log) == request_count
    ((_, run_at),) = runs.jobs_of(brand)
    assert run_at == switch.waiting_until


def test_last_request_of_a_limit_waits_for_its_reset(brand, server):
    def use_up(response):
        response.headers.update({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "45"})
        return response

    server.faults.add(faults.change(lambda response: use_up(_with_headers(response)), path="/customers"))
    switch = runs.read(brand, runs.start(brand))

    _assert_waits(brand, switch, 45, 45)
    assert runs.ids(brand, switch, "customers") == ["c5", "c6", "c7"]


def _with_headers(response):
    return type(response)(response.body, response.status, dict(response.headers))


def test_own_pace_decides_when_the_next_request_is_due(brand, monkeypatch, server):
    override_settings(monkeypatch, switches={"requests_per_s": 0.01})
    switch = runs.read(brand, runs.start(brand))

    ((_, run_at),) = runs.jobs_of(brand)
    assert timedelta(seconds=95) < run_at - switch.touched_at <= timedelta(seconds=100)
    assert (len(server.requests("/affiliates")), switch.waiting_until) == (1, None)


@pytest.mark.parametrize(
    "fault",
    [
        faults.respond(500, path="/customers", times=99),
        faults.respond(503, {"error": "down"}, path="/customers", times=99),
        faults.html(path="/customers", times=99),
        faults.close(path="/customers", times=99),
        faults.truncate(path="/customers", times=99),
        faults.cut(path="/customers", times=99),
        faults.gzip_bomb(path="/customers", times=99),
        faults.respond(404, path="/customers", times=99),
        faults.respond(200, {"data": {"id": "c1"}}, path="/customers", times=99),
        faults.redirect("http://127.0.0.1:1/v1/customers", path="/customers", times=99),
    ],
    ids=["500", "503", "html", "closed", "truncated", "cut", "gzip", "404", "no list", "redirect"],
)
def test_answers_that_cannot_be_used_are_retried_then_the_switch_pauses(brand, server, fault):
    fault.played = 0
    server.faults.add(fault)
    switch, waits = runs.start(brand), []
    while (switch := runs.read(brand, switch)).state == "Reading":
        waits.append(round((switch.waiting_until - switch.touched_at).total_seconds()))
        runs.let_time_pass(brand, switch)

    assert waits == [1, 5, 15, 60, 120, 300, 300, 300]
    assert (switch.state, switch.paused_in, switch.stage) == ("Paused", "Reading", "customers")
    assert (switch.last_error_code, switch.waiting_until) == ("source_unavailable", None)
    assert runs.jobs_of(brand) == []


def test_resumed_switch_goes_on_at_its_cursor(brand, monkeypatch, server):
    override_settings(monkeypatch, switches={"retry_at_s": ()})
    server.faults.add(faults.respond(500, path="/customers", skip=1))
    switch = runs.read(brand, runs.start(brand))
    assert switch.last_error_code == "source_unavailable"

    resumed = runs.act(brand, switch, "resume")
    assert (resumed.state, resumed.stage, resumed.last_error_code) == ("Reading", "customers", None)
    switch = runs.read(brand, resumed)
    assert switch.stage == "judge"
    assert [request.value("page", "1") for request in server.requests("/customers")][:4] == ["1", "2", "2", "3"]


def test_usable_answer_ends_the_count_of_failures(brand, server):
    server.faults.add(faults.respond(500, path="/customers", times=2))
    server.faults.add(faults.respond(500, path="/customers", skip=1, times=1))
    switch, waits = runs.start(brand), []
    while (switch := runs.read(brand, switch)).waiting_until is not None:
        waits.append(round((switch.waiting_until - switch.touched_at).total_seconds()))
        runs.let_time_pass(brand, switch)

    assert waits == [1, 5, 1]


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("is_html", [True, False])
def test_refused_credentials_pause_until_others_are_sent(brand, server, account, status, is_html):
    fault = faults.html(status, path="/customers") if is_html else faults.respond(status, {}, path="/customers")
    server.faults.add(fault)
    switch = runs.read(brand, runs.start(brand))
    assert (switch.state, switch.last_error_code) == ("Paused", "credentials_refused")

    account.credentials["apiKey"] = "another-key"
    changed = runs.change(brand, switch, credentials={"apiKey": "another-key"})
    assert changed.state == "Paused"
    switch = runs.read(brand, runs.act(brand, switch, "resume"))
    assert switch.stage == "judge"
    assert server.log[-1].headers["authorization"] == "Bearer another-key"
    assert len(server.requests("/v1/affiliates")) == len(
        [r for r in server.requests("/v1/affiliates") if r.headers["authorization"] == f"Bearer {KEY}"]
    )


def test_too_large_answer_pauses(brand, server):
    server.faults.add(faults.large(path="/customers"))
    switch = runs.read(brand, runs.start(brand))

    assert (switch.state, switch.last_error_code) == ("Paused", "answer_too_large")


def test_more_commissions_than_a_switch_can_bring_pause_it(brand, server, monkeypatch):
    monkeypatch.setattr(reading, "MAX_COMMISSIONS", 3)
    switch = runs.read(brand, runs.start(brand))

    assert (switch.state, switch.last_error_code) == ("Paused", "too_many_rows")


def test_messages_of_errors_have_neither_key_nor_query(brand, server):
    for code in (401, 500):
        server.faults.add(faults.respond(code, {"error": f"bad key {KEY}"}, path="/customers", times=9))
    switch = runs.read(brand, runs.start(brand))

    assert KEY not in switch.last_error_message
    assert "page" not in switch.last_error_message
    assert "Bearer" not in switch.last_error_message


def test_key_is_stored_sealed_and_in_no_job(brand, server):
    server.faults.add(faults.respond(500, {"error": KEY}, path="/customers"))
    runs.read(brand, runs.start(brand))

    assert brand.rows("select position(%s in credentials_sealed) from switch", KEY.encode()) == [(0,)]
    assert brand.rows("select from job where job::text like %s", f"%{KEY}%") == []


def _use_up_attempts(brand, monkeypatch):
    """Run the brand's reading job with an error until its attempts are used up."""

    def break_down(*_, **__):
        raise RuntimeError("broken")

    monkeypatch.setattr(reading, "_record_page", break_down)
    with db.unit_of_work(brand.id):
        db.db.run("update job set max_attempts = attempt + 1 where name = 'switch.read' returning 1")
    for pointer in runs.dispatch_reads():
        run_pointer(pointer)
    monkeypatch.undo()


def test_job_without_attempts_left_pauses_and_resume_plays_it_again(app, brand, account):
    with pytest.MonkeyPatch.context() as patch, play_small(patch, account):
        switch = runs.start(brand)
        with pytest.MonkeyPatch.context() as breaking:
            _use_up_attempts(brand, breaking)
        paused = runs.reload(brand, switch)
        assert (paused.state, paused.paused_in, paused.last_error_code) == ("Paused", "Reading", "internal_error")
        assert brand.rows("select failed_at is not null from job") == [(True,)]

        switch = runs.read(brand, runs.act(brand, switch, "resume"))
        assert (switch.state, switch.stage) == ("Reading", "judge")


def test_job_whose_workers_died_pauses_when_it_is_dispatched_in_vain(brand, server):
    switch = runs.start(brand)
    with db.unit_of_work(brand.id):
        db.db.run("update job set attempt = max_attempts returning 1")
    runs.dispatch_reads()  # announces a process
    with db.any_org_work():
        db.db.run("update job set failed_at = null, deadline = null returning 1")
        job_rows.any_org_dispatch(
            queue="imports", per_thread=16, share=9, lease_s=30, on_dead=dead_letters.any_org_react
        )

    switch = runs.reload(brand, switch)
    assert (switch.state, switch.last_error_code) == ("Paused", "internal_error")


@pytest.mark.parametrize(
    ("state", "job", "expected"),
    [
        (("Reading", "judge"), jobs.SWITCH_JUDGE, ("Paused", "Reading", "internal_error")),
        (("Writing", "affiliates"), jobs.SWITCH_WRITE, ("Paused", "Writing", "internal_error")),
        (("Undoing", "affiliates"), jobs.SWITCH_UNDO, ("Undoing", None, "internal_error")),
        (("Cancelled", None), jobs.SWITCH_READ, ("Cancelled", None, None)),
        (("Reading", "judge"), jobs.SWITCH_READ, ("Reading", None, None)),
    ],
)
def test_failed_job_pauses_only_the_switch_that_waits_for_it(brand, server, state, job, expected):
    switch = runs.start(brand)
    with db.any_org_work():
        db.db.run("update switch set state = %s, stage = %s where id = %s returning 1", (*state, switch.id))
        ((job_id,),) = db.db.run(
            "insert into job (organization_id, queue, name, args, fair_key, max_attempts, failed_at)"
            " values (%s, %s, %s, %s, '', 1, now()) returning id",
            (brand.id, job.queue, job.name, db.Json({"switch_id": str(switch.id)})),
        )
        dead_letters.any_org_react([job_id])

    paused = runs.reload(brand, switch)
    assert (paused.state, paused.paused_in, paused.last_error_code) == expected


def test_cancelled_switch_stores_nothing_of_a_page_that_arrives_later(brand, server):
    switch = runs.start(brand)
    with db.unit_of_work(brand.id):
        request = reading.prepare(organization_id=brand.id, switch_id=switch.id, now=switch.touched_at)
    result = reading.call(request)
    runs.act(brand, switch, "cancel")
    with db.unit_of_work(brand.id):
        reading.record(request, result, now=switch.touched_at)

    assert brand.rows("select from switch_row") == []
    request_count = len(server.log)
    assert runs.read(brand, switch).state == "Cancelled"
    assert len(server.log) == request_count
    assert runs.jobs_of(brand) == []


def test_switches_of_two_organizations_take_turns(brand, rival, server):
    first, second = runs.start(brand), runs.start(rival)

    assert len(runs.dispatch_reads()) == 2
    with db.any_org_work():
        db.db.run("update job set deadline = null returning 1")
    assert runs.read(brand, first).stage == "judge"
    assert runs.read(rival, second).stage == "judge"
