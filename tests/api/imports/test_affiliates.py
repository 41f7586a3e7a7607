"""The import of affiliates, through HTTP. Source: core spec, "Affiliates" (import body), shared import safeguards."""

import contextlib
import threading
import time
from uuid import uuid4

import pytest

from adapters import clock
from models import db, turns
from pipelines import mail
from pipelines.affiliates import affiliates
from schemas.affiliates.affiliate import AffiliateBody
from tests.support import draining
from tests.support.api.racing import at_once, begun

AFFILIATES = "/api/v1/affiliates"
URL = f"{AFFILIATES}/import"


@pytest.fixture
def campaign(brand):
    """The brand with one campaign, listening to every event."""
    brand.program()
    brand.endpoint("https://localhost/hook")
    return brand


def _import(brand, *rows, **fields):
    return brand.post(URL, {"programId": str(brand.programs[-1]), "affiliates": list(rows)} | fields)


def _row(name, **fields):
    return {"email": f"{name}@example.com"} | fields


def _links(brand):
    return brand.rows(
        "select split_part(a.email, '@', 1), l.slug, l.is_default from tracking_link l join affiliate a"
        " on a.id = l.affiliate_id where l.deleted_at is null order by 1, 3 desc"
    )


def _mails(brand):
    return brand.rows("select recipient from mail_message where kind = 'affiliate.imported' order by 1")


def test_rows_become_affiliates_with_their_slugs(campaign):
    answer = _import(
        campaign,
        _row("ann", fullName=" Ann 李 ", slug="ann-slug", walletEmail="Pay@Ann.example"),
        {"email": " BEN@Example.com "},
    )

    assert answer.status_code == 200
    assert answer.json == {
        "jobId": answer.json["jobId"],
        "status": "Completed",
        "kind": "Affiliates",
        "total": 2,
        "imported": 2,
        "skipped": 0,
        "errored": 0,
        "reasons": {},
    }
    ben, ann = campaign.get(AFFILIATES).json["items"]
    assert {ann["email"], ben["email"]} == {"ann@example.com", "ben@example.com"}
    if ann["email"] != "ann@example.com":
        ann, ben = ben, ann
    assert (ann["fullName"], ann["status"], ann["source"]) == ("Ann 李", "Approved", "Direct")
    assert ann["approvedAt"] == ann["createdAt"]
    assert [(link["slug"], link["isDefault"]) for link in ann["links"]] == [("ann-slug", True)]
    assert len(ben["links"]) == 1
    assert campaign.sale(affiliateSlug="Ann-Slug").status_code == 200
    assert campaign.rows("select email, email_normalized, wallet_email from affiliate order by 1") == [
        ("ann@example.com", "ann@example.com", "pay@ann.example"),
        ("ben@example.com", "ben@example.com", None),
    ]


def test_an_import_is_kept_as_a_job_and_audited(campaign):
    shown = _import(campaign, _row("ann"), _row("ann"), {"email": "x"}).json

    assert campaign.rows(
        "select id::text, kind, status, total, imported, skipped, errored, reasons, created_by is not null"
        " from import_job"
    ) == [(shown["jobId"], "Affiliates", "Completed", 3, 1, 2, 0, shown["reasons"], True)]
    assert campaign.rows("select entity_id, after from audit_entry where action = 'import_job.completed'") == [
        (shown["jobId"], shown)
    ]
    assert campaign.rows("select import_job_id::text from affiliate") == [(shown["jobId"],)]


def test_nobody_is_told_of_an_import(campaign):
    _import(campaign, _row("ann"), _row("ben"))

    assert campaign.rows("select count(*) from event") == [(0,)]
    assert campaign.rows("select count(*) from job") == [(0,)]


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ({}, "Approved"),
        ({"status": None}, "Approved"),
        ({"status": "approved"}, "Approved"),
        ({"status": " PENDING "}, "Pending"),
        ({"status": "Rejected"}, "Rejected"),
        ({"status": "paused"}, "Paused"),
        ({"status": "bANNED"}, "Banned"),
        ({"status": "active"}, "Pending"),
        ({"status": ""}, "Pending"),
        ({"status": "🙂"}, "Pending"),
    ],
)
def test_a_status_is_read_in_any_case_and_is_pending_when_unknown(campaign, sent, status):
    _import(campaign, _row("ann", **sent))

    (shown,) = campaign.get(AFFILIATES).json["items"]
    assert (shown["status"], shown["approvedAt"] is not None) == (status, status == "Approved")


def test_rows_that_cannot_be_taken_are_tallied_and_the_rest_is(campaign):
    campaign.affiliate("known")

    answer = _import(
        campaign,
        _row("known"),
        {"email": "KNOWN@example.com"},
        _row("ann"),
        {"email": "ANN@Example.com "},
        {"email": "no address"},
        {"email": "x" * 400 + "@example.com"},
        {"email": ""},
        {"email": "  "},
        {"email": None},
        {"fullName": "Nobody"},
        _row("paused", status="paused"),
        includeStatuses=["Approved"],
    )

    assert answer.status_code == 200
    assert answer.json["reasons"] == {
        "already_exists": 1,
        "duplicate_in_batch": 2,
        "invalid_email": 2,
        "missing_email": 4,
        "status_excluded": 1,
    }
    assert (answer.json["total"], answer.json["imported"], answer.json["skipped"], answer.json["errored"]) == (
        11,
        1,
        10,
        0,
    )


def test_a_row_that_was_excluded_does_not_shut_out_a_later_one(campaign):
    answer = _import(campaign, _row("ann", status="banned"), _row("ann"), includeStatuses=["approved", "PENDING"])

    assert (answer.json["imported"], answer.json["reasons"]) == (1, {"status_excluded": 1})


def test_an_import_again_skips_who_is_there(campaign):
    rows = [_row("ann", slug="ann-slug"), _row("ben")]
    _import(campaign, *rows)
    before = _links(campaign)

    again = _import(campaign, *rows)

    assert (again.json["imported"], again.json["reasons"]) == (0, {"already_exists": 2})
    assert _links(campaign) == before


def test_who_was_deleted_is_imported_again(campaign):
    affiliate_id = campaign.affiliate("ann")
    campaign.post(f"{AFFILIATES}/bulk-action", {"action": "delete", "affiliateIds": [str(affiliate_id)]})

    assert _import(campaign, _row("ann", slug="ann")).json["imported"] == 1
    assert _links(campaign) == [("ann", "ann", True)]


@pytest.mark.parametrize("slug", ["taken", "admin", "ab", "x" * 65, "no slug", "über", "", None])
def test_a_slug_that_cannot_be_kept_gets_a_fresh_one(campaign, slug):
    campaign.affiliate("taken")

    answer = _import(campaign, _row("ann", slug=slug))

    assert answer.json["imported"] == 1
    ((_, given, _),) = [link for link in _links(campaign) if link[0] == "ann"]
    assert given != slug
    assert len(given) == 8


def test_the_first_of_two_rows_keeps_their_slug(campaign):
    _import(campaign, _row("ann", slug="best"), _row("ben", slug="best"))

    assert [slug for name, slug, _ in _links(campaign) if name == "ann"] == ["best"]
    assert [slug == "best" for name, slug, _ in _links(campaign) if name == "ben"] == [False]


def test_a_person_keeps_their_slug_of_another_campaign_and_the_one_they_bring(campaign):
    campaign.affiliate("ann")
    campaign.program()

    _import(campaign, _row("ann", slug="ann-old"))

    program_id = campaign.programs[-1]
    assert campaign.rows(
        "select slug, is_default from tracking_link where program_id = %s order by 2 desc", program_id
    ) == [("ann", True), ("ann-old", False)]


def test_a_wallet_that_is_no_address_is_dropped(campaign):
    assert _import(campaign, _row("ann", walletEmail="not an address")).json["imported"] == 1
    assert campaign.rows("select wallet_email from affiliate") == [(None,)]


def test_a_test_key_imports_test_affiliates(campaign):
    tester = campaign.other_key(is_test=True)
    tester.programs = campaign.programs

    _import(tester, _row("ann"))

    assert campaign.get(AFFILIATES).json["items"][0]["isTest"] is True


def test_a_program_of_somebody_else_is_not_found(campaign, rival):
    for program_id in (rival.program(), uuid4()):
        answer = _import(campaign, _row("ann"), programId=str(program_id))

        assert (answer.status_code, answer.json["error"]) == (404, "program_not_found")
    assert rival.rows("select count(*) from affiliate") == [(0,)]


def test_a_thousand_rows_are_taken_and_one_more_is_not(campaign):
    rows = [_row(f"number-{number}", slug=f"slug-{number}") for number in range(1001)]

    refused = _import(campaign, *rows)
    taken = _import(campaign, *rows[:1000])

    assert (refused.status_code, refused.json["error"]) == (400, "row_cap_exceeded")
    assert (taken.status_code, taken.json["imported"]) == (200, 1000)
    assert campaign.rows("select count(*), count(distinct slug) from tracking_link") == [(1000, 1000)]


def test_a_body_over_four_megabytes_is_too_large(campaign):
    answer = campaign.post(URL, b'{"x": "' + b"x" * (4 * 1024 * 1024) + b'"}')

    assert (answer.status_code, answer.json["error"]) == (413, "payload_too_large")


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"programId": None}, "programId"),
        ({"programId": "x"}, "programId"),
        ({"affiliates": []}, "affiliates"),
        ({"affiliates": None}, "affiliates"),
        ({"affiliates": {}}, "affiliates"),
        ({"affiliates": "ann@example.com"}, "affiliates"),
        ({"includeStatuses": []}, "includeStatuses"),
        ({"includeStatuses": ["active"]}, "includeStatuses"),
        ({"includeStatuses": "approved"}, "includeStatuses"),
        ({"includeStatuses": [7]}, "includeStatuses"),
        ({"notifyAffiliates": 1}, "notifyAffiliates"),
        ({"notificationMessageHtml": 7}, "notificationMessageHtml"),
        ({"notificationMessageHtml": "nul\x00"}, "notificationMessageHtml"),
        ({"notificationMessageHtml": "x" * 20_001}, "notificationMessageHtml"),
    ],
)
def test_a_malformed_field_is_named_in_problem_details(campaign, fields, named):
    answer = _import(campaign, **({"affiliates": [_row("ann")]} | fields))

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert list(answer.json["errors"]) == [named]


@pytest.mark.parametrize(
    "row",
    [
        None,
        "ann@example.com",
        7,
        ["ann@example.com"],
        {"email": 10**18},
        {"email": ["ann@example.com"]},
        {"email": "nul\x00@example.com"},
        {"email": "a@b.test", "fullName": 7},
        {"email": "a@b.test", "fullName": "x" * 201},
        {"email": "a@b.test", "fullName": "nul\x00"},
        {"email": "a@b.test", "status": 1},
        {"email": "a@b.test", "walletEmail": {}},
        {"email": "a@b.test", "slug": 5},
        {"email": "a@b.test", "slug": "nul\x00"},
    ],
)
def test_a_row_of_wrong_types_is_named_by_its_place_and_nothing_is_written(campaign, row):
    answer = _import(campaign, _row("ann"), row)

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert list(answer.json["errors"]["affiliates"]) == ["1"]
    assert campaign.rows("select count(*) from affiliate") == [(0,)]
    assert campaign.rows("select count(*) from import_job") == [(0,)]


@pytest.mark.parametrize("raw", [b"", b"[]", b"null", b"{", b"\xff"])
def test_what_is_no_object_is_refused(campaign, raw):
    assert campaign.post(URL, raw).status_code == 400


def test_an_organization_imports_one_at_a_time(campaign, rival):
    rival.program()
    is_running, is_over = threading.Event(), threading.Event()

    def other_import():
        with db.unit_of_work(campaign.id):
            assert turns.try_import(campaign.id)
            is_running.set()
            is_over.wait(20)
        db.db.drop_connection()

    other = threading.Thread(target=other_import)
    other.start()
    is_running.wait(20)
    refused, elsewhere = _import(campaign, _row("ann")), _import(rival, _row("ann"))
    is_over.set()
    other.join()

    assert (refused.status_code, refused.json["error"]) == (409, "migration_already_in_progress")
    assert elsewhere.status_code == 200
    assert _import(campaign, _row("ann")).status_code == 200


def test_an_import_waits_for_somebody_who_is_joining(campaign):
    is_joining = threading.Event()
    wanted = AffiliateBody().load({"programId": str(campaign.programs[-1]), "email": "ann@example.com"})

    def join():
        with db.unit_of_work(campaign.id):
            affiliates.create(organization_id=campaign.id, wanted=wanted, is_test=False, now=clock.now())
            is_joining.set()
            time.sleep(0.5)
        db.db.drop_connection()

    joining = threading.Thread(target=join)
    joining.start()
    is_joining.wait(20)
    answer = _import(campaign, _row("ann"), _row("ben"))
    joining.join()

    assert (answer.status_code, answer.json["reasons"]) == (200, {"already_exists": 1})


def test_a_person_who_joins_while_they_are_imported_is_there_once(campaign):
    rows = [_row(f"number-{number}") for number in range(50)]
    body = {"programId": str(campaign.programs[-1]), "email": "number-7@example.com", "customAlias": "seven"}

    answers = at_once(lambda: _import(campaign, *rows), lambda: campaign.post(AFFILIATES, body))

    assert sorted(answer.status_code for answer in answers) in ([200, 201], [200, 409])
    assert campaign.rows("select count(*) from affiliate") == [(50,)]


def test_imports_that_share_slugs_in_another_order_wait_for_each_other(campaign, rival):
    campaign.affiliate("somebody")
    rival.program()
    names = [f"{letter}-{uuid4().hex[:8]}" for letter in "amz"]
    rows = [_row(name, slug=name) for name in names]

    with contextlib.suppress(ZeroDivisionError), db.unit_of_work(campaign.id):
        # Both come as far as this one's slug.
        db.db.run(
            "insert into tracking_link (id, organization_id, program_id, affiliate_id, slug, is_default)"
            " select gen_random_uuid(), organization_id, program_id, id, %s, false from affiliate returning id",
            (names[1],),
        )
        answers = [begun(lambda: _import(campaign, *rows)), begun(lambda: _import(rival, *rows[::-1]))]
        raise ZeroDivisionError

    assert [answer().json["imported"] for answer in answers] == [3, 3]


def test_a_repeated_request_with_a_key_gets_the_first_answer(campaign):
    body = {"programId": str(campaign.programs[-1]), "affiliates": [_row("ann")]}

    first = campaign.post(URL, body, Idempotency_Key="once")
    again = campaign.post(URL, body, Idempotency_Key="once")

    assert (again.status_code, again.json) == (200, first.json)
    assert campaign.rows("select count(*) from import_job") == [(1,)]


@pytest.mark.parametrize(
    ("plan", "status", "are_told"),
    [
        ("Growth", "Active", True),
        ("Pro", "Active", True),
        ("Starter", "Active", False),
        ("Growth", "Trialing", False),
        ("Pro", "PastDue", False),
    ],
)
def test_affiliates_are_told_on_growth_and_above_with_an_active_subscription(campaign, drain, plan, status, are_told):
    campaign.set(plan=plan, status=status)

    answer = _import(campaign, _row("ann"), _row("ben", status="banned"), {"email": "x"}, notifyAffiliates=True)

    drain()
    assert (answer.status_code, answer.json["imported"]) == (200, 2)
    assert _mails(campaign) == ([("ann@example.com",)] if are_told else [])


@pytest.mark.parametrize("flag", [{}, {"notifyAffiliates": False}, {"notifyAffiliates": None}])
def test_nobody_is_written_to_without_being_asked(campaign, drain, flag):
    _import(campaign, _row("ann"), **flag, notificationMessageHtml="<p>Hello</p>")
    drain()

    assert _mails(campaign) == []


def test_a_long_message_to_many_is_written_piece_by_piece_and_once_to_each(campaign):
    rows = [_row(f"number-{number:03}") for number in range(60)]
    trips = []

    db.db.trip_hooks.append(trips.append)
    _import(campaign, *rows, notifyAffiliates=True, notificationMessageHtml="é" * 20_000)
    largest_of_the_answer = max(map(len, trips))
    draining.drain(deliveries=2)
    db.db.trip_hooks.remove(trips.append)

    assert largest_of_the_answer < 500_000
    assert max(map(len, trips)) < 10_000_000
    assert _mails(campaign) == [(row["email"],) for row in rows]


def test_who_was_deleted_meanwhile_is_not_written_to(campaign, drain):
    _import(campaign, _row("ann"), _row("ben"), notifyAffiliates=True)
    (gone,) = [each["id"] for each in campaign.get(AFFILIATES).json["items"] if each["email"] == "ben@example.com"]
    campaign.post(f"{AFFILIATES}/bulk-action", {"affiliateIds": [gone], "action": "delete"})
    drain()

    assert _mails(campaign) == [("ann@example.com",)]


def test_what_the_brand_writes_is_sanitized(campaign, drain):
    _import(
        campaign,
        _row("ann"),
        notifyAffiliates=True,
        notificationMessageHtml='<p onclick="x()">Hi <b>all</b> &amp; you</p><script>x()</script>'
        '<a href="javascript:x()">y</a>',
    )
    drain()
    ((message_id,),) = campaign.rows("select id from mail_message")
    with db.any_org_work():
        opened = mail.any_org_open(message_id)

    assert opened.html.startswith("<p>Hi <b>all</b> &amp; you</p>")
    assert "script" not in opened.html
    assert "onclick" not in opened.html
    assert opened.text.startswith("Hi all & you")
