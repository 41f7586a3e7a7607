"""paddle's discounts for the tests."""

import re
from typing import Any

from tests.support.gateways.codes import Answer, CodeBooks, PlayedTerms, moment
from tests.support.gateways.stage import Asked

_CODE = re.compile(r"[a-zA-Z0-9]{1,32}")


def _refused(status: int, code: str, detail: str) -> Answer:
    return status, {"error": {"type": "request_error", "code": code, "detail": detail}}


class PaddleCodes(CodeBooks):
    """The books of discounts; an archived one lets go of its text."""

    product = "pro_01"
    other_product = "pro_02"

    def answer(self, asked: Asked) -> Answer | None:
        if asked.path == "/discounts" and asked.method == "POST":
            return self._create(asked.json)
        if asked.path == "/discounts":
            states = asked.params.get("status", ["active"])[0].split(",")
            return 200, {"data": [one for one in self.of(asked.params["code"][0]) if one["status"] in states]}
        if asked.method != "PATCH" or not asked.path.startswith("/discounts/"):
            return None
        found = [one for one in self.kept if one["id"] == asked.path.rpartition("/")[2]]
        if not found:
            return _refused(404, "not_found", "Entity not found")
        found[0].update(asked.json)
        return 200, {"data": found[0]}

    def live(self, code: str) -> list[str]:
        return [one["id"] for one in self.of(code) if one["status"] == "active"]

    def plant(self, code: str) -> str:
        return str(self._kept({"code": code, "custom_data": None})["id"])

    def terms(self, code: str) -> PlayedTerms:
        told = self.one(code)
        is_percent = told["type"] == "percentage"
        return PlayedTerms(
            percent=int(told["amount"]) if is_percent else None,
            cents=None if is_percent else int(told["amount"]),
            currency=told.get("currency_code"),
            duration="forever" if told["recur"] else "once",
            cap=told.get("usage_limit"),
            expires_at=moment(told["expires_at"]) if "expires_at" in told else None,
            products=tuple(told.get("restrict_to", ())),
        )

    def _create(self, wanted: dict[str, Any]) -> Answer:
        if not _CODE.fullmatch(wanted["code"]) or not wanted["description"] or not isinstance(wanted["amount"], str):
            return _refused(400, "invalid_field", "Request does not pass validation.")
        if (wanted["type"] == "flat") != ("currency_code" in wanted):
            return _refused(400, "invalid_field", "currency_code goes with flat.")
        if self.live(wanted["code"]):
            return _refused(409, "discount_code_conflict", f"Discount code conflicts with {self.live(wanted['code'])}")
        return 201, {"data": self._kept(wanted)}

    def _kept(self, wanted: dict[str, Any]) -> dict[str, Any]:
        discount = {**wanted, "id": f"dsc_c{self.number()}", "status": "active"}
        self.kept.append(discount)
        return discount
