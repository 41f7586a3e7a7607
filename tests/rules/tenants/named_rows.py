"""Valid calls whose bodies name every possible row, in addition to those of tests/rules/write_calls.py."""

from collections.abc import Callable, Mapping
from typing import Any

from models import db
from tests.rules.tenants.isolation import Call
from tests.rules.write_calls import CALLS
from tests.support.rows.brands import Brand
from tests.support.rows.images import png

_PROGRAMS, _PAYOUTS = "/api/v1/programs", "/api/v1/payouts"
_RATE = {"defaultCommissionType": "Fixed", "defaultCommissionValue": 1}


def _build_page_body(owner: Brand) -> dict[str, Any]:
    response = owner.call("POST", f"{_PROGRAMS}/hero-images", png(640, 480), Content_Type="image/png")
    assert response.status_code in (200, 201), response.text
    return {"landingPageConfig": {"headline": "Tea", "heroImageId": (response.json or {})["id"]}}


def _build_group_call(owner: Brand) -> Call:
    program_id = owner.program()
    affiliate_id = owner.affiliate("ben")
    group = {"name": "Gold", "commissionType": "Percentage", "commissionValue": 5}
    group_id = (owner.post(f"{_PROGRAMS}/{program_id}/partner-groups", group).json or {})["id"]
    return f"/api/v1/affiliates/{affiliate_id}", {"partnerGroupId": group_id}


def _build_call_with_grants(owner: Brand, route: str, **fields: Any) -> Call:
    path, body = CALLS[route](owner)
    affiliate_id = str(owner.affiliate("ada", program_id=owner.programs[0]))
    return path, (body or {}) | {"grantedAffiliateIds": [affiliate_id]} | fields


def _build_run_call(owner: Brand) -> Call:
    path, body = CALLS[f"POST {_PAYOUTS}/run"](owner)
    with db.unit_of_work(owner.id):
        ((conversion_id, affiliate_id, program_id),) = db.db.run("select id, affiliate_id, program_id from conversion")
    filters = {"programId": program_id, "affiliateIds": [affiliate_id], "conversionIds": [conversion_id]}
    return path, body | filters


def _build_mint_call(owner: Brand) -> Call:
    path, _ = CALLS["PATCH /api/v1/campaigns/<program_id>/coupons/<coupon_id>"](owner)
    affiliate_id = owner.affiliate("ada", program_id=owner.programs[0])
    return f"/api/v1/affiliates/{affiliate_id}/coupons", {"campaignCouponId": path.rpartition("/")[2]}


def _build_bulk_call(owner: Brand, path: str) -> Call:
    affiliate_path, body = _build_group_call(owner)
    return path, {"action": "group", "affiliateIds": [affiliate_path.rpartition("/")[2]], **body}


#: By route.
CALLS_WITH_ROWS: Mapping[str, Callable[[Brand], Call]] = {
    f"POST {_PROGRAMS}": lambda owner: (_PROGRAMS, {"name": "P"} | _RATE | _build_page_body(owner)),
    f"PATCH {_PROGRAMS}/<program_id>": lambda owner: (f"{_PROGRAMS}/{owner.program()}", _build_page_body(owner)),
    "PATCH /api/v1/affiliates/<affiliate_id>": _build_group_call,
    "POST /api/v1/affiliates/bulk-action": lambda owner: _build_bulk_call(owner, "/api/v1/affiliates/bulk-action"),
    "POST /api/affiliates/bulk": lambda owner: _build_bulk_call(owner, "/api/affiliates/bulk"),
    "POST /api/v1/affiliates/<affiliate_id>/coupons": _build_mint_call,
    "POST /api/v1/campaigns/<program_id>/coupons": lambda owner: _build_call_with_grants(
        owner, "POST /api/v1/campaigns/<program_id>/coupons", audience="Selected"
    ),
    "PATCH /api/v1/campaigns/<program_id>/coupons/<coupon_id>": lambda owner: _build_call_with_grants(
        owner, "PATCH /api/v1/campaigns/<program_id>/coupons/<coupon_id>", audience="Selected"
    ),
    f"POST {_PAYOUTS}/run": _build_run_call,
    "POST /api/v1/assets": lambda owner: (
        "/api/v1/assets",
        {"name": "Words", "text": "Try it.", "programId": str(owner.program())},
    ),
}
