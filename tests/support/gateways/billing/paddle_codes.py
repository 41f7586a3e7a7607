"""Discounts of the fake Paddle."""

import re
from typing import Any

from tests.support.gateways.codes import Answer, CodeBooks, PlayedTerms, time_from_text
from tests.support.gateways.stage import ApiCall

_CODE = re.compile(r"[a-zA-Z0-9]{1,32}")


def _error_answer(status: int, code: str, detail: str) -> Answer:
    return status, {"error": {"type": "request_error", "code": code, "detail": detail}}


class PaddleCodes(CodeBooks):
    """Stored discounts; the code of an archived one is free again."""

    product = "pro_01"
    other_product = "pro_02"

    def answer(self, call: ApiCall) -> Answer | None:
        if call.path == "/discounts" and call.method == "POST":
            return self._create(call.json)
        if call.path == "/discounts":
            states = call.params.get("status", ["active"])[0].split(",")
            return 200, {"data": [row for row in self.list_by_code(call.params["code"][0]) if row["status"] in states]}
        if call.method != "PATCH" or not call.path.startswith("/discounts/"):
            return None
        matches = [row for row in self.rows if row["id"] == call.path.rpartition("/")[2]]
        if not matches:
            return _error_answer(404, "not_found", "Entity not found")
        matches[0].update(call.json)
        return 200, {"data": matches[0]}

    def list_live_ids(self, code: str) -> list[str]:
        return [row["id"] for row in self.list_by_code(code) if row["status"] == "active"]

    def create_as_brand(self, code: str) -> str:
        return str(self._store({"code": code, "custom_data": None})["id"])

    def terms(self, code: str) -> PlayedTerms:
        payload = self.get_by_code(code)
        is_percent = payload["type"] == "percentage"
        return PlayedTerms(
            percent=int(payload["amount"]) if is_percent else None,
            cents=None if is_percent else int(payload["amount"]),
            currency=payload.get("currency_code"),
            duration="forever" if payload["recur"] else "once",
            cap=payload.get("usage_limit"),
            expires_at=time_from_text(payload["expires_at"]) if "expires_at" in payload else None,
            products=tuple(payload.get("restrict_to", ())),
        )

    def _create(self, fields: dict[str, Any]) -> Answer:
        if not _CODE.fullmatch(fields["code"]) or not fields["description"] or not isinstance(fields["amount"], str):
            return _error_answer(400, "invalid_field", "Request does not pass validation.")
        if (fields["type"] == "flat") != ("currency_code" in fields):
            return _error_answer(400, "invalid_field", "currency_code goes with flat.")
        if self.list_live_ids(fields["code"]):
            return _error_answer(
                409, "discount_code_conflict", f"Discount code conflicts with {self.list_live_ids(fields['code'])}"
            )
        return 201, {"data": self._store(fields)}

    def _store(self, fields: dict[str, Any]) -> dict[str, Any]:
        discount = {**fields, "id": f"dsc_c{self.number()}", "status": "active"}
        self.rows.append(discount)
        return discount
