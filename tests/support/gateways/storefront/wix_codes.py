"""wix's coupons for the tests."""

import json
from datetime import UTC, datetime
from typing import Any

from tests.support.gateways.codes import Answer, CodeBooks, PlayedTerms, cents_from_text
from tests.support.gateways.stage import ApiCall

_COUPONS = "/stores/v2/coupons"


def _refuse(message: str) -> Answer:
    return 400, {"message": message, "details": {}}


class WixCodes(CodeBooks):
    """The books of coupons."""

    def answer(self, asked: ApiCall) -> Answer | None:
        if not asked.path.startswith(_COUPONS):
            return None
        if asked.path == f"{_COUPONS}/query":
            query = asked.json["query"]
            found = self.list_by_code(json.loads(query["filter"])["specification.code"])
            start = query["paging"]["offset"]
            return 200, {"coupons": found[start : start + query["paging"]["limit"]], "totalResults": len(found)}
        if asked.path == _COUPONS:
            return self._create(asked.json["specification"])
        found = [one for one in self.rows if one["id"] == asked.path.rpartition("/")[2]]
        if not found:
            return 404, {"message": "coupon not found", "details": {}}
        self.rows.remove(found[0])
        return 200, {}

    def list_live_ids(self, code: str) -> list[str]:
        return [one["id"] for one in self.list_by_code(code) if one["specification"]["active"]]

    def create_as_brand(self, code: str) -> str:
        return self._store({"name": "Summer", "code": code, "active": True})

    def terms(self, code: str) -> PlayedTerms:
        told = self.get_by_code(code)["specification"]
        is_percent = "percentOffRate" in told
        until = told.get("expirationTime")
        assert told["scope"] == {"namespace": "stores"}
        return PlayedTerms(
            percent=told["percentOffRate"] if is_percent else None,
            cents=None if is_percent else cents_from_text(told["moneyOffAmount"]),
            currency=None if is_percent else self.currency,
            cap=told.get("usageLimit"),
            expires_at=datetime.fromtimestamp(int(until) / 1000, UTC) if until else None,
        )

    def _create(self, wanted: dict[str, Any]) -> Answer:
        if not 0 < len(wanted.get("code", "")) <= 20 or not wanted.get("name"):
            return _refuse("specification.code has size 1 to 20")
        if ("percentOffRate" in wanted) == ("moneyOffAmount" in wanted) or ("scope" not in wanted):
            return _refuse("exactly one discount and one scope")
        if not wanted["startTime"].isdigit() or len(wanted["startTime"]) != 13:
            return _refuse("startTime counts milliseconds")
        if self.list_by_code(wanted["code"]):
            return _refuse("a coupon with this code exists")
        return 200, {"id": self._store(wanted)}

    def _store(self, wanted: dict[str, Any]) -> str:
        coupon_id = f"c0000000-0000-4000-8000-{self.number():012}"
        self.rows.append({"id": coupon_id, "code": wanted["code"], "specification": wanted, "expired": False})
        return coupon_id
