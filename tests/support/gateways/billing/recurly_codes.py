"""recurly's coupons for the tests: one that is deleted is expired, and its code is free."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from tests.support.gateways.codes import Answer, CodeBooks, PlayedTerms, cents_from_text
from tests.support.gateways.stage import ApiCall

_MISSING = {"error": {"type": "not_found", "message": "Couldn't find Coupon"}}
_PACIFIC = timezone(timedelta(hours=-8))


def _refuse(param: str, message: str) -> Answer:
    params = [{"param": param, "message": message}]
    return 422, {"error": {"type": "validation", "message": f"{param} {message}", "params": params}}


class RecurlyCodes(CodeBooks):
    """The books of coupons."""

    product = "gold"
    other_product = "silver"

    def answer(self, asked: ApiCall) -> Answer | None:
        if not asked.path.startswith("/coupons"):
            return None
        if asked.method == "POST":
            return self._create(asked.json)
        name = asked.path.rpartition("/")[2]
        if name.startswith("code-"):
            found = self.list_by_code(name.removeprefix("code-"))[-1:]
        else:
            found = [one for one in self.rows if one["id"] == name]
        if not found:
            return 404, _MISSING
        if asked.method == "DELETE":
            found[0]["state"] = "expired"
        return 200, found[0]

    def list_live_ids(self, code: str) -> list[str]:
        return [one["id"] for one in self.list_by_code(code) if one["state"] == "redeemable"]

    def create_as_brand(self, code: str) -> str:
        return str(self._store({"code": code, "name": "Summer"})["id"])

    def terms(self, code: str) -> PlayedTerms:
        told = self.get_by_code(code)
        is_percent = told["discount_type"] == "percent"
        until = told.get("redeem_by_date")
        return PlayedTerms(
            percent=told["discount_percent"] if is_percent else None,
            cents=None if is_percent else cents_from_text(told["currencies"][0]["discount"]),
            currency=None if is_percent else told["currencies"][0]["currency"],
            duration={"single_use": "once", "temporal": "repeating"}.get(told["duration"], "forever"),
            months=told.get("temporal_amount"),
            cap=told.get("max_redemptions"),
            expires_at=_end_of(until) if until else None,
            products=tuple(told.get("plan_codes", ())),
        )

    def _create(self, wanted: dict[str, Any]) -> Answer:
        if self.list_live_ids(wanted["code"]):
            return _refuse("code", "has already been taken")
        if len(wanted["name"]) > 255 or wanted["applies_to_all_plans"] == ("plan_codes" in wanted):
            return _refuse("plan_codes", "goes with applies_to_all_plans false")
        if (wanted["duration"] == "temporal") != ("temporal_amount" in wanted):
            return _refuse("temporal_amount", "goes with temporal")
        return 201, self._store(wanted)

    def _store(self, wanted: dict[str, Any]) -> dict[str, Any]:
        coupon = {**wanted, "id": f"rcp{self.number()}", "state": "redeemable"}
        self.rows.append(coupon)
        return coupon


def _end_of(day: str) -> datetime:
    first = datetime.fromisoformat(day).replace(tzinfo=_PACIFIC)
    return (first + timedelta(days=1) - timedelta(seconds=1)).astimezone(UTC)
