"""Costs with 2,000 codes: booking a sale that redeems one, and shortening an allow-list."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from domain.conversions import customers
from domain.gateways.facts import RedeemedCode
from models import db
from models.gateways import credit_candidates
from models.gateways.credit_candidates import PaymentOrigin
from tests.support.coupons import create_coupon, mint_code
from tests.support.gateways.gateway_connections import connect_gateway, play_gateway

_INSERT_CODES = """
insert into affiliate_coupon (id, organization_id, program_id, affiliate_id, campaign_coupon_id, code, origin, status,
  connection_id, processor_promotion_code_id, created_at)
select gen_random_uuid(), organization_id, program_id, affiliate_id, campaign_coupon_id, 'MANY-' || n, 'self_minted',
  'Active', connection_id, 'promo_many_' || n, created_at
from affiliate_coupon, generate_series(1, 2000) n where code = 'FIRST'
"""


@pytest.fixture
def coupon_with_codes(brand):
    with play_gateway() as stage:
        brand.program()
        jane = brand.affiliate("jane")
        connect_gateway(brand.person("Owner"), stage)
        allow_list = {"selfMintMode": "SpecificAffiliates", "grantedAffiliateIds": [str(jane)]}
        coupon = create_coupon(brand, **allow_list)
        mint_code(brand, jane, coupon["id"], "FIRST")
        with db.unit_of_work(brand.id):
            db.db.run(_INSERT_CODES)
        yield coupon


@pytest.mark.usefixtures("isolated_database")
def test_redeemed_code_is_searched_by_index(brand, coupon_with_codes):
    with db.unit_of_work(brand.id):
        codes = [RedeemedCode("MANY-7", "coupon", "promo_many_7")]
        connection_id = uuid4()
        payer = customers.names(customer_id=None, email=None, is_test=False)
        origin = PaymentOrigin(
            "stripe", connection_id, [], codes, None, None, None, payer, is_test=False, at=datetime.now(UTC)
        )
        credit_candidates.list_candidates(origin, organization_id=brand.id)
        statement = credit_candidates._CANDIDATES
        plan = "\n".join(line for (line,) in db.db.run(f"explain {statement.execute}", [None] * len(statement._order)))

    assert "affiliate_coupon_gateway_id" in plan, plan
    assert "affiliate_coupon_code" in plan, plan
    assert "affiliate_coupon_revoked" in plan, plan
    assert "affiliate_coupon_list" not in plan, plan


def test_statements_of_a_shorter_allow_list_do_not_grow_with_codes(brand, coupon_with_codes):
    trips = []
    db.db.trip_hooks.append(trips.append)
    try:
        path = f"/api/v1/campaigns/{coupon_with_codes['programId']}/coupons/{coupon_with_codes['id']}"
        answer = brand.call("PATCH", path, {"grantedAffiliateIds": []})
    finally:
        db.db.trip_hooks.remove(trips.append)

    assert answer.status_code == 200
    event_count = brand.rows("select count(*) from event where type = 'affiliate_coupon.deactivated'")
    assert event_count == [(2000,)]
    assert sum(trip.count(b"execute hot_") for trip in trips) < 60
