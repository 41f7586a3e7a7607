"""`flask jobs` as an operator types it at three in the morning."""

import os
import re
from contextlib import nullcontext

import pytest

from domain import jobs
from models import db, ids
from models.jobs import processes
from pipelines import work
from tests.support.outside import receiver as receivers
from tests.support.outside.patience import hasty

_TRACEBACK = 'Traceback (most recent call last):\n  File "x.py", line 1\nLookupError: no [/conversion] here\n'


def _stage(brand, number: int = 1, job=jobs.SALE_SETTLE) -> list[int]:
    with db.unit_of_work(brand.id):
        for _ in range(number):
            work.enqueue(job, organization_id=brand.id, sale_id="a-sale")
    with db.any_org_work():
        return [found for (found,) in db.db.run("select id from job order by id desc limit %s", (number,))][::-1]


def _bury(*job_ids: int):
    with db.any_org_work():
        db.db.run(
            "update job set failed_at = now(), attempt = 20, last_error = %s where id = any(%s)",
            (_TRACEBACK, list(job_ids)),
        )


def _rows() -> list[tuple[int, int, bool]]:
    """Return id, attempts left and is-it-dead of every job."""
    with db.any_org_work():
        return db.db.run("select id, max_attempts - attempt, failed_at is not null from job order by id")


def _audit(action: str, about: str) -> list[tuple]:
    with db.any_org_work():
        return db.db.run(
            "select entity_id, actor_type, organization_id, after from audit_entry"
            " where action = %s and after::text like %s order by created_at",
            (action, f"%{about}%"),
        )


def test_queues_shows_every_queue_with_its_depth_and_workers(flask, brand):
    out, dead, _ = _stage(brand, 3)
    _bury(dead)
    with db.any_org_work():
        processes.announce(process_id=ids.new_id(), queues=["sales"], threads=4)
        db.db.run("update job set run_at = now() - interval '1 hour' where failed_at is null")
        db.db.run("update job set deadline = now() + interval '1 minute', attempt = 1 where id = %s", (out,))

    shown = {row["queue"]: row for row in flask.json("jobs", "queues")}
    code, said = flask("jobs", "queues")

    assert sorted(shown) == sorted(jobs.QUEUES)
    states = {"waiting": 1, "retrying": 0, "out": 1, "dead": 1}
    assert 3600 <= (oldest_s := shown["sales"]["oldest_s"]) < 3900
    assert shown["sales"] == states | {"queue": "sales", "oldest_s": oldest_s, "threads": 4, "paused": False}
    assert shown["mail"]["threads"] == 0
    assert code == 0
    assert re.search(r"^sales +1 +0 +1 +1 +3[6-8]\d\d +4 *$", said, re.MULTILINE)


def test_without_dead_letters_dead_says_so(flask, brand):
    _stage(brand)

    assert flask("jobs", "dead") == (0, "No dead letters.\n")
    assert flask.json("jobs", "dead") == []


def test_dead_lists_what_is_asked_for(flask, brand, rival):
    mine, _, theirs = *_stage(brand, 2), *_stage(rival)
    (refund,) = _stage(brand, job=jobs.REFUND_CASCADE)
    _bury(mine, theirs, refund)

    def listed(*options: str) -> list[int]:
        return sorted(row["id"] for row in flask.json("jobs", "dead", *options))

    assert listed() == [mine, theirs, refund]
    assert listed("--org", str(brand.id)) == [mine, refund]
    assert listed("--queue", "refunds") == [refund]
    assert listed("--name", "sale.settle") == [mine, theirs]
    assert len(listed("--limit", "1")) == 1


def test_dead_shows_a_person_the_last_line_of_each_error_as_it_is(flask, brand):
    (dead,) = _stage(brand)
    _bury(dead)

    code, said = flask("jobs", "dead")

    assert code == 0
    assert re.search(
        rf"^{dead} +sale.settle +{brand.id} +20 .*LookupError: no \[/conversion\] here", said, re.MULTILINE
    )


def _put(job_id: int, what: str):
    with db.any_org_work():
        db.db.run(f"update job set {what} where id = %s", (job_id,))


def test_list_tells_what_waits_comes_again_or_is_out_and_leaves_the_dead(flask, brand):
    waiting, retrying, out, dead = _stage(brand, 4)
    _put(
        retrying, "attempt = 3, last_error = 'Traceback\nLookupError: no such sale\n', run_at = now() + interval '1 h'"
    )
    _put(out, "attempt = 1, deadline = now() + interval '30 s'")
    _bury(dead)

    shown = {row["id"]: row for row in flask.json("jobs", "list")}
    code, said = flask("jobs", "list")

    assert {id: row["state"] for id, row in shown.items()} == {waiting: "waiting", retrying: "retrying", out: "out"}
    assert shown[retrying]["error"].endswith("LookupError: no such sale\n")
    assert (shown[out]["out_until"] is None, shown[waiting]["out_until"]) == (False, None)
    assert code == 0
    assert re.search(
        rf"^{retrying} +sale.settle +{brand.id} +retrying +3 of 20 .* LookupError: no such sale", said, re.M
    )


def test_list_is_narrowed_by_state_queue_organization_and_name(flask, brand, rival):
    first, second = _stage(brand, 2)
    (refund,), (theirs,) = _stage(brand, job=jobs.REFUND_CASCADE), _stage(rival)
    _put(second, "attempt = 1")
    _put(refund, "deadline = now()")

    def listed(*options: str) -> list[int]:
        return [row["id"] for row in flask.json("jobs", "list", *options)]

    assert listed("--state", "waiting") == [first, theirs]
    assert listed("--state", "retrying") == [second]
    assert listed("--state", "out") == [refund]
    assert listed("--queue", "refunds") == [refund]
    assert listed("--org", str(rival.id)) == [theirs]
    assert listed("--name", "sale.settle", "--org", str(brand.id)) == [first, second]
    assert listed("--limit", "2") == [first, second]
    assert flask("jobs", "list", "--queue", "mail") == (0, "No jobs are waiting or retrying or out.\n")


@pytest.mark.parametrize(
    ("script", "patience", "told"),
    [
        (receivers.status(503), nullcontext, "answered 503"),
        (receivers.hang(60), hasty, "no complete answer within 2 s"),
    ],
)
def test_list_tells_why_a_delivery_is_tried_again(flask, brand, receiver, drain, *, script, patience, told):
    endpoint = brand.endpoint(receiver.url)
    receiver.answers = [script]
    brand.post(f"/api/v1/webhooks/{endpoint['id']}/test")
    with patience():
        drain()

    (row,) = flask.json("jobs", "list", "--state", "retrying")

    assert (row["name"], row["error"]) == ("webhook.deliver", told)


def test_show_tells_everything_and_what_to_do_next(flask, brand):
    (dead,) = _stage(brand)
    _bury(dead)

    shown = flask.json("jobs", "show", str(dead))
    code, said = flask("jobs", "show", str(dead))

    assert (shown["name"], shown["attempts"], shown["arguments"]) == ("sale.settle", "20 of 20", {"sale_id": "a-sale"})
    assert shown["error"] == _TRACEBACK
    assert code == 0
    assert _TRACEBACK in said
    assert said.endswith(f"Next: flask jobs replay {dead}   or   flask jobs discard {dead} --why '...'\n")


def test_a_job_that_is_not_there_is_one_line(flask):
    assert flask("jobs", "show", "987654321") == (
        1,
        "Error: There is no job 987654321: it is done, or was discarded. Next: flask jobs dead\n",
    )


def test_replay_makes_dead_letters_wait_again_and_leaves_the_living_alone(flask, brand):
    living, dead = _stage(brand, 2)
    _bury(dead)

    replayed = flask.json("jobs", "replay", str(living), str(dead), "987654321")

    assert replayed == {"replayed": [dead], "would_replay": [], "not_dead": [living, 987654321]}
    assert _rows() == [(living, 20, False), (dead, 20, False)]
    assert _audit("job.replayed", f"[{dead}]") == [(f"[{dead}]", "operator", None, {"jobs": [dead]})]


def test_replay_of_a_queue_takes_its_dead_letters_alone(flask, brand):
    first, second = _stage(brand, 2)
    (refund,) = _stage(brand, job=jobs.REFUND_CASCADE)
    _bury(first, second, refund)

    code, said = flask("jobs", "replay", "--queue", "sales", "--limit", "1")

    assert (code, said) == (0, f"Replayed 1: {first}\n")
    assert [is_dead for *_, is_dead in _rows()] == [False, True, True]


def test_a_dry_run_says_which_and_changes_nothing(flask, brand):
    living, dead = _stage(brand, 2)
    _bury(dead)
    before = _rows()

    by_id = flask.json("jobs", "replay", "--dry-run", str(living), str(dead))
    by_queue = flask("jobs", "replay", "--dry-run", "--queue", "sales")

    assert by_id == {"replayed": [], "would_replay": [dead], "not_dead": [living]}
    assert by_queue == (0, f"Would replay 1: {dead}\n")
    assert _rows() == before
    assert _audit("job.replayed", f"[{dead}]") == []


@pytest.mark.parametrize("arguments", [["replay"], ["replay", "1", "--queue", "sales"]])
def test_replay_asks_for_ids_or_a_queue(flask, arguments):
    code, said = flask("jobs", *arguments)

    assert code == 2
    assert "Name dead letters by id, or a whole --queue." in said


def test_discard_deletes_a_dead_letter_and_keeps_why(flask, brand):
    (dead,) = _stage(brand)
    _bury(dead)

    why = f"paid by hand, {brand.id}"
    code, said = flask("jobs", "discard", str(dead), "--why", why)
    ((entity_id, actor, organization_id, after),) = _audit("job.discarded", why)

    assert (code, said) == (0, f"Discarded {dead} (sale.settle): {why}\n")
    assert _rows() == []
    assert (entity_id, actor, organization_id) == (f"[{dead}]", "operator", brand.id)
    assert after["job"]["arguments"] == {"sale_id": "a-sale"}


def test_discard_wants_to_know_why(flask, brand):
    (dead,) = _stage(brand)
    _bury(dead)

    code, said = flask("jobs", "discard", str(dead))

    assert code == 2
    assert "Missing option '--why'" in said
    assert _rows() == [(dead, 0, True)]


def test_discard_refuses_what_is_alive(flask, brand):
    (living,) = _stage(brand)

    answer = flask("jobs", "discard", str(living), "--why", "x")

    assert answer == (1, f"Error: {living} is not a dead letter. Next: flask jobs dead\n")
    assert _rows() == [(living, 20, False)]


def test_a_paused_queue_waits_until_it_is_resumed(flask):
    paused = flask("jobs", "pause", "sales", "--why", "gateway is down")
    again = flask.json("jobs", "pause", "sales")
    shown = {row["queue"]: row["paused"] for row in flask.json("jobs", "queues")}
    resumed = flask("jobs", "resume", "sales")
    afterwards = {row["paused"] for row in flask.json("jobs", "queues")}

    assert paused == (0, "sales is paused. Next: flask jobs resume sales\n")
    assert again == {"paused": "sales"}
    assert (shown["sales"], shown["refunds"]) == (True, False)
    assert resumed == (0, "sales runs.\n")
    assert afterwards == {False}
    assert _audit("queue.paused", "gateway is down")[0][0] == "sales"
    assert _audit("queue.resumed", "sales")


@pytest.mark.parametrize(
    "arguments", [["pause", "x"], ["resume", "x"], ["dead", "--queue", "x"], ["list", "--state", "dead"]]
)
def test_a_command_that_cannot_be_read_ends_with_2(flask, arguments):
    code, said = flask("jobs", *arguments)

    assert code == 2
    assert "Error: Invalid value" in said


@pytest.mark.parametrize(
    "arguments", [["queues"], ["list"], ["dead"], ["show", "1"], ["replay", "1"], ["pause", "sales"]]
)
def test_without_a_database_every_command_is_one_error(flask, tmp_path, arguments):
    db.db.drop_connection()
    db.connect_to(f"postgresql://finderfee@/finderfee?host={tmp_path}")
    try:
        code, said = flask("jobs", *arguments)
    finally:
        db.connect_to(os.environ["DATABASE_URL"])

    assert code == 1
    assert said.startswith("Error: The database cannot be reached: ")
    assert "Traceback" not in said
