"""A payment that contains the gateway's id of a code is matched by the id alone, at every gateway.

Source: tracking spec, "Coupons" (credit of a redeemed code).
"""

from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest

from adapters.coupons import registry
from tests.api.gateways.conftest import Shop
from tests.support.coupons import create_coupon, mint_code
from tests.support.gateways.gateway_connections import connect_gateway, play_gateway
from tests.support.gateways.stages import STAGES
from tests.support.job_queues import drain

#: Gateways whose payments contain only the text of a code.
_TEXT_ONLY = ("shopify", "gumroad", "thrivecart")
_REDEEMING = [name for name, stage in STAGES.items() if "code" not in stage.unsupported]
_MINTING = [str(name) for name in registry.MINTABLE]
_REPORTING_IDS = [name for name in _MINTING if name not in _TEXT_ONLY]
# Gateways at which a redeemed code's text cannot be used again.
_RESERVING_TEXT = ("chargebee",)


@dataclass
class CodeShop(Shop):
    """A shop whose gateway mints and redeems codes of jane and ben."""

    jane: str
    ben: str
    coupon: dict[str, Any] | None

    def mint(self, owner: str, text: str = "JANE10") -> dict[str, Any]:
        """Mint a code for an affiliate at this gateway."""
        assert self.coupon is not None
        minted = mint_code(self.brand, owner, self.coupon["id"], text)
        assert self.codes.list_live_ids(text) == [minted["processorPromotionCodeId"]]
        return minted

    def revoke(self, minted: dict[str, Any]) -> None:
        """Revoke a code, and run the jobs that end it at the gateway."""
        path = f"/api/v1/affiliates/{minted['affiliateId']}/coupons/{minted['id']}"
        assert self.brand.call("DELETE", path).status_code == 204
        drain()

    @property
    def codes(self) -> Any:
        """Return the gateway's codes."""
        return self.stage.codes  # type: ignore[attr-defined]  # only gateways that mint have codes

    def list_credits(self) -> list[tuple[str, str, str | None]]:
        """Return affiliate, code and code id of the conversions, in the order of payment."""
        columns = "affiliate_id::text, coupon_code, affiliate_coupon_id::text"
        return [tuple(row) for row in self.conversions(columns)]


@pytest.fixture
def shop(brand, request):
    """Return a shop with a connected gateway; a gateway that can mint codes has a campaign coupon."""
    brand.program(default_commission_type="Percentage", default_commission_value=20)
    jane, ben = brand.affiliate("jane"), brand.affiliate("ben")
    owner, name = brand.person("Owner"), request.param
    with ExitStack() as stack:
        processor = stack.enter_context(play_gateway("stripe")) if name in _MINTING else None
        stage = processor if name == "stripe" else stack.enter_context(play_gateway(name))
        connection = connect_gateway(owner, processor) if processor else None
        coupon = create_coupon(brand, duration="Forever" if name == "gumroad" else "Once") if processor else None
        if stage is not processor:
            if connection:
                owner.call("DELETE", f"/api/v1/connections/{connection['id']}")
            connection = connect_gateway(owner, stage)
        yield CodeShop(brand, stage, connection, str(jane), str(ben), coupon)


def _parametrize_shop(names: list[str]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("shop", names, indirect=True)


@_parametrize_shop(_REPORTING_IDS)
def test_brands_own_code_with_text_of_a_revoked_one_credits_no_one(shop):
    shop.revoke(shop.mint(shop.jane))
    shop.codes.create_as_brand("JANE10")

    shop.sell(slug=None, code="JANE10")

    assert shop.list_credits() == []
    assert "nobody_referred" in [reason for (reason,) in shop.events("reason")]


@_parametrize_shop(_REPORTING_IDS)
def test_brands_own_code_with_text_of_another_gateways_code_credits_no_one(shop):
    with play_gateway("shopify") as other_gateway:
        connect_gateway(shop.brand.person("Owner"), other_gateway)
        minted = mint_code(shop.brand, shop.jane, shop.coupon["id"], "JANE10")
        assert other_gateway.codes.list_live_ids("JANE10") == [minted["processorPromotionCodeId"]]
        shop.codes.create_as_brand("JANE10")

        shop.sell(slug=None, code="JANE10")

    assert shop.list_credits() == []


@_parametrize_shop(_REPORTING_IDS)
def test_renewal_with_id_of_a_revoked_code_credits_its_owner(shop):
    first = shop.mint(shop.jane)
    shop.sell(slug=None, code="JANE10", customer="1", email="a@example.com")
    shop.revoke(first)
    body = {"campaignCouponId": shop.coupon["id"], "code": "JANE10"}
    second = shop.brand.post(f"/api/v1/affiliates/{shop.ben}/coupons", body)
    if shop.stage.gateway.name in _RESERVING_TEXT:
        assert (second.status_code, second.json["error"]) == (422, "code_already_taken")
    else:
        assert second.status_code == 201

    first_id = first["processorPromotionCodeId"]
    shop.sell(slug=None, code="JANE10", code_id=first_id, customer="2", email="b@example.com")
    if second.status_code == 201:
        shop.sell(slug=None, code="JANE10", customer="3", email="c@example.com")

    first_credit = (shop.jane, "JANE10", first["id"])
    second_credits = [(shop.ben, "JANE10", second.json["id"])] if second.status_code == 201 else []
    assert shop.list_credits() == [first_credit, first_credit, *second_credits]


@_parametrize_shop([name for name in _MINTING if name in _TEXT_ONLY])
def test_revoked_codes_text_credits_its_owner_if_payments_have_no_id(shop):
    minted = shop.mint(shop.jane)
    shop.revoke(minted)
    shop.codes.create_as_brand("JANE10")

    shop.sell(slug=None, code="JANE10")

    assert shop.list_credits() == [(shop.jane, "JANE10", minted["id"])]


@_parametrize_shop(_REDEEMING)
def test_external_code_is_matched_by_its_text(shop):
    external_coupon = shop.brand.post(
        f"/api/v1/affiliates/{shop.ben}/coupons", {"code": "OWN10", "external": True}
    ).json
    if shop.stage.gateway.name in _MINTING:
        shop.codes.create_as_brand("OWN10")

    shop.sell(slug=None, code="OWN10")

    assert shop.list_credits() == [(shop.ben, "OWN10", external_coupon["id"])]


@_parametrize_shop(_REPORTING_IDS)
def test_payment_waits_while_the_code_with_its_text_has_no_id_yet(shop):
    minted = shop.mint(shop.jane)
    unset_id = "update affiliate_coupon set status = 'Minting', processor_promotion_code_id = null where id = %s"
    shop.change(unset_id, minted["id"])
    shop.sell(slug=None, code="JANE10")
    assert shop.list_credits() == []
    assert "nobody_referred" not in [reason for (reason,) in shop.events("reason")]

    promotion_code_id = minted["processorPromotionCodeId"]
    set_id = "update affiliate_coupon set status = 'Active', processor_promotion_code_id = %s where id = %s"
    shop.change(set_id, promotion_code_id, minted["id"])
    shop.change("update job set run_at = now() where queue = 'gateways'")
    drain()
    assert shop.list_credits() == [(shop.jane, "JANE10", minted["id"])]


@_parametrize_shop(_REPORTING_IDS)
def test_same_id_at_another_account_credits_no_one(shop):
    minted = shop.mint(shop.jane)
    with play_gateway("shopify") as shopify:
        other_connection = connect_gateway(shop.brand.person("Owner"), shopify)
    other_account = "gateway = %s, identity = '{another}', status = 'Disconnected'"
    name = shop.stage.gateway.name
    shop.change(f"update gateway_connection set {other_account} where id = %s", name, other_connection["id"])
    shop.change("update affiliate_coupon set connection_id = %s where id = %s", other_connection["id"], minted["id"])

    shop.sell(slug=None, code="JANE10")

    assert shop.list_credits() == []


@_parametrize_shop(_REPORTING_IDS)
def test_code_minted_before_renaming_and_reconnecting_credits_its_owner(shop):
    minted = shop.mint(shop.jane)
    owner = shop.brand.person("Owner")
    owner.call("DELETE", f"/api/v1/connections/{shop.connection['id']}")
    shop.change("update gateway_connection set account = 'former name' where id = %s", shop.connection["id"])
    shop.connection = connect_gateway(owner, shop.stage)

    shop.sell(slug=None, code="JANE10")

    assert shop.list_credits() == [(shop.jane, "JANE10", minted["id"])]
