"""Discounts of the fake Lemon Squeezy."""

import re
from typing import Any

from tests.support.gateways.codes import Answer, CodeBooks, PlayedTerms, time_from_text
from tests.support.gateways.stage import ApiCall

_CODE = re.compile(r"[A-Z0-9]{3,256}")


def _error_answer(field: str, detail: str) -> Answer:
    pointer = {"pointer": f"/data/attributes/{field}"}
    return 422, {"errors": [{"status": "422", "title": "Unprocessable Entity", "detail": detail, "source": pointer}]}


class LemonSqueezyCodes(CodeBooks):
    """Stored discounts."""

    def answer(self, call: ApiCall) -> Answer | None:
        if not call.path.startswith("/v1/discounts"):
            return None
        if call.method == "POST":
            return self._create(call.json["data"])
        if call.method == "GET":
            size, number = int(call.params["page[size]"][0]), int(call.params["page[number]"][0])
            page = self.rows[(number - 1) * size : number * size]
            listed = [{"type": "discounts", "id": row["id"], "attributes": row} for row in page]
            return 200, {"data": listed, "meta": {"page": {"lastPage": max(1, -(-len(self.rows) // size))}}}
        matches = [row for row in self.rows if row["id"] == call.path.rpartition("/")[2]]
        if not matches:
            return 404, {"errors": [{"status": "404", "title": "Not Found"}]}
        self.rows.remove(matches[0])
        return 204, None

    def list_live_ids(self, code: str) -> list[str]:
        return [row["id"] for row in self.list_by_code(code)]

    def create_as_brand(self, code: str) -> str:
        return self._store({"name": "Summer", "code": code})

    def terms(self, code: str) -> PlayedTerms:
        payload = self.get_by_code(code)
        is_percent = payload["amount_type"] == "percent"
        return PlayedTerms(
            percent=payload["amount"] if is_percent else None,
            cents=None if is_percent else payload["amount"],
            currency=None if is_percent else self.currency,
            duration=payload["duration"],
            months=payload.get("duration_in_months"),
            cap=payload["max_redemptions"] if payload["is_limited_redemptions"] else None,
            expires_at=time_from_text(payload["expires_at"]) if "expires_at" in payload else None,
            products=tuple(payload["variants"]) if payload["is_limited_to_products"] else (),
        )

    def _create(self, fields: dict[str, Any]) -> Answer:
        payload = fields["attributes"]
        if not _CODE.fullmatch(payload["code"]):
            return _error_answer("code", "The code must only contain uppercase letters and numbers.")
        if self.list_by_code(payload["code"]):
            return _error_answer("code", "The code has already been taken.")
        if (payload["duration"] == "repeating") != ("duration_in_months" in payload):
            return _error_answer("duration_in_months", "The duration in months goes with repeating.")
        matching = fields["relationships"].get("variants", {"data": []})["data"]
        if payload["is_limited_to_products"] != bool(matching) or fields["relationships"]["store"]["data"]["id"] != "1":
            return _error_answer("is_limited_to_products", "The variants are missing.")
        discount_id = self._store({**payload, "variants": [variant["id"] for variant in matching]})
        return 201, {"data": {"type": "discounts", "id": discount_id, "attributes": payload}}

    def _store(self, payload: dict[str, Any]) -> str:
        self.rows.append({**payload, "id": str(self.number())})
        return str(self.rows[-1]["id"])
