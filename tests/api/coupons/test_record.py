"""A campaign coupon shows its processor, its creator and the number of its active codes."""

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


def _read_records(brand, coupon_id):
    """Yield the coupon as each operation returns it."""
    url = f"/api/v1/campaigns/{brand.programs[0]}/coupons"
    yield brand.get(f"{url}/{coupon_id}").json
    yield next(row for row in brand.get(url).json["items"] if row["id"] == coupon_id)
    yield next(row for row in brand.get("/api/v1/campaign-coupons").json["items"] if row["id"] == coupon_id)
    yield brand.call("PATCH", f"{url}/{coupon_id}", {"name": "Other"}).json
    yield Agent(brand).call("get_campaign_coupon", programId=str(brand.programs[0]), couponId=coupon_id)


def test_coupon_shows_its_processor_creator_and_active_codes(shop):
    coupon = create_coupon(shop)
    (key_owner,) = shop.rows("select member_id from api_key")[0]
    assert (coupon["processor"], coupon["createdBy"], coupon["mintedCodeCount"]) == ("stripe", str(key_owner), 0)
    ann, ben = (shop.affiliate(f"{name}-{shop.id.hex[:12]}") for name in ("ann", "ben"))
    mint_code(shop, ann, coupon["id"])
    revoked = mint_code(shop, ben, coupon["id"])
    assert shop.call("DELETE", f"/api/v1/affiliates/{ben}/coupons/{revoked['id']}").status_code == 204

    for record in _read_records(shop, coupon["id"]):
        assert (record["processor"], record["createdBy"], record["mintedCodeCount"]) == ("stripe", str(key_owner), 1)

    archived = shop.post(f"/api/v1/campaigns/{shop.programs[0]}/coupons/{coupon['id']}/archive").json
    assert (archived["processor"], archived["mintedCodeCount"]) == ("stripe", 0)


def test_coupon_created_by_a_person_names_the_member(shop):
    coupon = create_coupon(shop.person("Admin", email="ada@example.com"))

    ((ada,),) = shop.rows("select id from member where email = 'ada@example.com'")
    assert coupon["createdBy"] == str(ada)
