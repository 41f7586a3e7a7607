"""Coupons and codes: request bodies, and calls that create them."""

from collections.abc import Callable
from typing import Any

from tests.support.gateways import gateway_connections
from tests.support.rows.brands import Brand

#: The body that creates a coupon.
COUPON: dict[str, Any] = {"name": "Partner 15", "discountType": "PercentOff", "discountValue": 15, "duration": "Once"}
#: An id that no row has.
UNKNOWN_ID = "0d8f5d2e-6c1b-4c0e-9a57-3f0c5f1f7a00"
#: The body that creates a code without a coupon, for 15 percent off.
PERCENT_CODE: dict[str, Any] = {"code": "SPRING15", "discountType": "PercentOff", "discountValue": 15}
#: The body that records a code which was created outside the service.
EXTERNAL_CODE: dict[str, Any] = {"code": "BEN-ELSEWHERE", "external": True}


def create_coupon(owner: Brand, **fields: Any) -> dict[str, Any]:
    """Create a coupon of the brand's first program and return it."""
    answer = owner.post(f"/api/v1/campaigns/{owner.programs[0]}/coupons", COUPON | fields)
    assert answer.status_code == 201, answer.get_data(as_text=True)
    return dict(answer.json or {})


def mint_code(owner: Brand, affiliate_id: object, coupon_id: object, text: str | None = None) -> dict[str, Any]:
    """Mint a code of a coupon for an affiliate and return it."""
    body = {"campaignCouponId": str(coupon_id), "code": text}
    answer = owner.post(f"/api/v1/affiliates/{affiliate_id}/coupons", body)
    assert answer.status_code == 201, answer.get_data(as_text=True)
    return dict(answer.json or {})


def _connect_gateway(owner: Brand) -> None:
    gateway_connections.connect_gateway(owner, owner.app.extensions["stage"])


def _new_coupons_path(owner: Brand) -> str:
    _connect_gateway(owner)
    return f"/api/v1/campaigns/{owner.program()}/coupons"


def _new_coupon_path(owner: Brand) -> str:
    coupons_path = _new_coupons_path(owner)
    return f"{coupons_path}/{create_coupon(owner)['id']}"


def _new_codes_path(owner: Brand) -> str:
    owner.program()
    return f"/api/v1/affiliates/{owner.affiliate('ben')}/coupons"


def _new_code_path(owner: Brand) -> str:
    codes_path = _new_codes_path(owner)
    return f"{codes_path}/{(owner.post(codes_path, EXTERNAL_CODE).json or {})['id']}"


_COUPONS = "/api/v1/campaigns/<program_id>/coupons"
_CODES = "/api/v1/affiliates/<affiliate_id>/coupons"
#: A valid call of every route with which a brand writes coupons, as its path and body.
WRITES: dict[str, Callable[[Brand], tuple[str, Any]]] = {
    f"POST {_COUPONS}": lambda owner: (_new_coupons_path(owner), COUPON),
    f"PATCH {_COUPONS}/<coupon_id>": lambda owner: (_new_coupon_path(owner), {"name": "Other"}),
    f"DELETE {_COUPONS}/<coupon_id>": lambda owner: (_new_coupon_path(owner), None),
    f"POST {_COUPONS}/<coupon_id>/archive": lambda owner: (f"{_new_coupon_path(owner)}/archive", None),
    f"POST {_CODES}": lambda owner: (_new_codes_path(owner), EXTERNAL_CODE),
    f"DELETE {_CODES}/<code_id>": lambda owner: (_new_code_path(owner), None),
}
