"""Leads from a brand's pages (tracking spec, "Browser lead capture"): the response is the same for every outcome."""

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


def _get_status_and_body(answer):
    return answer.status_code, answer.data


def _list_jobs():
    with db.any_org_work():
        return db.db.run("select name, args::text, fair_key, organization_id from job")


def _run_next():
    with db.any_org_work():
        processes.announce(process_id=ids.new_id(), queues=["tracking"], threads=1)
    with db.any_org_work():
        (pointer,) = rows.any_org_dispatch(queue="tracking", per_thread=1, share=1, lease_s=30)
    run_pointer(pointer)


def test_page_records_a_lead(shop, drain):
    answer = post_browser_lead(
        shop, slug=slug_of(shop).upper(), email=" Ada+x@Example.com ", name=" Ada 王 ", subId="Spring!"
    )
    drain()

    assert _get_status_and_body(answer) == OPAQUE
    assert shop.rows("select email, name, sub_id, method, state, external_event_id, is_test from lead") == [
        ("Ada+x@Example.com", "Ada 王", "spring", "lead_signup", "Open", None, False)
    ]
    assert shop.rows("select type, commission_cents, attribution_method, payability, source from conversion") == [
        ("LeadReward", 0, "lead_signup", "not_paid_on_campaign", "lead")
    ]
    assert shop.rows("select type from event") == [("conversion.created",)]


def test_lead_occurred_at_is_the_request_time(shop, drain):
    before = shop.rows("select now()")[0][0]
    post_browser_lead(shop)
    after = shop.rows("select now()")[0][0]
    drain()

    ((occurred_at,),) = shop.rows("select occurred_at from lead")
    assert before <= occurred_at <= after


@pytest.mark.parametrize("content_type", ["text/plain", "text/plain;charset=UTF-8", "application/json", ""])
def test_content_type_of_the_body_is_ignored(shop, drain, content_type):
    assert _get_status_and_body(post_browser_lead(shop, email="ada@example.com", content_type=content_type)) == OPAQUE
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
def test_invalid_lead_gets_the_same_response_as_a_valid_one(shop, drain, fields):
    assert _get_status_and_body(post_browser_lead(shop, **fields)) == OPAQUE
    drain()

    assert list_lead_emails(shop) == []


@pytest.mark.parametrize("status", ["Pending", "Rejected", "Paused", "Banned"])
def test_unapproved_affiliate_gets_no_lead(shop, drain, status):
    shop.rows("update affiliate set status = %s returning id", status)

    assert _get_status_and_body(post_browser_lead(shop)) == OPAQUE
    drain()
    assert list_lead_emails(shop) == []
    assert shop.rows("select count(*) from uncredited_conversion") == [(0,)]


@pytest.mark.parametrize("closed", ["is_active = false", "archived_at = now()", "suspended_at = now()"])
def test_closed_campaign_accepts_no_lead(shop, drain, closed):
    shop.rows(f"update program set {closed} returning id")

    assert _get_status_and_body(post_browser_lead(shop)) == OPAQUE
    drain()
    assert list_lead_emails(shop) == []


def test_affiliate_banned_between_request_and_job_gets_no_lead(shop):
    post_browser_lead(shop)
    _run_next()
    shop.rows("update affiliate set status = 'Banned' returning id")
    _run_next()

    assert list_lead_emails(shop) == []
    assert _list_jobs() == []


def test_response_headers_do_not_reveal_the_outcome(shop, drain):
    post_browser_lead(shop, email="ada@example.com")
    drain()
    answers = [
        post_browser_lead(shop, email="ada@example.com"),
        post_browser_lead(shop),
        post_browser_lead(shop, slug="of-nobody"),
        post_browser_lead(shop, email="ada"),
    ]

    responses = [
        (answer.status_code, answer.data, sorted((k, v) for k, v in answer.headers if k != "X-Request-Id"))
        for answer in answers
    ]
    assert responses[1:] == responses[:1] * 3


def test_request_runs_the_same_queries_for_known_and_unknown_people(shop, drain):
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


def test_person_is_one_lead_across_pages_and_servers(shop, drain):
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


def test_concurrent_copies_of_one_person_are_one_lead(shop, drain):
    with ThreadPoolExecutor(8) as pool:
        answers = list(
            pool.map(lambda _: _get_status_and_body(post_browser_lead(shop, email="ada@example.com")), range(8))
        )
    drain(deliveries=2)

    assert answers == [OPAQUE] * 8
    assert list_lead_emails(shop) == ["ada@example.com"]
    assert shop.rows("select count(*) from conversion") == [(1,)]


@pytest.mark.parametrize("name", ["id", "slug"])
def test_program_id_or_slug_selects_the_campaign_of_a_shared_slug(shop, drain, name):
    second = shop.program(slug=f"second-{shop.id}")
    shop.affiliate(slug_of(shop), program_id=second)
    program_ref = {"id": str(second), "slug": f"second-{shop.id}"}[name]

    post_browser_lead(shop, programId=program_ref)
    drain()

    assert shop.rows("select program_id from lead") == [(second,)]


def test_lead_belongs_to_the_brand_of_its_slug(shop, rival, drain):
    rival.program()
    rival.affiliate(slug_of(rival))

    post_browser_lead(shop, slug=slug_of(rival))
    drain()

    assert (list_lead_emails(shop), len(list_lead_emails(rival))) == ([], 1)


def test_test_affiliate_gets_test_leads(shop, drain):
    shop.rows("update affiliate set is_test = true returning id")

    post_browser_lead(shop)
    drain()

    assert shop.rows("select l.is_test, c.is_test from lead l join conversion c using (id)") == [(True, True)]


def test_queued_job_does_not_reveal_the_person(shop):
    # Words too long to occur in the encoded sealed bytes by chance.
    post_browser_lead(shop, email="augusta.ada@example.com", name="Lovelace")

    ((name, args, fair_key, organization_id),) = _list_jobs()
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
    databases.run_for_all_tenants("update job set unknown_s = 3600, run_at = now()")
    with db.any_org_work():
        assert db.db.run("select failed_at is not null from job") == [(False,)]

    drain()

    with db.any_org_work():
        ((is_dead, error),) = db.db.run("select failed_at is not null, last_error from job")
    assert is_dead
    assert "cannot be read with this SECRET_KEY" in error


@pytest.mark.parametrize(
    "raw", [b"", b"[]", b"nonsense", b"\xff", b"slug=ben&email=ada@example.com", b'{"slug": "\\ud800"}']
)
def test_non_object_body_returns_invalid_body(shop, raw):
    answer = post_browser_lead(shop, raw)

    assert (answer.status_code, answer.json["error"]) == (400, "invalid_body")
    assert _list_jobs() == []


def test_body_over_the_limit_returns_413(shop):
    assert post_browser_lead(shop, b" " * 70_000).status_code == 413


def test_any_origin_may_send_and_read(shop):
    preflight = shop.app.test_client().options(
        BROWSER,
        headers={
            "Origin": "https://shop.example",
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "content-type",
        },
    )
    answer = post_browser_lead(shop)

    assert preflight.status_code == 204
    assert "POST" in preflight.headers["Access-Control-Allow-Methods"]
    assert "Content-Type" in preflight.headers["Access-Control-Allow-Headers"]
    for response in (preflight, answer):
        assert response.headers["Access-Control-Allow-Origin"] == "https://shop.example"
        assert "Access-Control-Allow-Credentials" not in response.headers


def test_page_needs_no_key_and_a_key_changes_nothing(shop, drain):
    answer = shop.post(BROWSER, {"slug": slug_of(shop), "email": "ada@example.com"})
    drain()

    assert _get_status_and_body(answer) == OPAQUE
    assert list_lead_emails(shop) == ["ada@example.com"]


def test_browser_leads_are_accepted_with_a_connected_gateway(shop, drain):
    shop.set(gateways="stripe")

    assert _get_status_and_body(post_browser_lead(shop, email="ada@example.com")) == OPAQUE
    drain()
    assert list_lead_emails(shop) == ["ada@example.com"]


def test_rate_limited_network_gets_an_empty_429(shop, monkeypatch):
    low_limits = settings.current().web.limits_per_min | {"anonymous_tracking": 1}
    monkeypatch.setitem(shop.app.extensions, "limiter", limits.Limiter(servers.urls().redis_url, low_limits))

    answers = [post_browser_lead(shop), post_browser_lead(shop, slug="of-nobody")]

    assert _get_status_and_body(answers[0]) == OPAQUE
    assert _get_status_and_body(answers[1]) == (429, b"")
    assert answers[1].headers["Access-Control-Allow-Origin"] == "https://shop.example"


def test_lead_is_recorded_while_the_broker_is_down(shop, drain, monkeypatch):
    unreachable_url = "unix:///nowhere/valkey.sock?db=0"
    monkeypatch.setitem(shop.app.extensions, "waker", relay_waker.Waker(unreachable_url))
    monkeypatch.setitem(
        shop.app.extensions, "limiter", limits.Limiter(unreachable_url, settings.current().web.limits_per_min)
    )

    answer = post_browser_lead(shop, email="ada@example.com")
    drain()

    assert _get_status_and_body(answer) == OPAQUE
    assert list_lead_emails(shop) == ["ada@example.com"]
