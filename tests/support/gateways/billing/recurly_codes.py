"""Coupons of the fake Recurly: deleting one expires it, and frees its code."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from tests.support.gateways.codes import Answer, CodeBooks, PlayedTerms, cents_from_text
from tests.support.gateways.stage import ApiCall

_MISSING = {"error": {"type": "not_found", "message": "Couldn't find Coupon"}}
_PACIFIC = timezone(timedelta(hours=-8))


def _error_answer(param: str, message: str) -> Answer:
    params = [{"param": param, "message": message}]
    return 422, {"error": {"type": "validation", "message": f"{param} {message}", "params": params}}


class RecurlyCodes(CodeBooks):
    """Stored coupons."""

    product = "gold"
    other_product = "silver"

    def answer(self, call: ApiCall) -> Answer | None:
        if not call.path.startswith("/coupons"):
            return None
        if call.method == "POST":
            return self._create(call.json)
        name = call.path.rpartition("/")[2]
        if name.startswith("code-"):
            matches = self.list_by_code(name.removeprefix("code-"))[-1:]
        else:
            matches = [row for row in self.rows if row["id"] == name]
        if not matches:
            return 404, _MISSING
        if call.method == "DELETE":
            matches[0]["state"] = "expired"
        return 200, matches[0]

    def list_live_ids(self, code: str) -> list[str]:
        return [row["id"] for row in self.list_by_code(code) if row["state"] == "redeemable"]

    def create_as_brand(self, code: str) -> str:
        return str(self._store({"code": code, "name": "Summer"})["id"])

    def terms(self, code: str) -> PlayedTerms:
        payload = self.get_by_code(code)
        is_percent = payload["discount_type"] == "percent"
        until = payload.get("redeem_by_date")
        return PlayedTerms(
            percent=payload["discount_percent"] if is_percent else None,
            cents=None if is_percent else cents_from_text(payload["currencies"][0]["discount"]),
            currency=None if is_percent else payload["currencies"][0]["currency"],
            duration={"single_use": "once", "temporal": "repeating"}.get(payload["duration"], "forever"),
            months=payload.get("temporal_amount"),
            cap=payload.get("max_redemptions"),
            expires_at=_end_of(until) if until else None,
            products=tuple(payload.get("plan_codes", ())),
        )

    def _create(self, fields: dict[str, Any]) -> Answer:
        if self.list_live_ids(fields["code"]):
            return _error_answer("code", "has already been taken")
        if len(fields["name"]) > 255 or fields["applies_to_all_plans"] == ("plan_codes" in fields):
            return _error_answer("plan_codes", "goes with applies_to_all_plans false")
        if (fields["duration"] == "temporal") != ("temporal_amount" in fields):
            return _error_answer("temporal_amount", "goes with temporal")
        return 201, self._store(fields)

    def _store(self, fields: dict[str, Any]) -> dict[str, Any]:
        coupon = {**fields, "id": f"rcp{self.number()}", "state": "redeemable"}
        self.rows.append(coupon)
        return coupon


def _end_of(day: str) -> datetime:
    first = datetime.fromisoformat(day).replace(tzinfo=_PACIFIC)
    return (first + timedelta(days=1) - timedelta(seconds=1)).astimezone(UTC)
