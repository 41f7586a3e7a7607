"""The list of affiliates, through HTTP."""

from datetime import UTC, datetime
from uuid import UUID

import orjson
import pytest

from tests.support.api.lists import assert_foreign_cursors_refused, count_round_trips

URL = "/api/v1/affiliates"


@pytest.fixture
def campaign(brand):
    """Return the brand with one campaign."""
    brand.program()
    return brand


def test_list_pages_through_all_affiliates_newest_first(campaign, rival):
    ids = [str(campaign.affiliate(slug)) for slug in ("ann", "ben", "cleo", "dan", "eve")]
    rival.program()
    rival.affiliate("ben")

    first = campaign.get(f"{URL}?take=2").json
    second = campaign.get(f"{URL}?take=2&cursor={first['nextCursor']}").json
    skipped = campaign.get(f"{URL}?take=2&skip=2").json
    skipped_and_paged = campaign.get(f"{URL}?take=1&skip=1&cursor={second['nextCursor']}").json

    assert [item["id"] for item in first["items"] + second["items"]] == ids[:0:-1]
    assert skipped["items"] == second["items"]
    assert [item["id"] for item in skipped_and_paged["items"]] == ids[:1]
    assert (skipped_and_paged["hasMore"], skipped_and_paged["nextCursor"]) == (False, None)


def test_list_is_filtered_by_program(campaign, rival):
    affiliate_id = str(campaign.affiliate("ann"))
    other_program = campaign.program()
    campaign.affiliate("ben", program_id=other_program)
    rival_program = rival.program()
    rival.affiliate("cleo")

    listed = campaign.get(f"{URL}?programId={campaign.programs[0]}").json

    assert [item["id"] for item in listed["items"]] == [affiliate_id]
    assert campaign.get(f"{URL}?programId={rival_program}").json["items"] == []


def test_page_has_fifty_rows_and_at_most_two_hundred(campaign):
    ids = [str(campaign.affiliate(f"number-{number}")) for number in range(201)]

    default_page, largest_page = campaign.get(URL).json, campaign.get(f"{URL}?take=201").json

    assert [item["id"] for item in default_page["items"]] == ids[:150:-1]
    assert [item["id"] for item in largest_page["items"]] == ids[:0:-1]
    assert (default_page["hasMore"], largest_page["hasMore"]) == (True, True)


def test_deleted_affiliate_is_not_listed(campaign):
    affiliate_id = campaign.affiliate("ann", deleted_at=datetime.now(UTC))

    assert campaign.get(f"{URL}/{affiliate_id}").status_code == 404
    assert campaign.get(URL).json["items"] == []


@pytest.mark.parametrize(
    "query", ["take=0", "take=x", "skip=-1", "skip=x", "skip=99999999999999999999", "programId=x", "cursor=x"]
)
def test_invalid_query_is_refused(campaign, query):
    answer = campaign.get(f"{URL}?{query}")

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")


def test_cursor_of_another_list_is_refused(campaign, rival):
    rival.program()
    for owner in (campaign, rival):
        owner.program()
        owner.affiliate("ann")
        owner.affiliate("ben")

    assert_foreign_cursors_refused(campaign, URL, foreign=(rival, URL), other=(campaign, "/api/v1/programs"))


def test_round_trips_do_not_grow_with_affiliates(campaign):
    campaign.affiliate("ann")
    trips_before = count_round_trips(lambda: campaign.get(URL))
    for number in range(9):
        campaign.affiliate(f"number-{number}")

    assert count_round_trips(lambda: campaign.get(URL)) == trips_before


@pytest.mark.parametrize("affiliate_id", ["nonsense", str(UUID(int=0)), str(UUID(int=5)).replace("-", "")])
def test_malformed_id_returns_404(campaign, affiliate_id):
    answer = campaign.get(f"{URL}/{affiliate_id}")

    assert (answer.status_code, answer.json["error"]) == (404, "not_found")


@pytest.mark.parametrize("formats", [("Short", "Short", "Short"), ("Query", "Short", "Path")], ids=["short", "long"])
def test_list_item_equals_single_affiliate_json(campaign, formats):
    """PostgreSQL renders the list, Python a single affiliate: keys, their order and values must be equal."""
    campaign.rows("update program set referral_destination_url = 'https://shop.example/?a=1#top'")
    ann = campaign.affiliate(
        "ann",
        full_name='Ann "Äpfel" \\ \t日本 </script>\x7f',
        tags=["a,b", 'quo"te', "ü"],
        custom_commission_type="Percentage",
        custom_commission_value="12.500000",
        created_at=datetime(2026, 3, 1, 12, 0, 0, 123999, tzinfo=UTC),
        application_data={"b": [1, 2.5, None], "a": "é"},
    )
    ben = campaign.affiliate("ben", custom_commission_type="Fixed", custom_commission_value="300")
    for slug, format in zip(("ann-tips", "ann-more", "ann-path"), formats, strict=True):
        assert campaign.post(f"{URL}/{ann}/links", {"customAlias": slug, "format": format}).status_code == 201
    assert campaign.post(f"{URL}/{ben}/links", {"customAlias": "ben-tips"}).status_code == 201
    without_links = campaign.affiliate("cleo")
    campaign.rows(
        "update tracking_link set deleted_at = now(), is_default = false where affiliate_id = %s", without_links
    )

    for caller in (campaign, campaign.person("Owner")):
        listed = orjson.loads(caller.get(URL).data)["items"]
        single = [orjson.loads(caller.get(f"{URL}/{id}").data) for id in (without_links, ben, ann)]

        assert orjson.dumps(sorted(listed, key=_id_of)) == orjson.dumps(sorted(single, key=_id_of))
    assert [len(affiliate["links"]) for affiliate in sorted(listed, key=_id_of)] == [4, 2, 0]


def test_page_with_a_long_link_costs_two_more_round_trips(campaign):
    url = f"{URL}?take=2"
    ann, *_ = [campaign.affiliate(slug) for slug in ("ann", "ben", "cleo")]
    campaign.get(url)
    trips_with_short_links = count_round_trips(lambda: campaign.get(url))

    campaign.rows("update program set referral_destination_url = 'https://shop.example/'")
    assert campaign.post(f"{URL}/{ann}/links", {"customAlias": "ann-tips", "format": "Query"}).status_code == 201

    assert count_round_trips(lambda: campaign.get(url)) == trips_with_short_links  # ann is on the next page
    assert count_round_trips(lambda: campaign.get(f"{URL}?take=3")) == trips_with_short_links + 2


def _id_of(affiliate):
    return affiliate["id"]
