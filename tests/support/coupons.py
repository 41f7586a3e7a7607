"""Coupons of the tests: bodies that make one, and what a brand and its affiliates do with them."""

from collections.abc import Callable
from typing import Any

from tests.support.gateways import gateway_connections
from tests.support.rows.brands import Brand

#: A new coupon.
COUPON: dict[str, Any] = {"name": "Partner 15", "discountType": "PercentOff", "discountValue": 15, "duration": "Once"}
#: An id of nothing.
UNKNOWN_ID = "0d8f5d2e-6c1b-4c0e-9a57-3f0c5f1f7a00"
#: A code without a coupon that takes off 15 percent.
PERCENT_CODE: dict[str, Any] = {"code": "SPRING15", "discountType": "PercentOff", "discountValue": 15}
#: A code that was made elsewhere.
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


def _coupons(owner: Brand) -> str:
    _connect_gateway(owner)
    return f"/api/v1/campaigns/{owner.program()}/coupons"


def _coupon(owner: Brand) -> str:
    coupons = _coupons(owner)
    return f"{coupons}/{create_coupon(owner)['id']}"


def _codes(owner: Brand) -> str:
    owner.program()
    return f"/api/v1/affiliates/{owner.affiliate('ben')}/coupons"


def _code(owner: Brand) -> str:
    codes = _codes(owner)
    return f"{codes}/{(owner.post(codes, EXTERNAL_CODE).json or {})['id']}"


_COUPONS = "/api/v1/campaigns/<program_id>/coupons"
_CODES = "/api/v1/affiliates/<affiliate_id>/coupons"
#: A valid call of every route with which a brand writes coupons, as the path and the body to send.
WRITES: dict[str, Callable[[Brand], tuple[str, Any]]] = {
    f"POST {_COUPONS}": lambda owner: (_coupons(owner), COUPON),
    f"PATCH {_COUPONS}/<coupon_id>": lambda owner: (_coupon(owner), {"name": "Other"}),
    f"DELETE {_COUPONS}/<coupon_id>": lambda owner: (_coupon(owner), None),
    f"POST {_COUPONS}/<coupon_id>/archive": lambda owner: (f"{_coupon(owner)}/archive", None),
    f"POST {_CODES}": lambda owner: (_codes(owner), EXTERNAL_CODE),
    f"DELETE {_CODES}/<code_id>": lambda owner: (_code(owner), None),
}
