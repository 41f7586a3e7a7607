"""Coupons of the fake Wix."""

import json
from datetime import UTC, datetime
from typing import Any

from tests.support.gateways.codes import Answer, CodeBooks, PlayedTerms, cents_from_text
from tests.support.gateways.stage import ApiCall

_COUPONS = "/stores/v2/coupons"


def _error_answer(message: str) -> Answer:
    return 400, {"message": message, "details": {}}


class WixCodes(CodeBooks):
    """Stored coupons."""

    def answer(self, call: ApiCall) -> Answer | None:
        if not call.path.startswith(_COUPONS):
            return None
        if call.path == f"{_COUPONS}/query":
            query = call.json["query"]
            matches = self.list_by_code(json.loads(query["filter"])["specification.code"])
            start = query["paging"]["offset"]
            return 200, {"coupons": matches[start : start + query["paging"]["limit"]], "totalResults": len(matches)}
        if call.path == _COUPONS:
            return self._create(call.json["specification"])
        matches = [row for row in self.rows if row["id"] == call.path.rpartition("/")[2]]
        if not matches:
            return 404, {"message": "coupon not found", "details": {}}
        self.rows.remove(matches[0])
        return 200, {}

    def list_live_ids(self, code: str) -> list[str]:
        return [row["id"] for row in self.list_by_code(code) if row["specification"]["active"]]

    def create_as_brand(self, code: str) -> str:
        return self._store({"name": "Summer", "code": code, "active": True})

    def terms(self, code: str) -> PlayedTerms:
        payload = self.get_by_code(code)["specification"]
        is_percent = "percentOffRate" in payload
        until = payload.get("expirationTime")
        assert payload["scope"] == {"namespace": "stores"}
        return PlayedTerms(
            percent=payload["percentOffRate"] if is_percent else None,
            cents=None if is_percent else cents_from_text(payload["moneyOffAmount"]),
            currency=None if is_percent else self.currency,
            cap=payload.get("usageLimit"),
            expires_at=datetime.fromtimestamp(int(until) / 1000, UTC) if until else None,
        )

    def _create(self, fields: dict[str, Any]) -> Answer:
        if not 0 < len(fields.get("code", "")) <= 20 or not fields.get("name"):
            return _error_answer("specification.code has size 1 to 20")
        if ("percentOffRate" in fields) == ("moneyOffAmount" in fields) or ("scope" not in fields):
            return _error_answer("exactly one discount and one scope")
        if not fields["startTime"].isdigit() or len(fields["startTime"]) != 13:
            return _error_answer("startTime counts milliseconds")
        if self.list_by_code(fields["code"]):
            return _error_answer("a coupon with this code exists")
        return 200, {"id": self._store(fields)}

    def _store(self, fields: dict[str, Any]) -> str:
        coupon_id = f"c0000000-0000-4000-8000-{self.number():012}"
        self.rows.append({"id": coupon_id, "code": fields["code"], "specification": fields, "expired": False})
        return coupon_id
