"""A new brand over HTTP only: a campaign, an applicant who is approved, gets links and recruits another affiliate."""

import pytest

from tests.support.rows.brands import Partner
from tests.support.settings_overrides import override_settings


@pytest.fixture
def portals(monkeypatch):
    override_settings(monkeypatch, web={"portal_domain": "partners.test"})


@pytest.fixture
def campaign(brand):
    response = brand.person("Manager").post(
        "/api/v1/programs",
        {
            "name": "Spring",
            "slug": "spring",
            "defaultCommissionType": "Percentage",
            "defaultCommissionValue": 20,
            "referralDestinationUrl": "https://shop.example.com/?ref=home",
        },
    )
    assert response.status_code == 201
    config = brand.person("Owner").call(
        "PUT", f"/api/v1/programs/{response.json['id']}/sub-affiliate-config", {"enabled": True, "percent": 10}
    )
    assert config.status_code == 200
    return response.json


def _apply(brand, campaign, **application):
    return brand.app.test_client().post(f"/api/p/id/{campaign['id']}/apply", json=application)


def test_approved_applicant_recruits_another_affiliate(brand, campaign, portals, drain):
    handle = brand.get("/api/organizations/me").json["subdomain"]
    page = brand.app.test_client().get(f"/api/p/by-handle/{handle}/spring")
    assert page.json["id"] == campaign["id"]

    rita, ben = (f"{name}-{brand.id.hex}@example.com" for name in ("rita", "ben"))  # unique per test
    assert _apply(brand, campaign, email=rita, fullName="Rita").status_code == 200
    (application,) = brand.get("/api/v1/affiliates/applications").json
    assert (application["email"], application["status"]) == (rita, "Pending")

    approved = brand.person("Manager").post(f"/api/v1/affiliates/{application['id']}/approve", {})
    assert approved.json["status"] == "Approved"
    links = f"/api/v1/affiliates/{application['id']}/links"
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

    (recruit_row,) = Partner(brand.app, rita).get("/api/v1/me/sub-affiliate/recruits").json["items"]
    assert (recruit_row["email"], recruit_row["totalCommissionGeneratedCents"], recruit_row["overrideEarnedCents"]) == (
        ben,
        2_000,
        200,
    )


def test_campaign_is_deleted_by_an_owner_only(brand, campaign):
    path = f"/api/v1/programs/{campaign['id']}"

    assert brand.person("Manager").call("DELETE", path).status_code == 403
    assert brand.person("Owner").call("DELETE", path).status_code == 204
    assert brand.get(path).json["archivedAt"] is not None


def test_other_tenant_cannot_see_the_campaign(brand, rival, campaign):
    for client in (rival, rival.person("Owner")):
        assert client.get("/api/v1/programs").json["items"] == []
        assert client.get(f"/api/v1/programs/{campaign['id']}").status_code == 404
        assert client.get("/api/v1/affiliates").json["items"] == []
        assert client.call("PATCH", f"/api/v1/programs/{campaign['id']}", {"name": "mine"}).status_code == 404
