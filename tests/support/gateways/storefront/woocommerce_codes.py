"""Coupons of the fake WooCommerce, which stores codes in lower case."""

from typing import Any

from tests.support.gateways.codes import Answer, CodeBooks, PlayedTerms, cents_from_text, time_from_text
from tests.support.gateways.stage import ApiCall

_TAKEN = {"code": "woocommerce_rest_coupon_code_already_exists", "message": "The coupon code already exists"}
_MISSING = {"code": "woocommerce_rest_shop_coupon_invalid_id", "message": "Invalid ID."}
_READ_ONLY_KEY = {
    "code": "woocommerce_rest_cannot_create",
    "message": "Sorry, you are not allowed to create resources.",
}


class WooCommerceCodes(CodeBooks):
    """Stored coupons. `may_write`: whether the key may write."""

    may_write = True

    def answer(self, call: ApiCall) -> Answer | None:
        path = call.params.get("rest_route", [call.path.partition("/wp-json")[2]])[0].removeprefix("/wc/v3")
        if path == "/data/currencies/current":
            return 200, {"code": self.currency, "name": "United States (US) dollar"}
        if not path.startswith("/coupons"):
            return None
        if call.method == "GET":
            return 200, self.list_by_code(call.params["code"][0])
        if not self.may_write:
            return 401, _READ_ONLY_KEY
        if call.method == "POST":
            return self._create(call.json)
        matches = [row for row in self.rows if str(row["id"]) == path.rpartition("/")[2]]
        if not matches:
            return 404, _MISSING
        if call.params.get("force") == ["true"]:
            self.rows.remove(matches[0])
        return 200, matches[0]

    def list_live_ids(self, code: str) -> list[str]:
        return [str(row["id"]) for row in self.list_by_code(code)]

    def create_as_brand(self, code: str) -> str:
        return str(self._store({"code": code, "meta_data": []})["id"])

    def terms(self, code: str) -> PlayedTerms:
        payload = self.get_by_code(code)
        is_percent = payload["discount_type"] == "percent"
        until = payload.get("date_expires_gmt")
        return PlayedTerms(
            percent=int(payload["amount"]) if is_percent else None,
            cents=None if is_percent else cents_from_text(payload["amount"]),
            currency=None if is_percent else self.currency,
            cap=payload.get("usage_limit"),
            expires_at=time_from_text(until) if until else None,
        )

    def _create(self, fields: dict[str, Any]) -> Answer:
        if self.list_by_code(fields["code"]):
            return 400, _TAKEN
        if fields["discount_type"] not in ("percent", "fixed_cart") or not isinstance(fields["amount"], str):
            return 400, {"code": "rest_invalid_param", "message": "Invalid parameter(s): discount_type, amount"}
        return 201, self._store(fields)

    def _store(self, fields: dict[str, Any]) -> dict[str, Any]:
        coupon = {**fields, "id": self.number(), "code": fields["code"].lower()}
        self.rows.append(coupon)
        return coupon
