"""`flask jobs`: queues, lists, replay, discard and pause."""

import os
import re
from contextlib import nullcontext

import pytest

from domain import jobs
from models import db, ids
from models.jobs import processes
from pipelines import work
from tests.support.outside import receiver as receivers
from tests.support.outside.delivery_timeouts import short_delivery_timeout

_TRACEBACK = 'Traceback (most recent call last):\n  File "x.py", line 1\nLookupError: no [/conversion] here\n'


def _stage_jobs(brand, number: int = 1, job=jobs.SALE_SETTLE) -> list[int]:
    with db.unit_of_work(brand.id):
        for _ in range(number):
            work.enqueue(job, organization_id=brand.id, sale_id="a-sale")
    with db.any_org_work():
        return [job_id for (job_id,) in db.db.run("select id from job order by id desc limit %s", (number,))][::-1]


def _mark_dead(*job_ids: int):
    with db.any_org_work():
        db.db.run(
            "update job set failed_at = now(), attempt = 20, last_error = %s where id = any(%s)",
            (_TRACEBACK, list(job_ids)),
        )


def _list_jobs() -> list[tuple[int, int, bool]]:
    """Return the id, the remaining attempts and whether it is dead, of every job."""
    with db.any_org_work():
        return db.db.run("select id, max_attempts - attempt, failed_at is not null from job order by id")


def _list_audit_entries(action: str, about: str) -> list[tuple]:
    with db.any_org_work():
        return db.db.run(
            "select entity_id, actor_type, organization_id, after from audit_entry"
            " where action = %s and after::text like %s order by created_at",
            (action, f"%{about}%"),
        )


def test_queues_shows_every_queue_with_its_depth_and_workers(flask, brand):
    out, dead, _ = _stage_jobs(brand, 3)
    _mark_dead(dead)
    with db.any_org_work():
        processes.announce(process_id=ids.new_id(), queues=["sales"], threads=4)
        db.db.run("update job set run_at = now() - interval '1 hour' where failed_at is null")
        db.db.run("update job set deadline = now() + interval '1 minute', attempt = 1 where id = %s", (out,))

    rows = {row["queue"]: row for row in flask.json("jobs", "queues")}
    code, output = flask("jobs", "queues")

    assert sorted(rows) == sorted(jobs.QUEUES)
    states = {"waiting": 1, "retrying": 0, "out": 1, "dead": 1}
    assert 3600 <= (oldest_s := rows["sales"]["oldest_s"]) < 3900
    assert rows["sales"] == states | {"queue": "sales", "oldest_s": oldest_s, "threads": 4, "paused": False}
    assert rows["mail"]["threads"] == 0
    assert code == 0
    assert re.search(r"^sales +1 +0 +1 +1 +3[6-8]\d\d +4 *$", output, re.MULTILINE)


def test_dead_without_dead_letters_prints_a_hint(flask, brand):
    _stage_jobs(brand)

    assert flask("jobs", "dead") == (0, "No dead letters.\n")
    assert flask.json("jobs", "dead") == []


def test_dead_is_filtered_by_organization_queue_and_name(flask, brand, rival):
    mine, _, theirs = *_stage_jobs(brand, 2), *_stage_jobs(rival)
    (refund,) = _stage_jobs(brand, job=jobs.REFUND_CASCADE)
    _mark_dead(mine, theirs, refund)

    def list_ids(*options: str) -> list[int]:
        return sorted(row["id"] for row in flask.json("jobs", "dead", *options))

    assert list_ids() == [mine, theirs, refund]
    assert list_ids("--org", str(brand.id)) == [mine, refund]
    assert list_ids("--queue", "refunds") == [refund]
    assert list_ids("--name", "sale.settle") == [mine, theirs]
    assert len(list_ids("--limit", "1")) == 1


def test_dead_prints_the_last_line_of_each_error_unchanged(flask, brand):
    (dead,) = _stage_jobs(brand)
    _mark_dead(dead)

    code, output = flask("jobs", "dead")

    assert code == 0
    assert re.search(
        rf"^{dead} +sale.settle +{brand.id} +20 .*LookupError: no \[/conversion\] here", output, re.MULTILINE
    )


def _update_job(job_id: int, assignments: str):
    with db.any_org_work():
        db.db.run(f"update job set {assignments} where id = %s", (job_id,))


def test_list_shows_waiting_retrying_and_leased_jobs_but_no_dead_ones(flask, brand):
    waiting, retrying, out, dead = _stage_jobs(brand, 4)
    _update_job(
        retrying, "attempt = 3, last_error = 'Traceback\nLookupError: no such sale\n', run_at = now() + interval '1 h'"
    )
    _update_job(out, "attempt = 1, deadline = now() + interval '30 s'")
    _mark_dead(dead)

    rows = {row["id"]: row for row in flask.json("jobs", "list")}
    code, output = flask("jobs", "list")

    assert {id: row["state"] for id, row in rows.items()} == {waiting: "waiting", retrying: "retrying", out: "out"}
    assert rows[retrying]["error"].endswith("LookupError: no such sale\n")
    assert (rows[out]["out_until"] is None, rows[waiting]["out_until"]) == (False, None)
    assert code == 0
    assert re.search(
        rf"^{retrying} +sale.settle +{brand.id} +retrying +3 of 20 .* LookupError: no such sale", output, re.M
    )


def test_list_is_filtered_by_state_queue_organization_and_name(flask, brand, rival):
    first, second = _stage_jobs(brand, 2)
    (refund,), (theirs,) = _stage_jobs(brand, job=jobs.REFUND_CASCADE), _stage_jobs(rival)
    _update_job(second, "attempt = 1")
    _update_job(refund, "deadline = now()")

    def list_ids(*options: str) -> list[int]:
        return [row["id"] for row in flask.json("jobs", "list", *options)]

    assert list_ids("--state", "waiting") == [first, theirs]
    assert list_ids("--state", "retrying") == [second]
    assert list_ids("--state", "out") == [refund]
    assert list_ids("--queue", "refunds") == [refund]
    assert list_ids("--org", str(rival.id)) == [theirs]
    assert list_ids("--name", "sale.settle", "--org", str(brand.id)) == [first, second]
    assert list_ids("--limit", "2") == [first, second]
    assert flask("jobs", "list", "--queue", "mail") == (0, "No jobs are waiting or retrying or out.\n")


@pytest.mark.parametrize(
    ("script", "patience", "error"),
    [
        (receivers.status(503), nullcontext, "answered 503"),
        (receivers.hang(60), short_delivery_timeout, "no complete response within 2 s"),
    ],
)
def test_list_shows_why_a_delivery_is_retried(flask, brand, receiver, drain, *, script, patience, error):
    endpoint = brand.endpoint(receiver.url)
    receiver.answers = [script]
    brand.post(f"/api/v1/webhooks/{endpoint['id']}/test")
    with patience():
        drain()

    (row,) = flask.json("jobs", "list", "--state", "retrying")

    assert (row["name"], row["error"]) == ("webhook.deliver", error)


def test_show_prints_the_job_and_the_next_step(flask, brand):
    (dead,) = _stage_jobs(brand)
    _mark_dead(dead)

    rows = flask.json("jobs", "show", str(dead))
    code, output = flask("jobs", "show", str(dead))

    assert (rows["name"], rows["attempts"], rows["arguments"]) == ("sale.settle", "20 of 20", {"sale_id": "a-sale"})
    assert rows["error"] == _TRACEBACK
    assert code == 0
    assert _TRACEBACK in output
    assert output.endswith(f"Next: flask jobs replay {dead}   or   flask jobs discard {dead} --why '...'\n")


def test_unknown_job_is_a_one_line_error(flask):
    assert flask("jobs", "show", "987654321") == (
        1,
        "Error: There is no job 987654321: it is done or was discarded. Next: flask jobs dead\n",
    )


def test_replay_requeues_dead_letters_only(flask, brand):
    living, dead = _stage_jobs(brand, 2)
    _mark_dead(dead)

    replayed = flask.json("jobs", "replay", str(living), str(dead), "987654321")

    assert replayed == {"replayed": [dead], "would_replay": [], "not_dead": [living, 987654321]}
    assert _list_jobs() == [(living, 20, False), (dead, 20, False)]
    assert _list_audit_entries("job.replayed", f"[{dead}]") == [(f"[{dead}]", "operator", None, {"jobs": [dead]})]


def test_replay_of_a_queue_requeues_its_dead_letters_only(flask, brand):
    first, second = _stage_jobs(brand, 2)
    (refund,) = _stage_jobs(brand, job=jobs.REFUND_CASCADE)
    _mark_dead(first, second, refund)

    code, output = flask("jobs", "replay", "--queue", "sales", "--limit", "1")

    assert (code, output) == (0, f"Replayed 1: {first}\n")
    assert [is_dead for *_, is_dead in _list_jobs()] == [False, True, True]


def test_dry_run_lists_the_jobs_and_changes_nothing(flask, brand):
    living, dead = _stage_jobs(brand, 2)
    _mark_dead(dead)
    before = _list_jobs()

    by_id = flask.json("jobs", "replay", "--dry-run", str(living), str(dead))
    by_queue = flask("jobs", "replay", "--dry-run", "--queue", "sales")

    assert by_id == {"replayed": [], "would_replay": [dead], "not_dead": [living]}
    assert by_queue == (0, f"Would replay 1: {dead}\n")
    assert _list_jobs() == before
    assert _list_audit_entries("job.replayed", f"[{dead}]") == []


@pytest.mark.parametrize("arguments", [["replay"], ["replay", "1", "--queue", "sales"]])
def test_replay_requires_ids_or_a_queue(flask, arguments):
    code, output = flask("jobs", *arguments)

    assert code == 2
    assert "Select dead letters by id, or with --queue" in output


def test_discard_deletes_a_dead_letter_and_audits_the_reason(flask, brand):
    (dead,) = _stage_jobs(brand)
    _mark_dead(dead)

    why = f"paid by hand, {brand.id}"
    code, output = flask("jobs", "discard", str(dead), "--why", why)
    ((entity_id, actor, organization_id, after),) = _list_audit_entries("job.discarded", why)

    assert (code, output) == (0, f"Discarded {dead} (sale.settle): {why}\n")
    assert _list_jobs() == []
    assert (entity_id, actor, organization_id) == (f"[{dead}]", "operator", brand.id)
    assert after["job"]["arguments"] == {"sale_id": "a-sale"}


def test_discard_requires_a_reason(flask, brand):
    (dead,) = _stage_jobs(brand)
    _mark_dead(dead)

    code, output = flask("jobs", "discard", str(dead))

    assert code == 2
    assert "Missing option '--why'" in output
    assert _list_jobs() == [(dead, 0, True)]


def test_discard_of_a_live_job_is_refused(flask, brand):
    (living,) = _stage_jobs(brand)

    result = flask("jobs", "discard", str(living), "--why", "x")

    assert result == (1, f"Error: {living} is not a dead letter. Next: flask jobs dead\n")
    assert _list_jobs() == [(living, 20, False)]


def test_queue_is_paused_and_resumed(flask):
    paused = flask("jobs", "pause", "sales", "--why", "gateway is down")
    again = flask.json("jobs", "pause", "sales")
    rows = {row["queue"]: row["paused"] for row in flask.json("jobs", "queues")}
    resumed = flask("jobs", "resume", "sales")
    afterwards = {row["paused"] for row in flask.json("jobs", "queues")}

    assert paused == (0, "sales is paused. Next: flask jobs resume sales\n")
    assert again == {"paused": "sales"}
    assert (rows["sales"], rows["refunds"]) == (True, False)
    assert resumed == (0, "sales runs.\n")
    assert afterwards == {False}
    assert _list_audit_entries("queue.paused", "gateway is down")[0][0] == "sales"
    assert _list_audit_entries("queue.resumed", "sales")


@pytest.mark.parametrize(
    "arguments", [["pause", "x"], ["resume", "x"], ["dead", "--queue", "x"], ["list", "--state", "dead"]]
)
def test_invalid_arguments_exit_with_2(flask, arguments):
    code, output = flask("jobs", *arguments)

    assert code == 2
    assert "Error: Invalid value" in output


@pytest.mark.parametrize(
    "arguments", [["queues"], ["list"], ["dead"], ["show", "1"], ["replay", "1"], ["pause", "sales"]]
)
def test_unreachable_database_is_a_one_line_error(flask, tmp_path, arguments):
    db.db.drop_connection()
    db.connect_to(f"postgresql://finderfee@/finderfee?host={tmp_path}")
    try:
        code, output = flask("jobs", *arguments)
    finally:
        db.connect_to(os.environ["DATABASE_URL"])

    assert code == 1
    assert output.startswith("Error: The database cannot be reached: ")
    assert "Traceback" not in output
