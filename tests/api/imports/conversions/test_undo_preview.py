"""Preview of an undo."""

from uuid import uuid4

from tests.support.api.import_requests import build_past_sale, build_person_row, import_people, import_sales
from tests.support.rows.program_rows import insert_conversion

URL = "/api/imports"


def _preview_undo(brand, imported, role="Admin"):
    return brand.person(role).get(f"{URL}/{imported.json['jobId']}/undo")


def test_preview_lists_removed_rows_and_amounts(campaign):
    imported = import_sales(
        campaign,
        build_past_sale(),
        build_past_sale(currency="EUR", commissionCents=7),
        build_past_sale(externalId="paid", paid=True),
        confirmUnpaidPayout=True,
    )
    import_sales(campaign, build_past_sale(externalId="other"), confirmUnpaidPayout=True)

    answer = _preview_undo(campaign, imported)

    assert answer.status_code == 200
    assert answer.json == {
        "jobId": imported.json["jobId"],
        "status": "Completed",
        "kind": "Conversions",
        "isPossible": True,
        "wouldRemove": 3,
        "wouldKeep": 0,
        "takenBack": [
            {"currency": "EUR", "commissionCents": 7, "count": 1},
            {"currency": "USD", "commissionCents": 2_000, "count": 1},
        ],
        "heldBack": {"refunded": 0, "overridden": 0, "paid": 0, "switch": 0},
    }
    assert campaign.rows("select count(*) from conversion") == [(4,)]


def test_preview_names_the_same_obstacles_as_the_undo(campaign):
    imported = import_sales(
        campaign, build_past_sale(externalId="1"), build_past_sale(externalId="2"), confirmUnpaidPayout=True
    )
    campaign.rows("update conversion set refunded_cents = 1 where external_event_id = '2' returning id")

    preview = _preview_undo(campaign, imported).json
    refused = campaign.person("Admin").post(f"{URL}/{imported.json['jobId']}/undo")

    assert (preview["isPossible"], preview["heldBack"]) == (
        False,
        {"refunded": 1, "overridden": 0, "paid": 0, "switch": 0},
    )
    assert (refused.status_code, refused.json["reasons"]) == (409, {"refunded": 1})


def test_preview_keeps_used_affiliates(campaign):
    imported = import_people(campaign, build_person_row("ann"), build_person_row("bea"))
    ann = campaign.rows("select id from affiliate where email = 'ann@example.com'")[0][0]
    insert_conversion(campaign, ann)

    preview = _preview_undo(campaign, imported).json

    assert (preview["wouldRemove"], preview["wouldKeep"], preview["isPossible"], preview["takenBack"]) == (
        1,
        1,
        True,
        [],
    )


def test_undone_import_cannot_be_undone_again(campaign):
    imported = import_sales(campaign, build_past_sale(), confirmUnpaidPayout=True)
    campaign.person("Admin").post(f"{URL}/{imported.json['jobId']}/undo")

    preview = _preview_undo(campaign, imported).json

    assert (preview["status"], preview["isPossible"], preview["wouldRemove"], preview["takenBack"]) == (
        "Undone",
        False,
        0,
        [],
    )


def test_preview_needs_the_permission_to_undo(campaign, rival):
    imported = import_sales(campaign, build_past_sale())
    address = f"{URL}/{imported.json['jobId']}/undo"

    answers = [
        campaign.person("Manager").get(address),
        campaign.get(address),
        rival.person("Admin").get(address),
        campaign.person("Admin").get(f"{URL}/{uuid4()}/undo"),
        campaign.person("Admin").get(f"{URL}/latest/undo"),
    ]

    assert [answer.status_code for answer in answers] == [403, 403, 404, 404, 404]
