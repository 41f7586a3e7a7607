"""The record of a campaign coupon says where it is minted, by whom it was created and how many codes are in force."""

import pytest

from tests.support.api.agents import Agent
from tests.support.coupons import create_coupon, mint_code
from tests.support.gateways.gateway_connections import connect_gateway, play_gateway
from tests.support.rows.brands import Brand


@pytest.fixture
def shop(app):
    with play_gateway() as stage:
        brand = Brand.create(app, plan="Pro")
        brand.program()
        connect_gateway(brand.person("Owner"), stage)
        yield brand


def _shown(brand, coupon_id):
    """Return the record as each operation shows it."""
    url = f"/api/v1/campaigns/{brand.programs[0]}/coupons"
    yield brand.get(f"{url}/{coupon_id}").json
    yield next(row for row in brand.get(url).json["items"] if row["id"] == coupon_id)
    yield next(row for row in brand.get("/api/v1/campaign-coupons").json["items"] if row["id"] == coupon_id)
    yield brand.call("PATCH", f"{url}/{coupon_id}", {"name": "Other"}).json
    yield Agent(brand).call("get_campaign_coupon", programId=str(brand.programs[0]), couponId=coupon_id)


def test_a_coupon_shows_its_processor_its_creator_and_its_codes(shop):
    made = create_coupon(shop)
    (key_owner,) = shop.rows("select member_id from api_key")[0]
    assert (made["processor"], made["createdBy"], made["mintedCodeCount"]) == ("stripe", str(key_owner), 0)
    ann, ben = (shop.affiliate(f"{name}-{shop.id.hex[:12]}") for name in ("ann", "ben"))
    mint_code(shop, ann, made["id"])
    revoked = mint_code(shop, ben, made["id"])
    assert shop.call("DELETE", f"/api/v1/affiliates/{ben}/coupons/{revoked['id']}").status_code == 204

    for record in _shown(shop, made["id"]):
        assert (record["processor"], record["createdBy"], record["mintedCodeCount"]) == ("stripe", str(key_owner), 1)

    archived = shop.post(f"/api/v1/campaigns/{shop.programs[0]}/coupons/{made['id']}/archive").json
    assert (archived["processor"], archived["mintedCodeCount"]) == ("stripe", 0)


def test_a_coupon_of_a_person_names_its_member(shop):
    made = create_coupon(shop.person("Admin", email="ada@example.com"))

    ((ada,),) = shop.rows("select id from member where email = 'ada@example.com'")
    assert made["createdBy"] == str(ada)
