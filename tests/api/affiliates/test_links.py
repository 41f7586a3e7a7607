"""The links of one affiliate, through HTTP. Source: core spec, "Affiliate" (tracking link), section 8 "Limits"."""

import re
from uuid import uuid4

import pytest

import settings
from tests.support.api.concurrency import run_concurrently

AFFILIATES = "/api/v1/affiliates"


@pytest.fixture
def campaign(brand):
    """Return the brand with one campaign and its affiliate ben."""
    brand.program()
    brand.affiliate("ben")
    return brand


def _url(brand, slug="ben"):
    ((affiliate_id,),) = brand.rows("select affiliate_id from tracking_link where slug = %s", slug)
    return f"{AFFILIATES}/{affiliate_id}/links"


def _list_audited_actions(brand):
    return brand.rows(
        "select action, entity_id from audit_entry where action like 'tracking_link.%%' order by created_at"
    )


def test_new_link_is_short_and_has_a_random_slug(campaign):
    answer = campaign.post(_url(campaign), {})

    link = answer.json
    assert answer.status_code == 201
    assert set(link) == {"id", "affiliateId", "slug", "customAlias", "isDefault", "format", "url", "createdAt"}
    assert re.fullmatch(r"[a-hj-km-np-z2-9]{8}", link["slug"])
    assert (link["customAlias"], link["isDefault"], link["format"]) == (None, False, "Short")
    assert link["url"] == f"{settings.current().web.url}/r/{link['slug']}"
    assert _list_audited_actions(campaign) == [("tracking_link.created", link["id"])]
    assert campaign.sale(affiliateSlug=link["slug"]).status_code == 200


def test_new_link_needs_no_body(campaign):
    assert campaign.post(_url(campaign)).status_code == 201


def test_alias_becomes_the_slug(campaign):
    link = campaign.post(_url(campaign), {"customAlias": "ben-tips"}).json

    assert (link["slug"], link["customAlias"]) == ("ben-tips", "ben-tips")


@pytest.mark.parametrize(
    ("format", "url"),
    [
        ("Query", "https://shop.test/a?x=1&via=ben-tips#top"),
        ("Path", "https://shop.test/a/via/ben-tips?x=1#top"),
        ("Hash", "https://shop.test/a?x=1#top&via=ben-tips"),
    ],
)
def test_other_link_formats_are_urls_of_the_promoted_site(brand, format, url):
    brand.program(referral_destination_url="https://shop.test/a?x=1#top")
    brand.affiliate("ben")

    link = brand.post(_url(brand), {"customAlias": "ben-tips", "format": format}).json

    assert (link["format"], link["url"]) == (format, url)
    assert brand.get(_url(brand)).json[1] == link


def test_links_are_a_flat_array_with_the_default_one_first(campaign):
    first, second = (campaign.post(_url(campaign), {"customAlias": alias}).json for alias in ("ben-a", "ben-b"))

    listed = campaign.get(_url(campaign)).json

    assert [(link["slug"], link["isDefault"]) for link in listed[:1]] == [("ben", True)]
    assert listed[1:] == [first, second]
    assert campaign.get(_url(campaign).removesuffix("/links")).json["links"] == listed


@pytest.mark.parametrize("alias", ["ann", "ben"])
def test_taken_alias_is_refused(campaign, alias):
    campaign.affiliate("ann")

    answer = campaign.post(_url(campaign), {"customAlias": alias})

    assert (answer.status_code, answer.json["error"]) == (409, "alias_already_taken")
    assert len(campaign.get(_url(campaign)).json) == 1


def test_concurrent_requests_for_one_alias_leave_one_winner(campaign):
    campaign.affiliate("ann")
    urls = [_url(campaign, slug) for slug in ("ann", "ben")]

    answers = run_concurrently(*(lambda url=url: campaign.post(url, {"customAlias": "best"}) for url in urls))

    assert sorted(answer.status_code for answer in answers) == [201, 409]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"customAlias": "Ben"}, "customAlias"),
        ({"customAlias": "ab"}, "customAlias"),
        ({"customAlias": "x" * 65}, "customAlias"),
        ({"customAlias": "ben 🙂"}, "customAlias"),
        ({"customAlias": "ben\x00"}, "customAlias"),
        ({"customAlias": "admin"}, "customAlias"),
        ({"customAlias": 10**18}, "customAlias"),
        ({"format": "short"}, "format"),
        ({"format": 1}, "format"),
    ],
)
def test_malformed_field_is_named_in_problem_details(campaign, body, field):
    answer = campaign.post(_url(campaign), body)

    assert (answer.status_code, list(answer.json["errors"])) == (400, [field])


@pytest.mark.parametrize("raw", [b"[]", b"null", b"{", b"\xff"])
def test_non_object_body_returns_400(campaign, raw):
    assert campaign.post(_url(campaign), raw).status_code == 400


def test_sale_model_allows_twenty_links(campaign):
    url = _url(campaign)
    for _ in range(18):
        assert campaign.post(url, {}).status_code == 201

    answers = run_concurrently(*[lambda: campaign.post(url, {})] * 3)

    assert sorted(answer.status_code for answer in answers) == [201, 409, 409]
    assert {answer.json["error"] for answer in answers if answer.status_code == 409} == {"link_limit_reached"}
    assert len(campaign.get(url).json) == 20


def test_deleted_link_makes_room_for_another(campaign):
    url = _url(campaign)
    ids = [campaign.post(url, {}).json["id"] for _ in range(19)]

    assert campaign.post(url, {}).status_code == 409
    assert campaign.call("DELETE", f"{url}/{ids[0]}").status_code == 204
    assert campaign.post(url, {}).status_code == 201


@pytest.mark.parametrize("model", ["Cpc", "Cpl"])
def test_other_models_allow_one_link(brand, model):
    brand.program(default_commission_model=model, default_commission_type="Fixed")
    brand.affiliate("ben")

    answer = brand.post(_url(brand), {})

    assert (answer.status_code, answer.json["error"]) == (409, "link_limit_reached")


def test_deleted_link_credits_nothing_and_is_not_listed(campaign):
    link = campaign.post(_url(campaign), {"customAlias": "ben-tips"}).json

    answer = campaign.call("DELETE", f"{_url(campaign)}/{link['id']}")

    assert (answer.status_code, answer.data) == (204, b"")
    assert [link["slug"] for link in campaign.get(_url(campaign)).json] == ["ben"]
    assert campaign.sale(affiliateSlug="ben-tips").status_code == 400
    assert _list_audited_actions(campaign)[1:] == [("tracking_link.deleted", link["id"])]
    assert campaign.call("DELETE", f"{_url(campaign)}/{link['id']}").status_code == 404


def test_default_link_cannot_be_deleted(campaign):
    url = _url(campaign)

    answer = campaign.call("DELETE", f"{url}/{campaign.get(url).json[0]['id']}")

    assert (answer.status_code, answer.json["error"]) == (409, "default_link_required")
    assert len(campaign.get(url).json) == 1


def test_links_of_other_affiliates_return_404(campaign, rival):
    rival.program()
    rival.affiliate("theirs")
    campaign.affiliate("ann")
    rivals_url, anns_link_id = _url(rival, "theirs"), campaign.get(_url(campaign, "ann")).json[0]["id"]

    assert campaign.get(rivals_url).status_code == 404
    assert campaign.post(rivals_url, {"format": "wrong"}).status_code == 404
    for path in (
        f"{rivals_url}/{rival.get(rivals_url).json[0]['id']}",
        f"{_url(campaign)}/{anns_link_id}",
        f"{_url(campaign)}/{uuid4()}",
        f"{_url(campaign)}/x",
        f"{AFFILIATES}/x/links/{anns_link_id}",
    ):
        answer = campaign.call("DELETE", path)

        assert (answer.status_code, answer.json["error"]) == (404, "not_found"), path


def test_repeated_idempotency_key_creates_one_link(campaign):
    first = campaign.post(_url(campaign), {}, Idempotency_Key="once")
    repeated = campaign.post(_url(campaign), {}, Idempotency_Key="once")

    assert (repeated.status_code, repeated.json) == (201, first.json)
    assert len(campaign.get(_url(campaign)).json) == 2
