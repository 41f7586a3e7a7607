"""A brand from nothing: a campaign, an applicant who is approved, gets links and recruits another. HTTP only."""

import pytest

from tests.support.rows.brands import Partner
from tests.support.settings_overrides import override_settings


@pytest.fixture
def portals(monkeypatch):
    override_settings(monkeypatch, web={"portal_domain": "partners.test"})


@pytest.fixture
def campaign(brand):
    made = brand.person("Manager").post(
        "/api/v1/programs",
        {
            "name": "Spring",
            "slug": "spring",
            "defaultCommissionType": "Percentage",
            "defaultCommissionValue": 20,
            "referralDestinationUrl": "https://shop.example.com/?ref=home",
        },
    )
    assert made.status_code == 201
    config = brand.person("Owner").call(
        "PUT", f"/api/v1/programs/{made.json['id']}/sub-affiliate-config", {"enabled": True, "percent": 10}
    )
    assert config.status_code == 200
    return made.json


def _apply(brand, campaign, **application):
    return brand.app.test_client().post(f"/api/p/id/{campaign['id']}/apply", json=application)


def test_an_applicant_becomes_a_partner_who_recruits_another(brand, campaign, portals, drain):
    handle = brand.get("/api/organizations/me").json["subdomain"]
    shown = brand.app.test_client().get(f"/api/p/by-handle/{handle}/spring")
    assert shown.json["id"] == campaign["id"]

    rita, ben = (f"{name}-{brand.id.hex}@example.com" for name in ("rita", "ben"))  # other tests have theirs
    assert _apply(brand, campaign, email=rita, fullName="Rita").status_code == 200
    (waiting,) = brand.get("/api/v1/affiliates/applications").json
    assert (waiting["email"], waiting["status"]) == (rita, "Pending")

    approved = brand.person("Manager").post(f"/api/v1/affiliates/{waiting['id']}/approve", {})
    assert approved.json["status"] == "Approved"
    links = f"/api/v1/affiliates/{waiting['id']}/links"
    assert brand.post(links, {"customAlias": "rita-tv", "format": "Query"}).status_code == 201
    assert {link["slug"] for link in brand.get(links).json} >= {"rita-tv"}

    link = Partner(brand.app, rita).get(f"/api/v1/me/sub-affiliate/link?programId={campaign['id']}")
    assert link.status_code == 200, link.data
    token = link.json["url"].partition("recruited_by=")[2]
    assert _apply(brand, campaign, email=ben, fullName="Ben", recruitedBy=token).status_code == 200
    (recruit,) = brand.get("/api/v1/affiliates/applications").json
    brand.post(f"/api/v1/affiliates/{recruit['id']}/approve", {})

    slug = brand.get(f"/api/v1/affiliates/{recruit['id']}").json["links"][0]["slug"]
    assert brand.sale(affiliateSlug=slug, amountCents=10_000).status_code == 200
    drain()

    (mine,) = Partner(brand.app, rita).get("/api/v1/me/sub-affiliate/recruits").json["items"]
    assert (mine["email"], mine["totalCommissionGeneratedCents"], mine["overrideEarnedCents"]) == (
        ben,
        2_000,
        200,
    )


def test_a_manager_does_not_delete_the_campaign_and_an_owner_does(brand, campaign):
    path = f"/api/v1/programs/{campaign['id']}"

    assert brand.person("Manager").call("DELETE", path).status_code == 403
    assert brand.person("Owner").call("DELETE", path).status_code == 204
    assert brand.get(path).json["archivedAt"] is not None


def test_a_second_tenant_sees_nothing_of_it(brand, rival, campaign):
    for seen_by in (rival, rival.person("Owner")):
        assert seen_by.get("/api/v1/programs").json["items"] == []
        assert seen_by.get(f"/api/v1/programs/{campaign['id']}").status_code == 404
        assert seen_by.get("/api/v1/affiliates").json["items"] == []
        assert seen_by.call("PATCH", f"/api/v1/programs/{campaign['id']}", {"name": "mine"}).status_code == 404
