"""maxio's coupons for the tests: each of a product family, archived when they end."""

import re
from typing import Any

from tests.support.gateways.codes import Answer, CodeBooks, PlayedTerms, time_from_text
from tests.support.gateways.stage import ApiCall

_COUPON = re.compile(r"/product_families/(\d+)/coupons(?:/(\d+))?\.json")
_PRODUCT = re.compile(r"/products/(\d+)\.json")
_CODE = re.compile(r"[A-Z0-9%@+_.-]+")


class MaxioCodes(CodeBooks):
    """The books of coupons; `families` are product families with their products."""

    def __init__(self, number: Any) -> None:
        super().__init__(number)
        self.families: dict[int, list[int]] = {901: [11, 12]}

    def answer(self, asked: ApiCall) -> Answer | None:
        if asked.path == "/product_families.json":
            return 200, [{"product_family": {"id": family}} for family in self.families]
        if asked.path == "/coupons/find.json":
            family = int(asked.params["product_family_id"][0])
            found = [one for one in self.list_by_code(asked.params["code"][0]) if one["product_family_id"] == family]
            return (200, {"coupon": found[-1]}) if found else (404, {"errors": ["Not found"]})
        if product := _PRODUCT.fullmatch(asked.path):
            return self._product(int(product[1]))
        coupon = _COUPON.fullmatch(asked.path)
        if coupon is None:
            return None
        if asked.method == "POST":
            return self._create(int(coupon[1]), asked.json)
        found = [one for one in self.rows if (one["product_family_id"], one["id"]) == (int(coupon[1]), int(coupon[2]))]
        if not found:
            return 404, {"errors": ["Not found"]}
        found[0]["archived_at"] = "2026-01-02T03:04:05Z"
        return 200, {"coupon": found[0]}

    def list_live_ids(self, code: str) -> list[str]:
        return [str(one["id"]) for one in self.list_by_code(code) if one["archived_at"] is None]

    def create_as_brand(self, code: str) -> str:
        return str(self._store(901, {"code": code, "description": "Summer"})["id"])

    def terms(self, code: str) -> PlayedTerms:
        told = self.get_by_code(code)
        is_percent = "percentage" in told
        return PlayedTerms(
            percent=int(told["percentage"]) if is_percent else None,
            cents=None if is_percent else told["amount_in_cents"],
            currency=None if is_percent else self.currency,
            duration="forever" if told["recurring"] else "once",
            expires_at=time_from_text(told["end_date"]) if "end_date" in told else None,
            products=tuple(told["restricted"]),
        )

    def _product(self, number: int) -> Answer:
        for family, products in self.families.items():
            if number in products:
                return 200, {"product": {"id": number, "product_family": {"id": family}}}
        return 404, {"errors": ["Not found"]}

    def _create(self, family: int, wanted: dict[str, Any]) -> Answer:
        coupon, named = wanted["coupon"], wanted.get("restricted_products", {})
        if not _CODE.fullmatch(coupon["code"]) or ("percentage" in coupon) == ("amount_in_cents" in coupon):
            return 422, {"errors": ["Code: is invalid."]}
        if self.list_live_ids(coupon["code"]):
            return 422, {"errors": ["Code: must be unique - that code has been taken."]}
        if not {int(product) for product in named} <= set(self.families[family]):
            return 422, {"errors": ["Product: is not of this family."]}
        return 201, {"coupon": self._store(family, {**coupon, "restricted": list(named)})}

    def _store(self, family: int, wanted: dict[str, Any]) -> dict[str, Any]:
        coupon = {**wanted, "id": self.number(), "product_family_id": family, "archived_at": None}
        self.rows.append(coupon)
        return coupon
