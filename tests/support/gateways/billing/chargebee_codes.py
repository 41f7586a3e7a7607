"""Coupons of the fake Chargebee: forms with numbered fields, and stored idempotency keys."""

import json
from datetime import UTC, datetime
from typing import Any

from tests.support.gateways.codes import Answer, CodeBooks, PlayedTerms
from tests.support.gateways.stage import ApiCall

_MISSING = {"message": "not found", "api_error_code": "resource_not_found"}


def _error_answer(code: str, message: str) -> Answer:
    return 400, {"message": message, "api_error_code": code}


class ChargebeeCodes(CodeBooks):
    """Stored coupons; deleting a redeemed one archives it, and its id stays taken."""

    product = "gold-USD-monthly"
    other_product = "setup-USD"
    kinds = {product: "plan", other_product: "charge"}

    def __init__(self, number: Any) -> None:
        super().__init__(number)
        self.redeemed: set[str] = set()
        self._by_key: dict[str, Answer] = {}

    def answer(self, call: ApiCall) -> Answer | None:
        path = call.path.removeprefix("/api/v2")
        if path.startswith("/item_prices/"):
            price = path.removeprefix("/item_prices/")
            existing = {"id": price, "item_type": self.kinds.get(price)}
            return (200, {"item_price": existing}) if existing["item_type"] else (404, _MISSING)
        if path == "/coupons/create_for_items":
            key = call.headers["chargebee-idempotency-key"]
            if key not in self._by_key:
                self._by_key[key] = self._create({name: values[0] for name, values in call.form.items()})
            return self._by_key[key]
        if not path.startswith("/coupons/"):
            return None
        matches = self.list_by_code(path.split("/")[2], "id")
        if not matches:
            return 404, _MISSING
        if path.endswith("/delete"):
            self._delete(matches[0])
        return 200, {"coupon": matches[0]}

    def list_live_ids(self, code: str) -> list[str]:
        return [row["id"] for row in self.list_by_code(code, "id") if row["status"] == "active"]

    def create_as_brand(self, code: str) -> str:
        self.rows.append({"id": code, "name": "Summer", "status": "active", "meta_data": {}})
        return code

    def terms(self, code: str) -> PlayedTerms:
        payload = self.get_by_code(code, "id")
        is_percent = payload["discount_type"] == "percentage"
        until = payload.get("valid_till")
        matching = [payload[name] for name in sorted(payload) if name.startswith("item_constraints[item_price_ids]")]
        return PlayedTerms(
            percent=int(payload["discount_percentage"]) if is_percent else None,
            cents=None if is_percent else int(payload["discount_amount"]),
            currency=payload.get("currency_code"),
            duration={"one_time": "once", "limited_period": "repeating"}.get(payload["duration_type"], "forever"),
            months=int(payload["period"]) if "period" in payload else None,
            cap=int(payload["max_redemptions"]) if "max_redemptions" in payload else None,
            expires_at=datetime.fromtimestamp(int(until), UTC) if until else None,
            products=tuple(price for prices in matching for price in json.loads(prices)),
        )

    def _create(self, fields: dict[str, str]) -> Answer:
        if self.list_by_code(fields["id"], "id"):
            return _error_answer("duplicate_entry", f"id : The value {fields['id']} is already present.")
        if any(row["name"] == fields["name"] for row in self.rows):
            return _error_answer("duplicate_entry", f"name : The value {fields['name']} is already present.")
        if len(fields["name"]) > 50:
            return _error_answer("param_wrong_value", "name : must not be longer than 50")
        if (fields["duration_type"] == "limited_period") != ("period" in fields):
            return _error_answer("param_wrong_value", "period : goes with limited_period")
        coupon = {**fields, "status": "active", "meta_data": json.loads(fields["meta_data"])}
        self.rows.append(coupon)
        return 200, {"coupon": coupon}

    def _delete(self, coupon: dict[str, Any]) -> None:
        if coupon["id"] in self.redeemed:
            coupon["status"] = "archived"
        else:
            self.rows.remove(coupon)
