"""A payment that contains the gateway's id of a code is matched by the id alone, at every gateway.

Source: tracking spec, "Coupons" (whom a redeemed code credits).
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

#: Gateways whose payments contain nothing but the text of a code.
_TEXT_ONLY = ("shopify", "gumroad", "thrivecart")
_REDEEMING = [name for name, stage in STAGES.items() if "code" not in stage.unsupported]
_MINTING = [str(name) for name in registry.MINTABLE]
_TELLING_IDS = [name for name in _MINTING if name not in _TEXT_ONLY]
# Once it was redeemed, a code keeps its text from others there.
_KEEPS_TEXT = ("chargebee",)


@dataclass
class Place(Shop):
    """A gateway where codes of jane and ben are minted and redeemed."""

    jane: str
    ben: str
    family: dict[str, Any] | None

    def mint(self, owner: str, text: str = "JANE10") -> dict[str, Any]:
        """Mint a code for an affiliate at this gateway."""
        assert self.family is not None
        minted = mint_code(self.brand, owner, self.family["id"], text)
        assert self.codes.list_live_ids(text) == [minted["processorPromotionCodeId"]]
        return minted

    def revoke(self, minted: dict[str, Any]) -> None:
        """Revoke a code and have it ended at the gateway."""
        path = f"/api/v1/affiliates/{minted['affiliateId']}/coupons/{minted['id']}"
        assert self.brand.call("DELETE", path).status_code == 204
        drain()

    @property
    def codes(self) -> Any:
        """The codes that the gateway has."""
        return self.stage.codes  # type: ignore[attr-defined]  # only gateways that mint have them

    def credited(self) -> list[tuple[str, str, str | None]]:
        """Return affiliate, code and code id of the conversions, in the order of payment."""
        columns = "affiliate_id::text, coupon_code, affiliate_coupon_id::text"
        return [tuple(row) for row in self.conversions(columns)]


@pytest.fixture
def place(brand, request):
    """Return a gateway that is connected; where it can, codes of a campaign coupon are minted at it."""
    brand.program(default_commission_type="Percentage", default_commission_value=20)
    jane, ben = brand.affiliate("jane"), brand.affiliate("ben")
    owner, name = brand.person("Owner"), request.param
    with ExitStack() as playing:
        processor = playing.enter_context(play_gateway("stripe")) if name in _MINTING else None
        stage = processor if name == "stripe" else playing.enter_context(play_gateway(name))
        connection = connect_gateway(owner, processor) if processor else None
        family = create_coupon(brand, duration="Forever" if name == "gumroad" else "Once") if processor else None
        if stage is not processor:
            if connection:
                owner.call("DELETE", f"/api/v1/connections/{connection['id']}")
            connection = connect_gateway(owner, stage)
        yield Place(brand, stage, connection, str(jane), str(ben), family)


def _at(names: list[str]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("place", names, indirect=True)


@_at(_TELLING_IDS)
def test_brands_own_code_with_text_of_a_revoked_one_credits_no_one(place):
    place.revoke(place.mint(place.jane))
    place.codes.create_as_brand("JANE10")

    place.sell(slug=None, code="JANE10")

    assert place.credited() == []
    assert "nobody_referred" in [reason for (reason,) in place.events("reason")]


@_at(_TELLING_IDS)
def test_brands_own_code_with_text_of_a_code_in_force_elsewhere_credits_no_one(place):
    with play_gateway("shopify") as elsewhere:
        connect_gateway(place.brand.person("Owner"), elsewhere)
        minted = mint_code(place.brand, place.jane, place.family["id"], "JANE10")
        assert elsewhere.codes.list_live_ids("JANE10") == [minted["processorPromotionCodeId"]]
        place.codes.create_as_brand("JANE10")

        place.sell(slug=None, code="JANE10")

    assert place.credited() == []


@_at(_TELLING_IDS)
def test_renewal_with_id_of_a_revoked_code_credits_its_owner(place):
    first = place.mint(place.jane)
    place.sell(slug=None, code="JANE10", customer="1", email="a@example.com")
    place.revoke(first)
    body = {"campaignCouponId": place.family["id"], "code": "JANE10"}
    second = place.brand.post(f"/api/v1/affiliates/{place.ben}/coupons", body)
    if place.stage.gateway.name in _KEEPS_TEXT:
        assert (second.status_code, second.json["error"]) == (422, "code_already_taken")
    else:
        assert second.status_code == 201

    first_id = first["processorPromotionCodeId"]
    place.sell(slug=None, code="JANE10", code_id=first_id, customer="2", email="b@example.com")
    if second.status_code == 201:
        place.sell(slug=None, code="JANE10", customer="3", email="c@example.com")

    of_first = (place.jane, "JANE10", first["id"])
    of_second = [(place.ben, "JANE10", second.json["id"])] if second.status_code == 201 else []
    assert place.credited() == [of_first, of_first, *of_second]


@_at([name for name in _MINTING if name in _TEXT_ONLY])
def test_text_of_a_revoked_code_credits_its_owner_where_payments_contain_no_id(place):
    minted = place.mint(place.jane)
    place.revoke(minted)
    place.codes.create_as_brand("JANE10")

    place.sell(slug=None, code="JANE10")

    assert place.credited() == [(place.jane, "JANE10", minted["id"])]


@_at(_REDEEMING)
def test_external_code_is_matched_by_its_text(place):
    external = place.brand.post(f"/api/v1/affiliates/{place.ben}/coupons", {"code": "OWN10", "external": True}).json
    if place.stage.gateway.name in _MINTING:
        place.codes.create_as_brand("OWN10")

    place.sell(slug=None, code="OWN10")

    assert place.credited() == [(place.ben, "OWN10", external["id"])]


@_at(_TELLING_IDS)
def test_payment_waits_while_the_code_with_its_text_has_no_id_yet(place):
    minted = place.mint(place.jane)
    unknown = "update affiliate_coupon set status = 'Minting', processor_promotion_code_id = null where id = %s"
    place.change(unknown, minted["id"])
    place.sell(slug=None, code="JANE10")
    assert place.credited() == []
    assert "nobody_referred" not in [reason for (reason,) in place.events("reason")]

    minted_id = minted["processorPromotionCodeId"]
    settled = "update affiliate_coupon set status = 'Active', processor_promotion_code_id = %s where id = %s"
    place.change(settled, minted_id, minted["id"])
    place.change("update job set run_at = now() where queue = 'gateways'")
    drain()
    assert place.credited() == [(place.jane, "JANE10", minted["id"])]


@_at(_TELLING_IDS)
def test_same_id_at_another_account_credits_no_one(place):
    minted = place.mint(place.jane)
    with play_gateway("shopify") as elsewhere:
        other = connect_gateway(place.brand.person("Owner"), elsewhere)
    other_account = "gateway = %s, identity = '{another}', status = 'Disconnected'"
    name = place.stage.gateway.name
    place.change(f"update gateway_connection set {other_account} where id = %s", name, other["id"])
    place.change("update affiliate_coupon set connection_id = %s where id = %s", other["id"], minted["id"])

    place.sell(slug=None, code="JANE10")

    assert place.credited() == []


@_at(_TELLING_IDS)
def test_code_minted_before_its_account_was_renamed_and_connected_again_credits_its_owner(place):
    minted = place.mint(place.jane)
    owner = place.brand.person("Owner")
    owner.call("DELETE", f"/api/v1/connections/{place.connection['id']}")
    place.change("update gateway_connection set account = 'former name' where id = %s", place.connection["id"])
    place.connection = connect_gateway(owner, place.stage)

    place.sell(slug=None, code="JANE10")

    assert place.credited() == [(place.jane, "JANE10", minted["id"])]
