"""chargebee's coupons for the tests: forms with numbered fields, and keys that are remembered."""

import json
from datetime import UTC, datetime
from typing import Any

from tests.support.gateways.codes import Answer, CodeBooks, PlayedTerms
from tests.support.gateways.stage import ApiCall

_MISSING = {"message": "not found", "api_error_code": "resource_not_found"}


def _refuse(code: str, message: str) -> Answer:
    return 400, {"message": message, "api_error_code": code}


class ChargebeeCodes(CodeBooks):
    """The books of coupons; one that was redeemed is archived when it is deleted, and keeps its id."""

    product = "gold-USD-monthly"
    other_product = "setup-USD"
    kinds = {product: "plan", other_product: "charge"}

    def __init__(self, number: Any) -> None:
        super().__init__(number)
        self.redeemed: set[str] = set()
        self._by_key: dict[str, Answer] = {}

    def answer(self, asked: ApiCall) -> Answer | None:
        path = asked.path.removeprefix("/api/v2")
        if path.startswith("/item_prices/"):
            price = path.removeprefix("/item_prices/")
            known = {"id": price, "item_type": self.kinds.get(price)}
            return (200, {"item_price": known}) if known["item_type"] else (404, _MISSING)
        if path == "/coupons/create_for_items":
            key = asked.headers["chargebee-idempotency-key"]
            if key not in self._by_key:
                self._by_key[key] = self._create({name: values[0] for name, values in asked.form.items()})
            return self._by_key[key]
        if not path.startswith("/coupons/"):
            return None
        found = self.list_by_code(path.split("/")[2], "id")
        if not found:
            return 404, _MISSING
        if path.endswith("/delete"):
            self._delete(found[0])
        return 200, {"coupon": found[0]}

    def list_live_ids(self, code: str) -> list[str]:
        return [one["id"] for one in self.list_by_code(code, "id") if one["status"] == "active"]

    def create_as_brand(self, code: str) -> str:
        self.rows.append({"id": code, "name": "Summer", "status": "active", "meta_data": {}})
        return code

    def terms(self, code: str) -> PlayedTerms:
        told = self.get_by_code(code, "id")
        is_percent = told["discount_type"] == "percentage"
        until = told.get("valid_till")
        named = [told[name] for name in sorted(told) if name.startswith("item_constraints[item_price_ids]")]
        return PlayedTerms(
            percent=int(told["discount_percentage"]) if is_percent else None,
            cents=None if is_percent else int(told["discount_amount"]),
            currency=told.get("currency_code"),
            duration={"one_time": "once", "limited_period": "repeating"}.get(told["duration_type"], "forever"),
            months=int(told["period"]) if "period" in told else None,
            cap=int(told["max_redemptions"]) if "max_redemptions" in told else None,
            expires_at=datetime.fromtimestamp(int(until), UTC) if until else None,
            products=tuple(price for prices in named for price in json.loads(prices)),
        )

    def _create(self, wanted: dict[str, str]) -> Answer:
        if self.list_by_code(wanted["id"], "id"):
            return _refuse("duplicate_entry", f"id : The value {wanted['id']} is already present.")
        if any(one["name"] == wanted["name"] for one in self.rows):
            return _refuse("duplicate_entry", f"name : The value {wanted['name']} is already present.")
        if len(wanted["name"]) > 50:
            return _refuse("param_wrong_value", "name : must not be longer than 50")
        if (wanted["duration_type"] == "limited_period") != ("period" in wanted):
            return _refuse("param_wrong_value", "period : goes with limited_period")
        coupon = {**wanted, "status": "active", "meta_data": json.loads(wanted["meta_data"])}
        self.rows.append(coupon)
        return 200, {"coupon": coupon}

    def _delete(self, coupon: dict[str, Any]) -> None:
        if coupon["id"] in self.redeemed:
            coupon["status"] = "archived"
        else:
            self.rows.remove(coupon)
