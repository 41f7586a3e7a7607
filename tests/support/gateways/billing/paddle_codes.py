"""paddle's discounts for the tests."""

import re
from typing import Any

from tests.support.gateways.codes import Answer, CodeBooks, PlayedTerms, time_from_text
from tests.support.gateways.stage import ApiCall

_CODE = re.compile(r"[a-zA-Z0-9]{1,32}")


def _refuse(status: int, code: str, detail: str) -> Answer:
    return status, {"error": {"type": "request_error", "code": code, "detail": detail}}


class PaddleCodes(CodeBooks):
    """The books of discounts; an archived one lets go of its text."""

    product = "pro_01"
    other_product = "pro_02"

    def answer(self, asked: ApiCall) -> Answer | None:
        if asked.path == "/discounts" and asked.method == "POST":
            return self._create(asked.json)
        if asked.path == "/discounts":
            states = asked.params.get("status", ["active"])[0].split(",")
            return 200, {"data": [one for one in self.list_by_code(asked.params["code"][0]) if one["status"] in states]}
        if asked.method != "PATCH" or not asked.path.startswith("/discounts/"):
            return None
        found = [one for one in self.rows if one["id"] == asked.path.rpartition("/")[2]]
        if not found:
            return _refuse(404, "not_found", "Entity not found")
        found[0].update(asked.json)
        return 200, {"data": found[0]}

    def list_live_ids(self, code: str) -> list[str]:
        return [one["id"] for one in self.list_by_code(code) if one["status"] == "active"]

    def create_as_brand(self, code: str) -> str:
        return str(self._store({"code": code, "custom_data": None})["id"])

    def terms(self, code: str) -> PlayedTerms:
        told = self.get_by_code(code)
        is_percent = told["type"] == "percentage"
        return PlayedTerms(
            percent=int(told["amount"]) if is_percent else None,
            cents=None if is_percent else int(told["amount"]),
            currency=told.get("currency_code"),
            duration="forever" if told["recur"] else "once",
            cap=told.get("usage_limit"),
            expires_at=time_from_text(told["expires_at"]) if "expires_at" in told else None,
            products=tuple(told.get("restrict_to", ())),
        )

    def _create(self, wanted: dict[str, Any]) -> Answer:
        if not _CODE.fullmatch(wanted["code"]) or not wanted["description"] or not isinstance(wanted["amount"], str):
            return _refuse(400, "invalid_field", "Request does not pass validation.")
        if (wanted["type"] == "flat") != ("currency_code" in wanted):
            return _refuse(400, "invalid_field", "currency_code goes with flat.")
        if self.list_live_ids(wanted["code"]):
            return _refuse(
                409, "discount_code_conflict", f"Discount code conflicts with {self.list_live_ids(wanted['code'])}"
            )
        return 201, {"data": self._store(wanted)}

    def _store(self, wanted: dict[str, Any]) -> dict[str, Any]:
        discount = {**wanted, "id": f"dsc_c{self.number()}", "status": "active"}
        self.rows.append(discount)
        return discount
