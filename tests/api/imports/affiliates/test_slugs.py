"""Slugs of affiliates imported from another service. Source: core spec, "Affiliates" (import body, slug)."""

import pytest

from tests.support.api.import_requests import AFFILIATES_IMPORT, build_person_row, import_people
from tests.support.rows.leads import slug_of

PREVIEW = f"{AFFILIATES_IMPORT}/preview"


def _post_preview(brand, *rows):
    body = {"programId": str(brand.programs[-1]), "affiliates": list(rows)}
    return brand.post(PREVIEW, body).json


def _list_slugs(brand, name):
    return brand.rows(
        "select l.slug, l.is_default, l.custom_alias from tracking_link l join affiliate a on a.id = l.affiliate_id"
        " where a.email = %s and l.deleted_at is null order by l.is_default desc",
        f"{name}@example.com",
    )


@pytest.mark.parametrize(
    ("slug", "code", "new"),
    [
        ("taken", "slug_taken", "taken-2"),
        ("admin", "slug_reserved", None),
        ("jo", "slug_invalid", "jo-2"),
        ("x" * 65, "slug_invalid", "x" * 48),
        ("jane doe", "slug_invalid", "jane-doe"),
        ("über", "slug_invalid", "uber"),
    ],
)
def test_unavailable_slug_is_replaced_with_a_warning(campaign, slug, code, new):
    campaign.affiliate("taken")

    preview = _post_preview(campaign, build_person_row("ann", slug=slug))
    imported = import_people(campaign, build_person_row("ann", slug=slug)).json

    (warning,) = preview["rows"][0]["warnings"]
    assert (warning["code"], warning["value"]) == (code, slug)
    assert new in (None, warning["replacement"])
    assert warning["replacement"] in warning["message"]
    assert imported["warnings"] == [warning | {"index": 0, "line": None}]
    job = campaign.get(f"/api/v1/imports/{imported['jobId']}").json
    assert (job["warnings"], job["warningCount"]) == (imported["warnings"], 1)
    (listed,) = campaign.get("/api/v1/imports").json["items"]
    assert (listed["warningCount"], "warnings" in listed) == (1, False)
    assert _list_slugs(campaign, "ann") == [(warning["replacement"], True, None)]


def test_slug_with_foreign_characters_works_as_an_alias(campaign, drain):
    former = slug_of(campaign).replace("-", "_")  # no other brand has it

    (warning,) = import_people(campaign, build_person_row("ann", slug=former.upper())).json["warnings"]

    new = former.replace("_", "-")[:48]
    assert (warning["code"], warning["value"], warning["replacement"]) == ("slug_is_alias", former, new)
    assert _list_slugs(campaign, "ann") == [(new, True, None), (former, False, former)]
    for slug in (former, new):
        assert campaign.sale(affiliateSlug=slug).status_code == 200
    click = campaign.app.test_client().get(f"/api/v1/track/click?slug={former}&programId={campaign.programs[-1]}")
    assert click.json.get("clickId"), click.json


def test_alias_of_another_affiliate_is_taken(campaign):
    import_people(campaign, build_person_row("ann", slug="jane_doe"))

    (warning,) = import_people(campaign, build_person_row("ben", slug="jane_doe")).json["warnings"]

    assert (warning["code"], warning["replacement"]) == ("slug_taken", "jane-doe-2")
    assert _list_slugs(campaign, "ben") == [("jane-doe-2", True, None)]


def test_number_of_another_affiliate_is_taken(campaign):
    campaign.affiliate("54830", email="ann@example.com", email_normalized="ann@example.com")

    (warning,) = import_people(campaign, build_person_row("ben", slug="54830")).json["warnings"]

    assert (warning["code"], warning["value"]) == ("slug_taken", "54830")


def test_own_number_is_kept_in_another_campaign_without_a_warning(campaign):
    campaign.affiliate("54830", email="ann@example.com", email_normalized="ann@example.com")
    campaign.program()

    imported = import_people(campaign, build_person_row("ann", slug="54830")).json

    assert (imported["imported"], imported["warnings"]) == (1, [])
    assert [slug for slug, _, _ in _list_slugs(campaign, "ann")] == ["54830", "54830"]


@pytest.mark.parametrize("slug", ["jane_doe.", "jané", "jane+doe", "12345", "admin", "jo"])
def test_warning_does_not_claim_that_links_with_the_former_slug_lead_nowhere(campaign, slug):
    # Links are read up to the first character that no slug has, so these may lead to another affiliate.
    (warning,) = import_people(campaign, build_person_row("ann", slug=slug)).json["warnings"]

    assert f"replace links that contain {slug}" in warning["message"].lower()


def test_existing_affiliate_keeps_their_slug_and_the_new_one_is_warned_of(campaign):
    campaign.affiliate("ann")
    campaign.affiliate("taken")
    campaign.program()

    imported = import_people(campaign, build_person_row("ann", slug="taken")).json

    assert [(warning["code"], warning["replacement"]) for warning in imported["warnings"]] == [("slug_taken", "ann")]
    assert [slug for slug, _, _ in _list_slugs(campaign, "ann")] == ["ann", "ann"]  # one in each campaign


def test_replacement_slug_avoids_slugs_of_other_rows(campaign):
    rows = [
        build_person_row("ann", slug="jane_doe"),
        build_person_row("ben", slug="jane-doe"),
        build_person_row("cy", slug="jane.doe"),
    ]

    preview = _post_preview(campaign, *rows)
    imported = import_people(campaign, *rows).json

    assert [_list_slugs(campaign, name)[0][0] for name in ("ann", "ben", "cy")] == [
        "jane-doe-2",
        "jane-doe",
        "jane-doe-3",
    ]
    warnings = [warning for row in preview["rows"] for warning in row["warnings"]]
    assert [warning["replacement"] for warning in warnings] == [
        warning["replacement"] for warning in imported["warnings"]
    ]


def test_rejected_rows_have_no_warnings(campaign):
    campaign.affiliate("ann")

    preview = _post_preview(campaign, build_person_row("ann", slug="jane_doe"), {"email": "x", "slug": "jo"})

    assert [row["warnings"] for row in preview["rows"]] == [[], []]


def test_unknown_status_and_invalid_wallet_address_are_warned_of(campaign):
    row = build_person_row("ann", status="Actve", walletEmail="nowhere")

    (preview,) = _post_preview(campaign, row)["rows"]
    imported = import_people(campaign, row, build_person_row("ben", status=None, walletEmail=" ")).json

    assert [(warning["code"], warning["value"], warning["replacement"]) for warning in preview["warnings"]] == [
        ("unknown_status", "Actve", "Pending"),
        ("invalid_wallet_email", None, None),
    ]
    assert [warning["code"] for warning in imported["warnings"]] == ["unknown_status", "invalid_wallet_email"]
