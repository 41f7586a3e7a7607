"""The history of imports. Source: core spec, "Shared import safeguards" (import history)."""

from uuid import uuid4

from tests.support.api import lists
from tests.support.api.import_requests import build_past_sale, import_sales

URL = "/api/v1/imports"


def _import_people(brand, *names):
    people = [{"email": f"{name}@example.com"} for name in names]
    return brand.post("/api/v1/affiliates/import", {"programId": str(brand.programs[-1]), "affiliates": people})


def test_both_kinds_of_imports_are_listed_newest_first(campaign):
    people = _import_people(campaign, "ann", "ben").json
    sales = import_sales(campaign, build_past_sale()).json

    page = campaign.get(URL).json

    assert [item["jobId"] for item in page["items"]] == [sales["jobId"], people["jobId"]]
    assert (page["hasMore"], page["nextCursor"]) == (False, None)
    shown = page["items"][1]
    assert shown | {"warnings": []} == people | {"createdAt": shown["createdAt"], "undoneAt": None}
    assert (page["items"][0]["kind"], shown["kind"]) == ("Conversions", "Affiliates")


def test_the_list_is_narrowed_by_kind_and_status(campaign):
    people = _import_people(campaign, "ann").json["jobId"]
    sales = import_sales(campaign, build_past_sale()).json["jobId"]
    campaign.person("Admin").post(f"/api/imports/{sales}/undo")

    def found(query):
        return [item["jobId"] for item in campaign.get(f"{URL}?{query}").json["items"]]

    assert (found("kind=Affiliates"), found("kind=Conversions")) == ([people], [sales])
    assert (found("status=Undone"), found("status=Completed")) == ([sales], [people])
    assert found("kind=Affiliates&status=Undone") == []
    assert [campaign.get(f"{URL}?{query}").status_code for query in ("kind=all", "status=")] == [400, 400]


def test_an_import_is_shown_by_its_id(campaign):
    job_id = import_sales(campaign, build_past_sale(externalId="1"), build_past_sale(externalId="1")).json["jobId"]

    shown = campaign.get(f"{URL}/{job_id}")

    assert shown.status_code == 200
    assert (shown.json["jobId"], shown.json["reasons"]) == (job_id, {"duplicate_in_batch": 1})


def test_pages_follow_each_other_without_a_gap(campaign):
    made = [import_sales(campaign, build_past_sale(externalId=str(number))).json["jobId"] for number in range(5)]

    seen, cursor = [], ""
    while cursor is not None:
        page = campaign.get(f"{URL}?take=2{cursor and f'&cursor={cursor}'}").json
        seen += [item["jobId"] for item in page["items"]]
        cursor = page["nextCursor"]

    assert seen == made[::-1]


def test_the_list_takes_its_own_cursors_and_no_other(campaign, rival):
    rival.program()
    for brand in (campaign, rival):
        for name in ("ann", "dan"):
            _import_people(brand, name)

    lists.assert_foreign_cursors_refused(campaign, URL, foreign=(rival, URL), other=(campaign, "/api/v1/affiliates"))


def test_imports_of_somebody_else_are_not_there(campaign, rival):
    rival.program()
    theirs = _import_people(rival, "ann").json["jobId"]

    for wanted in (theirs, uuid4(), "x"):
        answer = campaign.get(f"{URL}/{wanted}")
        assert (answer.status_code, answer.json["error"]) == (404, "not_found")
    assert campaign.get(URL).json["items"] == []


def test_who_may_read_the_history(campaign):
    assert campaign.other_key(scope="read").get(URL).status_code == 200
    campaign.set(plan="Free")
    assert campaign.get(URL).status_code == 402
    assert campaign.person("Viewer").get(URL).status_code == 200


def test_a_page_is_one_round_trip_whatever_its_length(campaign):
    viewer = campaign.person("Viewer")
    trips = []
    for number in range(6):
        import_sales(campaign, build_past_sale(externalId=str(number)))
        if number in (0, 5):
            viewer.get(URL)
            trips.append(lists.count_round_trips(lambda: viewer.get(URL)))

    assert trips[0] == trips[1]
