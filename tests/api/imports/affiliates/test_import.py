"""The import of affiliates, through HTTP. Source: core spec, "Affiliates" (import body), shared import safeguards."""

from uuid import uuid4

import pytest

from tests.support.api.import_requests import AFFILIATES, AFFILIATES_IMPORT, build_person_row, import_people


def _list_links(brand):
    return brand.rows(
        "select split_part(a.email, '@', 1), l.slug, l.is_default from tracking_link l join affiliate a"
        " on a.id = l.affiliate_id where l.deleted_at is null order by 1, 3 desc"
    )


def test_rows_become_affiliates_with_their_slugs(campaign):
    answer = import_people(
        campaign,
        build_person_row("ann", fullName=" Ann 李 ", slug="ann-slug", walletEmail="Pay@Ann.example"),
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
        "warningCount": 0,
        "source": None,
        "switchId": None,
        "warnings": [],
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


def test_import_is_stored_as_a_job_and_audited(campaign):
    job = import_people(campaign, build_person_row("ann"), build_person_row("ann"), {"email": "x"}).json

    assert campaign.rows(
        "select id::text, kind, status, total, imported, skipped, errored, reasons, created_by is not null"
        " from import_job"
    ) == [(job["jobId"], "Affiliates", "Completed", 3, 1, 2, 0, job["reasons"], True)]
    assert campaign.rows("select entity_id, after from audit_entry where action = 'import_job.completed'") == [
        (job["jobId"], {name: value for name, value in job.items() if name != "warnings"})
    ]
    assert campaign.rows("select import_job_id::text from affiliate") == [(job["jobId"],)]


def test_import_emits_no_event_and_no_job(campaign):
    import_people(campaign, build_person_row("ann"), build_person_row("ben"))

    assert campaign.rows("select count(*) from event") == [(0,)]
    assert campaign.rows("select count(*) from job") == [(0,)]


@pytest.mark.parametrize(
    ("fields", "status"),
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
def test_status_is_case_insensitive_and_pending_when_unknown(campaign, fields, status):
    import_people(campaign, build_person_row("ann", **fields))

    (affiliate,) = campaign.get(AFFILIATES).json["items"]
    assert (affiliate["status"], affiliate["approvedAt"] is not None) == (status, status == "Approved")


def test_invalid_rows_are_counted_by_reason_and_the_rest_imported(campaign):
    campaign.affiliate("known")

    answer = import_people(
        campaign,
        build_person_row("known"),
        {"email": "KNOWN@example.com"},
        build_person_row("ann"),
        {"email": "ANN@Example.com "},
        {"email": "no address"},
        {"email": "x" * 400 + "@example.com"},
        {"email": ""},
        {"email": "  "},
        {"email": None},
        {"fullName": "Nobody"},
        build_person_row("paused", status="paused"),
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


def test_excluded_row_does_not_make_a_later_one_a_duplicate(campaign):
    answer = import_people(
        campaign,
        build_person_row("ann", status="banned"),
        build_person_row("ann"),
        includeStatuses=["approved", "PENDING"],
    )

    assert (answer.json["imported"], answer.json["reasons"]) == (1, {"status_excluded": 1})


def test_repeated_import_skips_existing_affiliates(campaign):
    rows = [build_person_row("ann", slug="ann-slug"), build_person_row("ben")]
    import_people(campaign, *rows)
    before = _list_links(campaign)

    again = import_people(campaign, *rows)

    assert (again.json["imported"], again.json["reasons"]) == (0, {"already_exists": 2})
    assert _list_links(campaign) == before


def test_deleted_affiliate_is_imported_again(campaign):
    affiliate_id = campaign.affiliate("ann")
    campaign.post(f"{AFFILIATES}/bulk-action", {"action": "delete", "affiliateIds": [str(affiliate_id)]})

    assert import_people(campaign, build_person_row("ann", slug="ann")).json["imported"] == 1
    assert _list_links(campaign) == [("ann", "ann", True)]


@pytest.mark.parametrize("slug", ["", None])
def test_row_without_slug_gets_random_one(campaign, slug):
    answer = import_people(campaign, build_person_row("ann", slug=slug))

    assert (answer.json["imported"], answer.json["warnings"]) == (1, [])
    ((_, slug_given, _),) = _list_links(campaign)
    assert len(slug_given) == 8


def test_first_row_keeps_a_slug_that_two_rows_name(campaign):
    import_people(campaign, build_person_row("ann", slug="best"), build_person_row("ben", slug="best"))

    assert [slug for name, slug, _ in _list_links(campaign) if name == "ann"] == ["best"]
    assert [slug == "best" for name, slug, _ in _list_links(campaign) if name == "ben"] == [False]


def test_affiliate_of_another_campaign_keeps_both_slugs(campaign):
    campaign.affiliate("ann")
    campaign.program()

    import_people(campaign, build_person_row("ann", slug="ann-old"))

    program_id = campaign.programs[-1]
    assert campaign.rows(
        "select slug, is_default from tracking_link where program_id = %s order by 2 desc", program_id
    ) == [("ann", True), ("ann-old", False)]


def test_invalid_wallet_address_is_dropped(campaign):
    assert import_people(campaign, build_person_row("ann", walletEmail="not an address")).json["imported"] == 1
    assert campaign.rows("select wallet_email from affiliate") == [(None,)]


def test_import_with_a_test_key_creates_test_affiliates(campaign):
    tester = campaign.other_key(is_test=True)
    tester.programs = campaign.programs

    import_people(tester, build_person_row("ann"))

    assert campaign.get(AFFILIATES).json["items"][0]["isTest"] is True


def test_other_tenants_program_returns_404(campaign, rival):
    for program_id in (rival.program(), uuid4()):
        answer = import_people(campaign, build_person_row("ann"), programId=str(program_id))

        assert (answer.status_code, answer.json["error"]) == (404, "program_not_found")
    assert rival.rows("select count(*) from affiliate") == [(0,)]


def test_more_than_a_thousand_rows_are_refused(campaign):
    rows = [build_person_row(f"number-{number}", slug=f"slug-{number}") for number in range(1001)]

    refused = import_people(campaign, *rows)
    accepted = import_people(campaign, *rows[:1000])

    assert (refused.status_code, refused.json["error"]) == (400, "row_cap_exceeded")
    assert (accepted.status_code, accepted.json["imported"]) == (200, 1000)
    assert campaign.rows("select count(*), count(distinct slug) from tracking_link") == [(1000, 1000)]


def test_body_over_four_megabytes_returns_413(campaign):
    answer = campaign.post(AFFILIATES_IMPORT, b'{"x": "' + b"x" * (4 * 1024 * 1024) + b'"}')

    assert (answer.status_code, answer.json["error"]) == (413, "payload_too_large")


@pytest.mark.parametrize(
    ("fields", "field"),
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
def test_malformed_field_is_named_in_problem_details(campaign, fields, field):
    answer = import_people(campaign, **({"affiliates": [build_person_row("ann")]} | fields))

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert list(answer.json["errors"]) == [field]


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
        {"email": "a@b.test", "status": 1},
        {"email": "a@b.test", "walletEmail": {}},
        {"email": "a@b.test", "slug": 5},
        {"email": "a@b.test", "slug": "nul\x00"},
    ],
)
def test_wrongly_typed_row_is_named_by_index_and_nothing_is_written(campaign, row):
    answer = import_people(campaign, build_person_row("ann"), row)

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert list(answer.json["errors"]["affiliates"]) == ["1"]
    assert campaign.rows("select count(*) from affiliate") == [(0,)]
    assert campaign.rows("select count(*) from import_job") == [(0,)]


@pytest.mark.parametrize("raw", [b"", b"[]", b"null", b"{", b"\xff"])
def test_non_object_body_returns_400(campaign, raw):
    assert campaign.post(AFFILIATES_IMPORT, raw).status_code == 400
