"""Links of an affiliate: clicks, creation and deletion. Source: core spec, section 8 "Limits"."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from models import db
from tests.support.api.concurrency import run_concurrently
from tests.support.rows.brands import Partner

URL = "/api/me/links"


def _build_link_body(person, **more):
    return {"programId": str(person.first.brand.programs[-1])} | more


def _create_click(payroll, slug, *, sub_id=None, at=None, **columns):
    values = {
        "id": uuid4(),
        "organization_id": payroll.brand.id,
        "program_id": payroll.brand.programs[-1],
        "affiliate_id": payroll.affiliates["rita"],
        "slug": slug,
        "sub_id": sub_id,
        "occurred_at": at or datetime.now(UTC),
    } | columns
    names, marks = ", ".join(values), ", ".join(["%s"] * len(values))
    payroll.execute(f"insert into click ({names}) values ({marks})", *values.values())


def test_all_links_are_listed_with_their_urls(rita, stranger):
    links = rita.get(URL)

    assert [(link["slug"], link["isDefault"], link["affiliateStatus"]) for link in links] == [
        ("rita", True, "Approved")
    ] * 2
    assert {link["programId"] for link in links} == {str(p.brand.programs[-1]) for p in (rita.first, rita.second)}
    assert len({link["url"] for link in links}) == 2
    assert stranger.get(URL).json == []


def test_clicks_of_the_last_thirty_days_are_counted_by_link(rita):
    for _ in range(2):
        _create_click(rita.first, "rita")
    _create_click(rita.first, "rita", is_duplicate=True)
    _create_click(rita.first, "rita", outcome="blocked")
    _create_click(rita.first, "rita", at=datetime.now(UTC) - timedelta(days=31))

    clicks = {link["programId"]: link["clicks30d"] for link in rita.get(URL)}
    assert clicks == {str(rita.first.brand.programs[-1]): 2, str(rita.second.brand.programs[-1]): 0}


def test_link_is_created_used_and_deleted(rita):
    answer = rita.partner.post(URL, _build_link_body(rita, customAlias="rita-tv"))
    assert (answer.status_code, answer.json["slug"], answer.json["isDefault"]) == (201, "rita-tv", False)
    rita.first.sell("rita-tv")
    assert len(rita.get("/api/me/conversions")["items"]) == 1

    link_id = answer.json["id"]
    assert rita.partner.call("DELETE", f"{URL}/{link_id}").status_code == 204
    assert [link["slug"] for link in rita.get(URL)] == ["rita", "rita"]
    assert rita.partner.call("DELETE", f"{URL}/{link_id}").status_code == 404


def test_brands_audit_log_names_who_created_and_deleted_a_link(rita):
    link_id = rita.partner.post(URL, _build_link_body(rita)).json["id"]
    rita.partner.call("DELETE", f"{URL}/{link_id}")

    assert rita.first.brand.rows(
        "select action, actor_label from audit_entry where entity_id = %s order by created_at, id", link_id
    ) == [("tracking_link.created", rita.email), ("tracking_link.deleted", rita.email)]


def test_more_than_twenty_links_are_refused(rita):
    for _ in range(19):
        assert rita.partner.post(URL, _build_link_body(rita)).status_code == 201

    answer = rita.partner.post(URL, _build_link_body(rita))
    assert (answer.status_code, answer.json["error"]) == (409, "link_limit_reached")


def test_concurrent_links_stay_within_the_limit(rita):
    for _ in range(18):
        rita.partner.post(URL, _build_link_body(rita))

    codes = run_concurrently(*[lambda: rita.partner.post(URL, _build_link_body(rita)).status_code] * 2)
    assert sorted(codes) == [201, 409]


def test_repeated_idempotency_key_creates_one_link(rita):
    first, repeated = (rita.partner.post(URL, _build_link_body(rita), Idempotency_Key="one") for _ in range(2))

    assert first.json == repeated.json
    assert len(rita.get(URL)) == 3


def test_default_link_cannot_be_deleted(rita):
    (link, _) = rita.get(URL)

    answer = rita.partner.call("DELETE", f"{URL}/{link['id']}")
    assert (answer.status_code, answer.json["error"]) == (409, "default_link_required")


def test_alias_of_another_affiliate_is_refused(rita):
    answer = rita.partner.post(URL, _build_link_body(rita, customAlias="ben"))

    assert answer.status_code in (400, 409)
    assert len(rita.get(URL)) == 2


@pytest.mark.parametrize("status", ["Pending", "Paused", "Banned", "Rejected"])
def test_unapproved_affiliate_cannot_create_links(rita, status):
    rita.first.execute("update affiliate set status = %s where id = %s", status, rita.first.affiliates["rita"])

    answer = rita.partner.post(URL, _build_link_body(rita))
    assert (answer.status_code, answer.json["error"]) == (403, "affiliate_not_active")


def test_program_of_others_returns_404(rita, stranger, rival):
    rival_program = str(rival.program())

    assert rita.partner.post(URL, {"programId": rival_program}).status_code == 404
    assert stranger.post(URL, _build_link_body(rita)).status_code == 404
    assert rita.partner.post(URL, {"programId": str(uuid4())}).status_code == 404


def test_other_affiliates_link_cannot_be_deleted(rita, stranger):
    link_id = rita.partner.post(URL, _build_link_body(rita)).json["id"]
    with db.unit_of_work(rita.first.brand.id):
        ((bens_link_id,),) = db.db.run(
            "select id from tracking_link where affiliate_id = %s", (rita.first.affiliates["ben"],)
        )

    assert stranger.call("DELETE", f"{URL}/{link_id}").status_code == 404
    assert rita.partner.call("DELETE", f"{URL}/{bens_link_id}").status_code == 404
    assert rita.partner.call("DELETE", f"{URL}/not-an-id").status_code == 404
    assert len(rita.get(URL)) == 3


@pytest.mark.parametrize(
    "body",
    [
        {},
        [],
        b"no",
        {"programId": None},
        {"programId": 7},
        {"programId": "x"},
        {"customAlias": 5},
        {"customAlias": "a\x00b"},
        {"customAlias": "x" * 500},
        {"customAlias": "Schön"},
        {"format": "Gold"},
    ],
)
def test_malformed_link_returns_400_and_creates_none(rita, body):
    payload = body if not isinstance(body, dict) or "programId" in body or not body else _build_link_body(rita, **body)

    assert rita.partner.post(URL, payload).status_code == 400
    assert len(rita.get(URL)) == 2


def test_unverified_email_returns_403(app, rita):
    assert Partner(app, rita.email, is_email_verified=False).post(URL, _build_link_body(rita)).status_code == 403
