"""Promotions and their codes of the fake BigCommerce."""

import re
from typing import Any

from tests.support.gateways.codes import Answer, CodeBooks, PlayedTerms, cents_from_text, time_from_text
from tests.support.gateways.stage import ApiCall

_CODE = re.compile(r"[A-Za-z0-9 _-]{1,50}")


def _error_answer(title: str) -> Answer:
    return 422, {"status": 422, "title": title, "errors": {}}


class BigCommerceCodes(CodeBooks):
    """Stored codes, each with the id of its promotion, and promotions."""

    def __init__(self, number: Any) -> None:
        super().__init__(number)
        self.promotions: dict[int, dict[str, Any]] = {}

    def answer(self, call: ApiCall) -> Answer | None:
        _, _, path = call.path.partition("/v3/promotions")
        if "/v3/promotions" not in call.path:
            return None
        fields = {name: values[0] for name, values in call.params.items()}
        if path == "/codes":
            return self._by_text(call.method, fields["code"])
        if path == "":
            return self._create(call.json) if call.method == "POST" else self._list_by_name(fields)
        number, _, rest = path.removeprefix("/").partition("/")
        promotion = self.promotions.get(int(number))
        if promotion is None:
            return 404, {"status": 404, "title": "Promotion not found"}
        if rest == "codes":
            if call.method == "POST":
                return self._code(promotion, call.json)
            return 200, {"data": [row for row in self.rows if row["promotion"] == promotion["id"]], "meta": {}}
        if call.method == "PUT":
            promotion.update(call.json)
        elif call.method == "DELETE":
            if any(row["promotion"] == promotion["id"] for row in self.rows):
                return _error_answer("A promotion with codes cannot be deleted")
            del self.promotions[promotion["id"]]
            return 204, None
        return 200, {"data": promotion, "meta": {}}

    def list_live_ids(self, code: str) -> list[str]:
        rows = [row["promotion"] for row in self.list_by_code(code)]
        return [str(number) for number in rows if self.promotions[number]["status"] == "ENABLED"]

    def create_as_brand(self, code: str) -> str:
        promotion = {"id": self.number(), "name": "Summer", "status": "ENABLED"}
        self.promotions[promotion["id"]] = promotion
        self.rows.append({"id": self.number(), "code": code, "promotion": promotion["id"]})
        return str(promotion["id"])

    def terms(self, code: str) -> PlayedTerms:
        row = self.get_by_code(code)
        promotion = self.promotions[row["promotion"]]
        off = promotion["rules"][0]["action"]["cart_value"]["discount"]
        percent = off.get("percentage_amount")
        assert row.get("max_uses") == promotion.get("max_uses")
        return PlayedTerms(
            percent=int(percent) if percent else None,
            cents=None if percent else cents_from_text(off["fixed_amount"]),
            currency=promotion.get("currency_code"),
            cap=promotion.get("max_uses"),
            expires_at=time_from_text(promotion["end_date"]) if "end_date" in promotion else None,
        )

    def _create(self, fields: dict[str, Any]) -> Answer:
        if fields.get("redemption_type") != "COUPON" or not fields.get("name") or len(fields.get("rules", ())) != 1:
            return _error_answer("The promotion is not valid")
        promotion = {**fields, "id": self.number()}
        self.promotions[promotion["id"]] = promotion
        return 201, {"data": promotion, "meta": {}}

    def _list_by_name(self, fields: dict[str, str]) -> Answer:
        return 200, {"data": [row for row in self.promotions.values() if row["name"] == fields["name"]], "meta": {}}

    def _code(self, promotion: dict[str, Any], fields: dict[str, Any]) -> Answer:
        if not _CODE.fullmatch(fields["code"]):
            return _error_answer("The code is not valid")
        if self.list_by_code(fields["code"]):
            return _error_answer("The code is in use")
        row = {**fields, "id": self.number(), "promotion": promotion["id"]}
        self.rows.append(row)
        return 201, {"data": row, "meta": {}}

    def _by_text(self, method: str, code: str) -> Answer:
        if method == "DELETE":
            self.rows = [row for row in self.rows if row not in self.list_by_code(code)]
            return 204, None
        return 200, {"data": self.list_by_code(code), "meta": {}}
