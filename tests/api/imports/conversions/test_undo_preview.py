"""The look at what taking an import back would do."""

from uuid import uuid4

from tests.support.api.import_requests import build_past_sale, build_person_row, import_people, import_sales
from tests.support.rows.program_rows import insert_conversion

URL = "/api/imports"


def _look(brand, made, role="Admin"):
    return brand.person(role).get(f"{URL}/{made.json['jobId']}/undo")


def test_it_says_what_goes_and_what_is_owed_no_longer(campaign):
    made = import_sales(
        campaign,
        build_past_sale(),
        build_past_sale(currency="EUR", commissionCents=7),
        build_past_sale(externalId="paid", paid=True),
        confirmUnpaidPayout=True,
    )
    import_sales(campaign, build_past_sale(externalId="other"), confirmUnpaidPayout=True)

    answer = _look(campaign, made)

    assert answer.status_code == 200
    assert answer.json == {
        "jobId": made.json["jobId"],
        "status": "Completed",
        "kind": "Conversions",
        "isPossible": True,
        "wouldRemove": 3,
        "wouldKeep": 0,
        "takenBack": [
            {"currency": "EUR", "commissionCents": 7, "count": 1},
            {"currency": "USD", "commissionCents": 2_000, "count": 1},
        ],
        "heldBack": {"refunded": 0, "overridden": 0, "paid": 0},
    }
    assert campaign.rows("select count(*) from conversion") == [(4,)]


def test_it_says_what_holds_it_back_as_the_undoing_does(campaign):
    made = import_sales(
        campaign, build_past_sale(externalId="1"), build_past_sale(externalId="2"), confirmUnpaidPayout=True
    )
    campaign.rows("update conversion set refunded_cents = 1 where external_event_id = '2' returning id")

    seen = _look(campaign, made).json
    refused = campaign.person("Admin").post(f"{URL}/{made.json['jobId']}/undo")

    assert (seen["isPossible"], seen["heldBack"]) == (False, {"refunded": 1, "overridden": 0, "paid": 0})
    assert (refused.status_code, refused.json["reasons"]) == (409, {"refunded": 1})


def test_affiliates_who_were_used_would_stay(campaign):
    made = import_people(campaign, build_person_row("ann"), build_person_row("bea"))
    ann = campaign.rows("select id from affiliate where email = 'ann@example.com'")[0][0]
    insert_conversion(campaign, ann)

    seen = _look(campaign, made).json

    assert (seen["wouldRemove"], seen["wouldKeep"], seen["isPossible"], seen["takenBack"]) == (1, 1, True, [])


def test_what_was_undone_cannot_be_undone_again(campaign):
    made = import_sales(campaign, build_past_sale(), confirmUnpaidPayout=True)
    campaign.person("Admin").post(f"{URL}/{made.json['jobId']}/undo")

    seen = _look(campaign, made).json

    assert (seen["status"], seen["isPossible"], seen["wouldRemove"], seen["takenBack"]) == ("Undone", False, 0, [])


def test_it_is_for_whoever_may_undo(campaign, rival):
    made = import_sales(campaign, build_past_sale())
    address = f"{URL}/{made.json['jobId']}/undo"

    answers = [
        campaign.person("Manager").get(address),
        campaign.get(address),
        rival.person("Admin").get(address),
        campaign.person("Admin").get(f"{URL}/{uuid4()}/undo"),
        campaign.person("Admin").get(f"{URL}/latest/undo"),
    ]

    assert [answer.status_code for answer in answers] == [403, 403, 404, 404, 404]
