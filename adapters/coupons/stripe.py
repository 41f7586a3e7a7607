"""stripe, the processor: a family is a coupon, and a code is one of its promotion codes.

Both have our id in their metadata, and each POST has it as its Idempotency-Key, so that a repeat creates nothing twice.
Only the promotion code has the maximum number of redemptions; both have the expiry time.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from adapters.coupons import terms
from adapters.coupons.base import CodeOrder, CodeRail, CodeTaken, CouponOrder
from adapters.gateways import shapes
from adapters.gateways.base import GatewayAccount, GatewayRejected, GatewayUnreachable
from adapters.gateways.card import stripe, stripe_facts
from adapters.gateways.wire import GatewayApi, Params, ignoring_missing_object
from domain.coupons.codes import CodeShape
from domain.coupons.discounts import Discount
from domain.gateways import amounts
from domain.gateways.names import Gateway

_NAME_CHARACTERS = 40
_MAX_PAGES = 50
_KEY_IN_USE = 409


class StripeCodes(CodeRail):
    gateway = Gateway.Stripe
    shape = CodeShape(allowed_signs="-")

    def create_coupon(self, account: GatewayAccount, order: CouponOrder) -> str:
        """Create a coupon."""
        discount = order.discount
        form: dict[str, str | int | list[str]] = {
            "name": order.name[:_NAME_CHARACTERS],
            "duration": discount.duration.value.lower(),
            f"metadata[{terms.OUR_ID}]": str(order.coupon_id),
            **_discount_fields(discount),
            **terms.optional(duration_in_months=discount.months, redeem_by=terms.expires_at_s(discount)),
        }
        if discount.product_refs:
            form["applies_to[products][]"] = list(discount.product_refs)
        return _create(stripe.GATEWAY.api(account), "/v1/coupons", form, str(order.coupon_id))

    def find_coupon(self, account: GatewayAccount, order: CouponOrder) -> str | None:
        """Return the id of our coupon; searches the list, the newest first."""
        return _find_ours(_list(stripe.GATEWAY.api(account), "/v1/coupons", {}), str(order.coupon_id))

    def delete_coupon(self, account: GatewayAccount, processor_coupon_id: str) -> None:
        """Delete a coupon; discounts already applied stay."""
        stripe.GATEWAY.api(account).delete(f"/v1/coupons/{shapes.segment(processor_coupon_id)}")

    def mint(self, account: GatewayAccount, order: CodeOrder) -> str:
        """Create a promotion code of the family's coupon."""
        discount, api = order.family.discount, stripe.GATEWAY.api(account)
        form: dict[str, str | int] = {
            "promotion[type]": "coupon",
            "promotion[coupon]": order.processor_coupon_id or "",
            "code": order.code,
            f"metadata[{terms.OUR_ID}]": str(order.code_id),
            **terms.optional(
                max_redemptions=discount.max_redemptions_per_code, expires_at=terms.expires_at_s(discount)
            ),
        }
        try:
            return _create(api, "/v1/promotion_codes", form, str(order.code_id))
        except GatewayRejected as refused:
            # Stripe has no stable error code for a taken text, so look for the code instead.
            existing = list(_list(api, "/v1/promotion_codes", {"code": order.code, "active": "true"}))
            if (minted := _find_ours(existing, str(order.code_id))) is not None:
                return minted
            if existing:
                raise CodeTaken(order.code) from refused
            raise

    def find_code(self, account: GatewayAccount, order: CodeOrder) -> str | None:
        """Return the id of our promotion code with this text."""
        codes = _list(stripe.GATEWAY.api(account), "/v1/promotion_codes", {"code": order.code})
        return _find_ours(codes, str(order.code_id))

    def deactivate(self, account: GatewayAccount, order: CodeOrder, minted_id: str) -> None:
        """Make a promotion code inactive; it cannot be deleted."""
        path = f"/v1/promotion_codes/{shapes.segment(minted_id)}"
        with ignoring_missing_object():
            stripe.GATEWAY.api(account).request("POST", path, form={"active": "false"})


RAIL = StripeCodes()


def _discount_fields(discount: Discount) -> Mapping[str, str | int]:
    if terms.is_percent(discount):
        return {"percent_off": discount.value}
    currency = discount.currency or ""
    units = amounts.to_minor(discount.value, currency, stripe_facts.EXPONENTS)
    return {"amount_off": units, "currency": currency.lower()}


def _create(api: GatewayApi, path: str, form: Params, our_id: str) -> str:
    headers = {"Idempotency-Key": f"coupon:{our_id}"}
    try:
        return shapes.require(api.request("POST", path, form=form, headers=headers).json, "id")
    except GatewayRejected as refused:
        if refused.status == _KEY_IN_USE:
            raise GatewayUnreachable("another request is creating the same object there") from refused
        raise


def _find_ours(existing: Iterable[Any], our_id: str) -> str | None:
    ids = (shapes.require(item, "id") for item in existing if shapes.get(item, "metadata", terms.OUR_ID) == our_id)
    return next(ids, None)


def _list(api: GatewayApi, path: str, params: Params) -> Iterator[Any]:
    for items in itertools.islice(stripe.read_list(api, path, params), _MAX_PAGES):
        yield from items
