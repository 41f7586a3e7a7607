"""woocommerce's coupons for the tests: a shop keeps their codes in lower case."""

from typing import Any

from tests.support.gateways.codes import Answer, CodeBooks, PlayedTerms, cents_from_text, time_from_text
from tests.support.gateways.stage import ApiCall

_TAKEN = {"code": "woocommerce_rest_coupon_code_already_exists", "message": "The coupon code already exists"}
_MISSING = {"code": "woocommerce_rest_shop_coupon_invalid_id", "message": "Invalid ID."}
_READS_ONLY = {"code": "woocommerce_rest_cannot_create", "message": "Sorry, you are not allowed to create resources."}


class WooCommerceCodes(CodeBooks):
    """The books of coupons. `may_write` says whether the key is more than a reader's."""

    may_write = True

    def answer(self, asked: ApiCall) -> Answer | None:
        path = asked.params.get("rest_route", [asked.path.partition("/wp-json")[2]])[0].removeprefix("/wc/v3")
        if path == "/data/currencies/current":
            return 200, {"code": self.currency, "name": "United States (US) dollar"}
        if not path.startswith("/coupons"):
            return None
        if asked.method == "GET":
            return 200, self.list_by_code(asked.params["code"][0])
        if not self.may_write:
            return 401, _READS_ONLY
        if asked.method == "POST":
            return self._create(asked.json)
        found = [one for one in self.rows if str(one["id"]) == path.rpartition("/")[2]]
        if not found:
            return 404, _MISSING
        if asked.params.get("force") == ["true"]:
            self.rows.remove(found[0])
        return 200, found[0]

    def list_live_ids(self, code: str) -> list[str]:
        return [str(one["id"]) for one in self.list_by_code(code)]

    def create_as_brand(self, code: str) -> str:
        return str(self._store({"code": code, "meta_data": []})["id"])

    def terms(self, code: str) -> PlayedTerms:
        told = self.get_by_code(code)
        is_percent = told["discount_type"] == "percent"
        until = told.get("date_expires_gmt")
        return PlayedTerms(
            percent=int(told["amount"]) if is_percent else None,
            cents=None if is_percent else cents_from_text(told["amount"]),
            currency=None if is_percent else self.currency,
            cap=told.get("usage_limit"),
            expires_at=time_from_text(until) if until else None,
        )

    def _create(self, wanted: dict[str, Any]) -> Answer:
        if self.list_by_code(wanted["code"]):
            return 400, _TAKEN
        if wanted["discount_type"] not in ("percent", "fixed_cart") or not isinstance(wanted["amount"], str):
            return 400, {"code": "rest_invalid_param", "message": "Invalid parameter(s): discount_type, amount"}
        return 201, self._store(wanted)

    def _store(self, wanted: dict[str, Any]) -> dict[str, Any]:
        coupon = {**wanted, "id": self.number(), "code": wanted["code"].lower()}
        self.rows.append(coupon)
        return coupon
