"""Dead letters at the console: list, replay, discard with a reason."""

import pytest

from domain import jobs
from models import db
from tests.support.api.concurrency import run_concurrently
from tests.support.outside.console import TRACEBACK, list_audit_entries, stage_failed_job, stage_job


def _list_ids(console, **filters):
    return [job_id["id"] for job_id in console.get("dead-letters", **filters)["items"]]


def _list_jobs():
    with db.any_org_work():
        return db.db.run("select id, failed_at is not null from job order by id")


def test_list_is_newest_first_and_filtered(console, brand, rival):
    sale, rival_sale, refund = (
        stage_failed_job(brand),
        stage_failed_job(rival),
        stage_failed_job(brand, job=jobs.REFUND_CASCADE),
    )
    stage_job(brand)

    assert _list_ids(console) == [refund, rival_sale, sale]
    assert _list_ids(console, queue="refunds") == [refund]
    assert _list_ids(console, name="sale.settle") == [rival_sale, sale]
    assert _list_ids(console, organizationId=brand.id) == [refund, sale]
    assert _list_ids(console, queue="none") == []
    assert console.get("dead-letters/count", organizationId=brand.id) == {"count": 2}


def test_pages_are_stable_while_new_dead_letters_arrive(console, brand):
    job_ids = [stage_failed_job(brand) for _ in range(5)][::-1]
    first = console.get("dead-letters", take=2)
    newer = stage_failed_job(brand)
    second = console.get("dead-letters", take=2, cursor=first["nextCursor"])
    last = console.get("dead-letters", take=2, cursor=second["nextCursor"])

    assert [item["id"] for page in (first, second, last) for item in page["items"]] == job_ids
    assert (first["hasMore"], last["hasMore"], last["nextCursor"]) == (True, False, None)
    assert _list_ids(console)[0] == newer
    assert console.call("GET", "dead-letters?cursor=AAAA").status_code == 400


def test_list_item_has_the_last_line_and_details_the_traceback(console, brand):
    job_id = stage_failed_job(brand)
    (item,) = console.get("dead-letters")["items"]
    details = console.get(f"dead-letters/{job_id}")

    assert item["lastLine"] == "LookupError: no <such> sale"
    assert (item["arguments"], item["attempts"]) == ({"sale_id": "a-sale"}, 20)
    assert item["organizationId"] == str(brand.id)
    assert "error" not in item
    assert details == item | {"error": TRACEBACK}


def test_requester_of_a_job_is_the_request(console, brand, drain):
    brand.program()
    brand.affiliate("ben")
    sale = brand.sale()
    with db.any_org_work():
        ((number, asked_by),) = db.db.run("select id, asked_by from job where name = 'sale.settle'")
        db.db.run("update job set failed_at = now() where id = %s", (number,))

    assert asked_by == f"request {sale.headers['X-Request-Id']}"
    assert console.get(f"dead-letters/{number}")["askedBy"] == asked_by


def test_requester_of_a_follow_up_job_is_its_parent_job(brand, drain, receiver):
    brand.program()
    brand.affiliate("ben")
    brand.post("/api/v1/webhooks", {"url": receiver.url, "events": ["*"]})
    brand.sale()
    with db.any_org_work():
        ((number,),) = db.db.run("select id from job where name = 'sale.settle'")
    drain("sales")

    with db.any_org_work():
        requesters = db.db.run("select distinct asked_by from job where name = 'webhook.deliver'")
    assert requesters == [(f"job sale.settle {number}",)]


@pytest.mark.parametrize("request_id", ["it's; drop table job --", "a\\'b", "%s"])
def test_hostile_request_id_is_stored_as_text(brand, request_id):
    brand.program()
    brand.affiliate("ben")

    assert brand.sale(X_Request_Id=request_id).status_code == 200
    assert (
        brand.post_signed(
            "/api/tracking/s2s",
            {"externalEventId": "order-named", "affiliateSlug": "ben", "amountCents": 100, "currency": "USD"},
            X_Request_Id=request_id,
        ).status_code
        == 200
    )
    with db.any_org_work():
        assert (f"request {request_id}",) in db.db.run("select asked_by from job")


def test_replayed_dead_letter_is_pending_again(console, brand):
    job_id, other = stage_failed_job(brand), stage_failed_job(brand)

    assert console.post(f"dead-letters/{job_id}/replay").json == {"replayed": [job_id]}
    assert _list_jobs() == [(job_id, False), (other, True)]
    assert list_audit_entries("job.replayed", job_id) == [
        ("operator", "ops@example.com", brand.id, {"jobs": [job_id], "name": "sale.settle"})
    ]
    assert console.post(f"dead-letters/{job_id}/replay").status_code == 404


def test_discarded_dead_letter_is_deleted_and_audited(console, brand):
    job_id = stage_failed_job(brand)
    answer = console.post(f"dead-letters/{job_id}/discard", {"why": "paid by hand"})
    ((actor, actor_label, organization_id, after),) = list_audit_entries("job.discarded", job_id)

    assert (answer.status_code, answer.data, _list_jobs()) == (204, b"", [])
    assert (actor, actor_label, organization_id, after["why"]) == (
        "operator",
        "ops@example.com",
        brand.id,
        "paid by hand",
    )
    assert after["job"]["arguments"] == {"sale_id": "a-sale"}
    assert "LookupError" not in str(after)


def test_discarding_a_delivery_job_fails_the_delivery_and_allows_resending(console, brand, drain, receiver):
    # given: two pending deliveries, one with a dead job
    brand.program()
    brand.affiliate("ben")
    endpoint = brand.post("/api/v1/webhooks", {"url": receiver.url, "events": ["conversion.created"]}).json["id"]
    for _ in range(2):
        brand.sale()
    drain("sales")
    with db.any_org_work():
        ((number, delivery), *_) = db.db.run(
            "update job set failed_at = now() where id = (select min(id) from job where name = 'webhook.deliver')"
            " returning id, args ->> 'delivery_id'"
        )
    deliveries = f"/api/v1/webhooks/{endpoint}/deliveries"
    assert brand.post(f"{deliveries}/{delivery}/redeliver").status_code == 409

    # when
    console.post(f"dead-letters/{number}/discard", {"why": "the receiver is gone"})

    # then
    delivery_view = brand.get(f"{deliveries}/{delivery}").json
    assert (delivery_view["status"], delivery_view["failureReason"]) == (
        "Failed",
        "The job that would have sent it was deleted.",
    )
    assert delivery_view["settledAt"] is not None
    assert delivery_view["nextAttemptAt"] is None
    assert [item["status"] for item in brand.get(deliveries).json["items"]].count("Pending") == 1
    assert brand.post(f"{deliveries}/{delivery}/redeliver").status_code == 200
    drain("webhooks")
    assert {item["status"] for item in brand.get(deliveries).json["items"]} == {"Delivered"}
    assert len(receiver.events) == 2


def test_discard_without_a_reason_returns_400(console, brand):
    job_id = stage_failed_job(brand)
    for body in ({}, {"why": ""}, {"why": " \n"}):
        assert "why" in console.post(f"dead-letters/{job_id}/discard", body).json["errors"]

    assert _list_jobs() == [(job_id, True)]


def test_live_job_is_neither_replayed_nor_discarded(console, brand):
    living = stage_job(brand)

    assert console.post(f"dead-letters/{living}/replay").status_code == 404
    assert console.post(f"dead-letters/{living}/discard", {"why": "w"}).status_code == 404
    assert console.call("GET", f"dead-letters/{living}").status_code == 404
    assert _list_jobs() == [(living, False)]


def test_repeated_idempotency_key_returns_the_first_response(console, brand):
    job_id = stage_failed_job(brand)
    first, again = (
        console.post(f"dead-letters/{job_id}/discard", {"why": "w"}, Idempotency_Key="one-form") for _ in range(2)
    )
    other = console.post(f"dead-letters/{job_id}/discard", {"why": "else"}, Idempotency_Key="one-form")

    assert (first.status_code, again.status_code, again.headers["Idempotency-Replayed"]) == (204, 204, "true")
    assert (other.status_code, other.json["error"]) == (409, "idempotency_conflict")
    assert len(list_audit_entries("job.discarded", job_id)) == 1


def test_concurrent_discards_with_one_key_discard_once(console, brand):
    job_id = stage_failed_job(brand)

    def discard():
        return console.post(f"dead-letters/{job_id}/discard", {"why": "w"}, Idempotency_Key="twice").status_code

    assert run_concurrently(discard, discard) == [204, 204]
    assert len(list_audit_entries("job.discarded", job_id)) == 1


def test_filtered_replay_needs_a_confirmed_count(console, brand, rival):
    own_ids, rival_id = [stage_failed_job(brand), stage_failed_job(brand)], stage_failed_job(rival)
    body = {"organizationId": str(brand.id), "queue": "sales", "confirmCount": 2, "why": "the cause is gone"}
    answer = console.post("dead-letters/replay", body)

    assert (answer.status_code, answer.json) == (200, {"replayed": own_ids})
    assert _list_jobs() == [(own_ids[0], False), (own_ids[1], False), (rival_id, True)]
    ((_, actor_label, _, after),) = list_audit_entries("job.replayed", "filter")[-1:]
    assert (actor_label, after["count"], after["why"]) == ("ops@example.com", 2, "the cause is gone")


def test_changed_count_replays_nothing(console, brand):
    stage_failed_job(brand)
    for confirmed in (0, 2, -1):
        answer = console.post("dead-letters/replay", {"confirmCount": confirmed})

        assert (answer.status_code, answer.json["error"], answer.json["count"]) == (409, "count_mismatch", 1)
    for confirmed in ("1", 1.5, None, True):
        assert console.post("dead-letters/replay", {"confirmCount": confirmed}).status_code == 400
    assert console.post("dead-letters/replay", {}).status_code == 400
    assert [is_dead for _, is_dead in _list_jobs()] == [True]


def _create_dead_sale(brand, event="order-a", **fields):
    brand.program()
    brand.affiliate("ben")
    brand.sale(externalEventId=event, **fields)
    with db.any_org_work():
        ((number,),) = db.db.run(
            "update job set failed_at = now() where name = 'sale.settle' and organization_id = %s returning id",
            (brand.id,),
        )
    return number


def test_dead_sale_shows_the_work_that_a_discard_leaves_undone(console, brand):
    number = _create_dead_sale(brand, amountCents=5_000)
    consequences = console.get(f"dead-letters/{number}")["leaves"]
    console.post(f"dead-letters/{number}/discard", {"why": "w"})
    ((*_, after),) = list_audit_entries("job.discarded", number)

    expected = {"kind": "sale.settle", "externalEventId": "order-a", "amountCents": 5_000, "currency": "USD"}
    assert consequences == expected | {
        "text": "an accepted sale that credits no one",
        "remedy": "Send the same sale again.",
    }
    assert after["job"]["leaves"] == expected


def test_kinds_are_summed_per_currency(console, brand, rival):
    _create_dead_sale(brand, amountCents=5_000)
    _create_dead_sale(rival, amountCents=700)
    stage_failed_job(brand, job=jobs.REFUND_CASCADE)

    summary = console.get("dead-letters/kinds")
    kinds = console.get("dead-letters/kinds", organizationId=brand.id, name="sale.settle")

    assert [(kind["name"], kind["count"], kind["sums"]) for kind in summary["kinds"]] == [
        ("refund.cascade", 1, []),
        ("sale.settle", 2, [{"currency": "USD", "amountCents": 5_700}]),
    ]
    assert (summary["count"], kinds["count"]) == (3, 1)


def test_filter_is_discarded_when_its_count_is_confirmed(console, brand, rival):
    own_ids, rival_id = [stage_failed_job(brand), stage_failed_job(brand)], stage_failed_job(rival)
    living = stage_job(brand)
    body = {"organizationId": str(brand.id), "error": "no <SUCH>", "confirmCount": 2, "why": "a test shop"}
    answer = console.post("dead-letters/discard", body)

    assert (answer.status_code, answer.json) == (200, {"discarded": own_ids})
    assert _list_jobs() == [(rival_id, True), (living, False)]
    for number in own_ids:
        ((_, actor_label, organization_id, after),) = list_audit_entries("job.discarded", number)
        assert (actor_label, organization_id, after["why"]) == ("ops@example.com", brand.id, "a test shop")
        assert after["filter"]["error"] == "no <SUCH>"


def test_bulk_discard_with_changed_count_or_no_reason_discards_nothing(console, brand):
    job_id = stage_failed_job(brand)

    mismatch = console.post("dead-letters/discard", {"confirmCount": 2, "why": "w"})
    assert (mismatch.status_code, mismatch.json["error"], mismatch.json["count"]) == (409, "count_mismatch", 1)
    for body in ({"why": "w"}, {"confirmCount": 1}, {"confirmCount": 1, "why": " "}):
        assert console.post("dead-letters/discard", body).status_code == 400
    assert _list_jobs() == [(job_id, True)]


def test_list_shows_first_line_of_the_message_of_a_postgresql_error(console, brand):
    job_id = stage_failed_job(brand)
    error = (
        'Traceback (most recent call last):\n  File "x.py", line 1, in work\n    run(sql)\n    ^^^^^^^^\n'
        "peewee.DataError: value too long for type character varying(3)\nLINE 1: insert into\n        ^\n"
        "CONTEXT:  SQL statement\nPL/pgSQL function f() line 3\n"
    )
    with db.any_org_work():
        db.db.run("update job set last_error = %s where id = %s", (error, job_id))

    (listed,) = console.get("dead-letters")["items"]
    assert listed["lastLine"] == "peewee.DataError: value too long for type character varying(3)"
