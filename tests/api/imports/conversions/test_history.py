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
    affiliates_job = page["items"][1]
    assert affiliates_job | {"warnings": []} == people | {"createdAt": affiliates_job["createdAt"], "undoneAt": None}
    assert (page["items"][0]["kind"], affiliates_job["kind"]) == ("Conversions", "Affiliates")


def test_list_filters_by_kind_and_status(campaign):
    people = _import_people(campaign, "ann").json["jobId"]
    sales = import_sales(campaign, build_past_sale()).json["jobId"]
    campaign.person("Admin").post(f"/api/imports/{sales}/undo")

    def list_ids(query):
        return [item["jobId"] for item in campaign.get(f"{URL}?{query}").json["items"]]

    assert (list_ids("kind=Affiliates"), list_ids("kind=Conversions")) == ([people], [sales])
    assert (list_ids("status=Undone"), list_ids("status=Completed")) == ([sales], [people])
    assert list_ids("kind=Affiliates&status=Undone") == []
    assert [campaign.get(f"{URL}?{query}").status_code for query in ("kind=all", "status=")] == [400, 400]


def test_import_is_returned_by_id(campaign):
    job_id = import_sales(campaign, build_past_sale(externalId="1"), build_past_sale(externalId="1")).json["jobId"]

    answer = campaign.get(f"{URL}/{job_id}")

    assert answer.status_code == 200
    assert (answer.json["jobId"], answer.json["reasons"]) == (job_id, {"duplicate_in_batch": 1})


def test_pages_list_every_import_once(campaign):
    created = [import_sales(campaign, build_past_sale(externalId=str(number))).json["jobId"] for number in range(5)]

    seen, cursor = [], ""
    while cursor is not None:
        page = campaign.get(f"{URL}?take=2{cursor and f'&cursor={cursor}'}").json
        seen += [item["jobId"] for item in page["items"]]
        cursor = page["nextCursor"]

    assert seen == created[::-1]


def test_list_refuses_foreign_cursors(campaign, rival):
    rival.program()
    for brand in (campaign, rival):
        for name in ("ann", "dan"):
            _import_people(brand, name)

    lists.assert_foreign_cursors_refused(campaign, URL, foreign=(rival, URL), other=(campaign, "/api/v1/affiliates"))


def test_other_tenants_imports_return_404(campaign, rival):
    rival.program()
    rival_job_id = _import_people(rival, "ann").json["jobId"]

    for job_id in (rival_job_id, uuid4(), "x"):
        answer = campaign.get(f"{URL}/{job_id}")
        assert (answer.status_code, answer.json["error"]) == (404, "not_found")
    assert campaign.get(URL).json["items"] == []


def test_history_needs_a_paid_plan_with_a_key_and_a_viewer_at_the_dashboard(campaign):
    assert campaign.other_key(scope="read").get(URL).status_code == 200
    campaign.set(plan="Free")
    assert campaign.get(URL).status_code == 402
    assert campaign.person("Viewer").get(URL).status_code == 200


def test_page_takes_the_same_round_trips_at_any_length(campaign):
    viewer = campaign.person("Viewer")
    trips = []
    for number in range(6):
        import_sales(campaign, build_past_sale(externalId=str(number)))
        if number in (0, 5):
            viewer.get(URL)
            trips.append(lists.count_round_trips(lambda: viewer.get(URL)))

    assert trips[0] == trips[1]
