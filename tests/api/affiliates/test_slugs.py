"""Assignment of slugs to affiliates, also under concurrent requests, through HTTP."""

import pytest

from pipelines.affiliates import enrollment
from tests.support.api.concurrency import run_concurrently

URL = "/api/v1/affiliates"


def _create(brand, **fields):
    body = {"programId": str(brand.programs[-1]), "email": "ada@example.com"} | fields
    return brand.post(URL, {name: value for name, value in body.items() if value is not ...})


def _list_events(brand):
    return [
        (type, body["data"])
        for type, body in brand.rows("select type, body::jsonb from event order by created_at, type desc")
    ]


@pytest.fixture
def campaign(brand):
    """Return the brand with one campaign and an endpoint for every event."""
    brand.program()
    brand.endpoint("https://localhost/hook")
    return brand


def test_concurrent_creations_create_one_affiliate(campaign):
    answers = run_concurrently(lambda: _create(campaign), lambda: _create(campaign))

    assert sorted(answer.status_code for answer in answers) == [201, 409]
    assert campaign.rows("select count(*) from affiliate") == [(1,)]


def test_joining_two_campaigns_concurrently_gives_one_slug(campaign):
    first, second = campaign.programs[-1], campaign.program()

    answers = run_concurrently(*(lambda id=id: _create(campaign, programId=str(id)) for id in (first, second)))

    assert [answer.status_code for answer in answers] == [201, 201]
    assert len({answer.json["links"][0]["slug"] for answer in answers}) == 1


def test_concurrent_requests_for_one_alias_leave_one_winner(campaign):
    answers = run_concurrently(
        *(lambda email=email: _create(campaign, email=email, customAlias="best") for email in ("a@x.test", "b@x.test"))
    )

    assert sorted(answer.status_code for answer in answers) == [201, 409]


def test_alias_becomes_the_slug_of_the_default_link(campaign):
    affiliate = _create(campaign, customAlias="ada-tips").json

    assert [(link["slug"], link["customAlias"], link["isDefault"]) for link in affiliate["links"]] == [
        ("ada-tips", "ada-tips", True)
    ]
    assert campaign.sale(affiliateSlug="ADA-tips").status_code == 200


def test_taken_alias_is_refused_and_nothing_is_written(campaign):
    campaign.affiliate("ben")
    campaign.program()

    answer = _create(campaign, customAlias="ben")

    assert (answer.status_code, answer.json["error"]) == (409, "alias_already_taken")
    assert campaign.rows("select count(*) from affiliate where email = 'ada@example.com'") == [(0,)]
    assert _list_events(campaign) == []


def test_alias_is_available_in_another_organization(campaign, rival):
    rival.program()
    rival.affiliate("ben")

    assert _create(campaign, customAlias="ben").status_code == 201


def test_default_slug_is_the_same_in_every_campaign(campaign):
    first = _create(campaign).json["links"][0]["slug"]
    campaign.program()

    second = _create(campaign).json

    assert [link["slug"] for link in second["links"]] == [first]


def test_alias_of_affiliate_with_a_slug_creates_a_second_link(campaign):
    first = _create(campaign, customAlias="ada").json["links"][0]["slug"]
    campaign.program()

    second = _create(campaign, customAlias="ada-two").json

    assert [(link["slug"], link["customAlias"], link["isDefault"]) for link in second["links"]] == [
        (first, None, True),
        ("ada-two", "ada-two", False),
    ]
    assert campaign.get(f"{URL}/{second['id']}").json == second


def test_taken_random_slug_is_replaced_by_another(campaign, monkeypatch):
    campaign.affiliate("taken222")
    letters = iter("taken222free3333")
    monkeypatch.setattr(enrollment.secrets, "choice", lambda _: next(letters))

    assert _create(campaign).json["links"][0]["slug"] == "free3333"
