"""Leads from a brand's pages (tracking spec, "Browser lead capture"): one answer, whatever came of it."""

import json
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest

import settings
from adapters import servers
from api.access import limits
from api.edge import relay_waker
from domain import jobs
from models import db, ids
from models.jobs import processes, rows
from pipelines import work
from tests.support import databases
from tests.support.job_queues import run_pointer
from tests.support.rows.leads import BROWSER, list_lead_emails, post_browser_lead, post_signed_lead, slug_of

OPAQUE = (200, b'{"ok":true}')


def _told(answer):
    return answer.status_code, answer.data


def _staged():
    with db.any_org_work():
        return db.db.run("select name, args::text, fair_key, organization_id from job")


def _run_next():
    with db.any_org_work():
        processes.announce(process_id=ids.new_id(), queues=["tracking"], threads=1)
    with db.any_org_work():
        (pointer,) = rows.any_org_dispatch(queue="tracking", per_thread=1, share=1, lease_s=30)
    run_pointer(pointer)


def test_a_page_records_a_lead(shop, drain):
    answer = post_browser_lead(
        shop, slug=slug_of(shop).upper(), email=" Ada+x@Example.com ", name=" Ada 王 ", subId="Spring!"
    )
    drain()

    assert _told(answer) == OPAQUE
    assert shop.rows("select email, name, sub_id, method, state, external_event_id, is_test from lead") == [
        ("Ada+x@Example.com", "Ada 王", "spring", "lead_signup", "Open", None, False)
    ]
    assert shop.rows("select type, commission_cents, attribution_method, payability, source from conversion") == [
        ("LeadReward", 0, "lead_signup", "not_paid_on_campaign", "lead")
    ]
    assert shop.rows("select type from event") == [("conversion.created",)]


def test_a_lead_occurred_when_it_was_sent(shop, drain):
    before = shop.rows("select now()")[0][0]
    post_browser_lead(shop)
    after = shop.rows("select now()")[0][0]
    drain()

    ((occurred_at,),) = shop.rows("select occurred_at from lead")
    assert before <= occurred_at <= after


@pytest.mark.parametrize("content_type", ["text/plain", "text/plain;charset=UTF-8", "application/json", ""])
def test_what_a_browser_calls_the_body_does_not_matter(shop, drain, content_type):
    assert _told(post_browser_lead(shop, email="ada@example.com", content_type=content_type)) == OPAQUE
    drain()

    assert list_lead_emails(shop) == ["ada@example.com"]


@pytest.mark.parametrize(
    "fields",
    [
        {"email": "ada"},
        {"email": ...},
        {"email": ""},
        {"email": None},
        {"email": 7},
        {"email": "ada\0@example.com"},
        {"email": "a" * 10_000 + "@example.com"},
        {"slug": ...},
        {"slug": ""},
        {"slug": 10**18},
        {"slug": "ben\0"},
        {"slug": "of-nobody"},
        {"slug": "ben/../ben"},
        {"slug": "b" * 255},
        {"slug": "🎉"},
        {"name": "n" * 10_000},
        {"name": ["Ada"]},
        {"programId": "campaign-of-nobody"},
        {"programId": str(uuid4())},
        {"programId": -1},
        {"subId": 1},
    ],
)
def test_what_cannot_be_recorded_is_answered_alike(shop, drain, fields):
    assert _told(post_browser_lead(shop, **fields)) == OPAQUE
    drain()

    assert list_lead_emails(shop) == []


@pytest.mark.parametrize("status", ["Pending", "Rejected", "Paused", "Banned"])
def test_an_affiliate_who_is_not_approved_gets_no_lead(shop, drain, status):
    shop.rows("update affiliate set status = %s returning id", status)

    assert _told(post_browser_lead(shop)) == OPAQUE
    drain()
    assert list_lead_emails(shop) == []
    assert shop.rows("select count(*) from uncredited_conversion") == [(0,)]


@pytest.mark.parametrize("closed", ["is_active = false", "archived_at = now()", "suspended_at = now()"])
def test_a_closed_campaign_takes_no_lead(shop, drain, closed):
    shop.rows(f"update program set {closed} returning id")

    assert _told(post_browser_lead(shop)) == OPAQUE
    drain()
    assert list_lead_emails(shop) == []


def test_who_is_banned_between_request_and_job_gets_no_lead(shop):
    post_browser_lead(shop)
    _run_next()
    shop.rows("update affiliate set status = 'Banned' returning id")
    _run_next()

    assert list_lead_emails(shop) == []
    assert _staged() == []


def test_the_answer_is_the_same_to_the_header(shop, drain):
    post_browser_lead(shop, email="ada@example.com")
    drain()
    answers = [
        post_browser_lead(shop, email="ada@example.com"),
        post_browser_lead(shop),
        post_browser_lead(shop, slug="of-nobody"),
        post_browser_lead(shop, email="ada"),
    ]

    told = [
        (one.status_code, one.data, sorted((k, v) for k, v in one.headers if k != "X-Request-Id")) for one in answers
    ]
    assert told[1:] == told[:1] * 3


def test_the_request_asks_the_database_the_same_whoever_is_known(shop, drain):
    post_browser_lead(shop, email="ada@example.com")
    drain()
    trips = []
    hook = trips.append
    db.db.trip_hooks.append(hook)
    try:
        for fields in ({"email": "ada@example.com"}, {}, {"slug": "of-nobody"}):
            post_browser_lead(shop, **fields)
    finally:
        db.db.trip_hooks.remove(hook)

    assert len(trips) == 3  # one each: the job, with its commit
    assert not any(b"tracking_link" in trip or b"from lead" in trip for trip in trips)


def test_one_person_is_one_lead_across_pages_and_servers(shop, drain):
    post_browser_lead(shop, email="ada.l@gmail.com")
    post_browser_lead(shop, email="adal+x@googlemail.com")
    drain()
    signed_after = post_signed_lead(shop, affiliateSlug=slug_of(shop), email="ADA.L@gmail.com")
    post_signed_lead(shop, affiliateSlug=slug_of(shop), email="bob@example.com")
    post_browser_lead(shop, email="bob+y@example.com")
    drain()

    assert signed_after.json == {"ok": True, "deduped": True}
    assert shop.rows("select email_normalized from lead order by 1") == [("adal@gmail.com",), ("bob@example.com",)]
    assert shop.rows("select count(*) from event") == [(2,)]


def test_one_person_sent_many_times_at_once_is_one_lead(shop, drain):
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: _told(post_browser_lead(shop, email="ada@example.com")), range(8)))
    drain(deliveries=2)

    assert answers == [OPAQUE] * 8
    assert list_lead_emails(shop) == ["ada@example.com"]
    assert shop.rows("select count(*) from conversion") == [(1,)]


@pytest.mark.parametrize("name", ["id", "slug"])
def test_the_campaign_tells_apart_what_one_slug_stands_for(shop, drain, name):
    second = shop.program(slug=f"second-{shop.id}")
    shop.affiliate(slug_of(shop), program_id=second)
    told = {"id": str(second), "slug": f"second-{shop.id}"}[name]

    post_browser_lead(shop, programId=told)
    drain()

    assert shop.rows("select program_id from lead") == [(second,)]


def test_a_lead_is_its_brands_alone(shop, rival, drain):
    rival.program()
    rival.affiliate(slug_of(rival))

    post_browser_lead(shop, slug=slug_of(rival))
    drain()

    assert (list_lead_emails(shop), len(list_lead_emails(rival))) == ([], 1)


def test_an_affiliate_to_rehearse_with_has_test_leads(shop, drain):
    shop.rows("update affiliate set is_test = true returning id")

    post_browser_lead(shop)
    drain()

    assert shop.rows("select l.is_test, c.is_test from lead l join conversion c using (id)") == [(True, True)]


def test_a_waiting_job_does_not_show_whom_it_is_about(shop):
    # Words too long for the sealed bytes, written as text, to hold them by chance.
    post_browser_lead(shop, email="augusta.ada@example.com", name="Lovelace")

    ((name, args, fair_key, organization_id),) = _staged()
    assert (name, organization_id, fair_key) == ("lead.capture", None, f"lead {slug_of(shop)}")
    for word in ("augusta.ada", "augustaada", "example", "lovelace"):
        assert word not in args.lower()
    assert sorted(json.loads(args)) == ["at", "sealed"]


def test_lead_sealed_with_an_unknown_key_is_a_failed_job_after_an_hour(shop, drain):
    with db.any_org_work():
        work.enqueue(
            jobs.LEAD_CAPTURE,
            organization_id=None,
            sealed="AW5vbnNlbnNlIG9mIGFub3RoZXIga2V5IQ==",
            at="2026-01-01T00:00:00+00:00",
        )
    drain()
    databases.alter_any("update job set unknown_s = 3600, run_at = now()")
    with db.any_org_work():
        assert db.db.run("select failed_at is not null from job") == [(False,)]

    drain()

    with db.any_org_work():
        ((is_dead, error),) = db.db.run("select failed_at is not null, last_error from job")
    assert is_dead
    assert "does not open with this SECRET_KEY" in error


@pytest.mark.parametrize(
    "raw", [b"", b"[]", b"nonsense", b"\xff", b"slug=ben&email=ada@example.com", b'{"slug": "\\ud800"}']
)
def test_what_is_no_json_object_is_refused(shop, raw):
    answer = post_browser_lead(shop, raw)

    assert (answer.status_code, answer.json["error"]) == (400, "invalid_body")
    assert _staged() == []


def test_a_body_that_is_too_large_is_refused(shop):
    assert post_browser_lead(shop, b" " * 70_000).status_code == 413


def test_any_page_may_send_and_read(shop):
    asked = shop.app.test_client().options(
        BROWSER,
        headers={
            "Origin": "https://shop.example",
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "content-type",
        },
    )
    answer = post_browser_lead(shop)

    assert asked.status_code == 204
    assert "POST" in asked.headers["Access-Control-Allow-Methods"]
    assert "Content-Type" in asked.headers["Access-Control-Allow-Headers"]
    for one in (asked, answer):
        assert one.headers["Access-Control-Allow-Origin"] == "https://shop.example"
        assert "Access-Control-Allow-Credentials" not in one.headers


def test_a_page_needs_no_key_and_gets_nothing_for_one(shop, drain):
    answer = shop.post(BROWSER, {"slug": slug_of(shop), "email": "ada@example.com"})
    drain()

    assert _told(answer) == OPAQUE
    assert list_lead_emails(shop) == ["ada@example.com"]


def test_a_connected_gateway_leaves_the_pages_their_leads(shop, drain):
    shop.set(gateways="stripe")

    assert _told(post_browser_lead(shop, email="ada@example.com")) == OPAQUE
    drain()
    assert list_lead_emails(shop) == ["ada@example.com"]


def test_a_network_that_sends_too_many_gets_an_empty_429(shop, monkeypatch):
    few = settings.current().web.limits_per_min | {"anonymous_tracking": 1}
    monkeypatch.setitem(shop.app.extensions, "limiter", limits.Limiter(servers.urls().redis_url, few))

    answers = [post_browser_lead(shop), post_browser_lead(shop, slug="of-nobody")]

    assert _told(answers[0]) == OPAQUE
    assert _told(answers[1]) == (429, b"")
    assert answers[1].headers["Access-Control-Allow-Origin"] == "https://shop.example"


def test_without_the_broker_it_goes_on(shop, drain, monkeypatch):
    dead = "unix:///nowhere/valkey.sock?db=0"
    monkeypatch.setitem(shop.app.extensions, "waker", relay_waker.Waker(dead))
    monkeypatch.setitem(shop.app.extensions, "limiter", limits.Limiter(dead, settings.current().web.limits_per_min))

    answer = post_browser_lead(shop, email="ada@example.com")
    drain()

    assert _told(answer) == OPAQUE
    assert list_lead_emails(shop) == ["ada@example.com"]
