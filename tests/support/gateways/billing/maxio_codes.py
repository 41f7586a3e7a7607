"""Coupons of the fake Maxio: each belongs to a product family, and is archived when it ends."""

import re
from typing import Any

from tests.support.gateways.codes import Answer, CodeBooks, PlayedTerms, time_from_text
from tests.support.gateways.stage import ApiCall

_COUPON = re.compile(r"/product_families/(\d+)/coupons(?:/(\d+))?\.json")
_PRODUCT = re.compile(r"/products/(\d+)\.json")
_CODE = re.compile(r"[A-Z0-9%@+_.-]+")


class MaxioCodes(CodeBooks):
    """Stored coupons; `families` are product families with their products."""

    def __init__(self, number: Any) -> None:
        super().__init__(number)
        self.families: dict[int, list[int]] = {901: [11, 12]}

    def answer(self, call: ApiCall) -> Answer | None:
        if call.path == "/product_families.json":
            return 200, [{"product_family": {"id": family}} for family in self.families]
        if call.path == "/coupons/find.json":
            family = int(call.params["product_family_id"][0])
            matches = [row for row in self.list_by_code(call.params["code"][0]) if row["product_family_id"] == family]
            return (200, {"coupon": matches[-1]}) if matches else (404, {"errors": ["Not found"]})
        if product := _PRODUCT.fullmatch(call.path):
            return self._product(int(product[1]))
        coupon = _COUPON.fullmatch(call.path)
        if coupon is None:
            return None
        if call.method == "POST":
            return self._create(int(coupon[1]), call.json)
        matches = [
            row for row in self.rows if (row["product_family_id"], row["id"]) == (int(coupon[1]), int(coupon[2]))
        ]
        if not matches:
            return 404, {"errors": ["Not found"]}
        matches[0]["archived_at"] = "2026-01-02T03:04:05Z"
        return 200, {"coupon": matches[0]}

    def list_live_ids(self, code: str) -> list[str]:
        return [str(row["id"]) for row in self.list_by_code(code) if row["archived_at"] is None]

    def create_as_brand(self, code: str) -> str:
        return str(self._store(901, {"code": code, "description": "Summer"})["id"])

    def terms(self, code: str) -> PlayedTerms:
        payload = self.get_by_code(code)
        is_percent = "percentage" in payload
        return PlayedTerms(
            percent=int(payload["percentage"]) if is_percent else None,
            cents=None if is_percent else payload["amount_in_cents"],
            currency=None if is_percent else self.currency,
            duration="forever" if payload["recurring"] else "once",
            expires_at=time_from_text(payload["end_date"]) if "end_date" in payload else None,
            products=tuple(payload["restricted"]),
        )

    def _product(self, number: int) -> Answer:
        for family, products in self.families.items():
            if number in products:
                return 200, {"product": {"id": number, "product_family": {"id": family}}}
        return 404, {"errors": ["Not found"]}

    def _create(self, family: int, fields: dict[str, Any]) -> Answer:
        coupon, matching = fields["coupon"], fields.get("restricted_products", {})
        if not _CODE.fullmatch(coupon["code"]) or ("percentage" in coupon) == ("amount_in_cents" in coupon):
            return 422, {"errors": ["Code: is invalid."]}
        if self.list_live_ids(coupon["code"]):
            return 422, {"errors": ["Code: must be unique - that code has been taken."]}
        if not {int(product) for product in matching} <= set(self.families[family]):
            return 422, {"errors": ["Product: is not of this family."]}
        return 201, {"coupon": self._store(family, {**coupon, "restricted": list(matching)})}

    def _store(self, family: int, fields: dict[str, Any]) -> dict[str, Any]:
        coupon = {**fields, "id": self.number(), "product_family_id": family, "archived_at": None}
        self.rows.append(coupon)
        return coupon
