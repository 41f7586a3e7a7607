"""lemonsqueezy's discounts for the tests."""

import re
from typing import Any

from tests.support.gateways.codes import Answer, CodeBooks, PlayedTerms, time_from_text
from tests.support.gateways.stage import ApiCall

_CODE = re.compile(r"[A-Z0-9]{3,256}")


def _refuse(field: str, detail: str) -> Answer:
    pointer = {"pointer": f"/data/attributes/{field}"}
    return 422, {"errors": [{"status": "422", "title": "Unprocessable Entity", "detail": detail, "source": pointer}]}


class LemonSqueezyCodes(CodeBooks):
    """The books of discounts."""

    def answer(self, asked: ApiCall) -> Answer | None:
        if not asked.path.startswith("/v1/discounts"):
            return None
        if asked.method == "POST":
            return self._create(asked.json["data"])
        if asked.method == "GET":
            size, number = int(asked.params["page[size]"][0]), int(asked.params["page[number]"][0])
            page = self.rows[(number - 1) * size : number * size]
            listed = [{"type": "discounts", "id": one["id"], "attributes": one} for one in page]
            return 200, {"data": listed, "meta": {"page": {"lastPage": max(1, -(-len(self.rows) // size))}}}
        found = [one for one in self.rows if one["id"] == asked.path.rpartition("/")[2]]
        if not found:
            return 404, {"errors": [{"status": "404", "title": "Not Found"}]}
        self.rows.remove(found[0])
        return 204, None

    def list_live_ids(self, code: str) -> list[str]:
        return [one["id"] for one in self.list_by_code(code)]

    def create_as_brand(self, code: str) -> str:
        return self._store({"name": "Summer", "code": code})

    def terms(self, code: str) -> PlayedTerms:
        told = self.get_by_code(code)
        is_percent = told["amount_type"] == "percent"
        return PlayedTerms(
            percent=told["amount"] if is_percent else None,
            cents=None if is_percent else told["amount"],
            currency=None if is_percent else self.currency,
            duration=told["duration"],
            months=told.get("duration_in_months"),
            cap=told["max_redemptions"] if told["is_limited_redemptions"] else None,
            expires_at=time_from_text(told["expires_at"]) if "expires_at" in told else None,
            products=tuple(told["variants"]) if told["is_limited_to_products"] else (),
        )

    def _create(self, wanted: dict[str, Any]) -> Answer:
        told = wanted["attributes"]
        if not _CODE.fullmatch(told["code"]):
            return _refuse("code", "The code must only contain uppercase letters and numbers.")
        if self.list_by_code(told["code"]):
            return _refuse("code", "The code has already been taken.")
        if (told["duration"] == "repeating") != ("duration_in_months" in told):
            return _refuse("duration_in_months", "The duration in months goes with repeating.")
        named = wanted["relationships"].get("variants", {"data": []})["data"]
        if told["is_limited_to_products"] != bool(named) or wanted["relationships"]["store"]["data"]["id"] != "1":
            return _refuse("is_limited_to_products", "The variants are missing.")
        discount_id = self._store({**told, "variants": [variant["id"] for variant in named]})
        return 201, {"data": {"type": "discounts", "id": discount_id, "attributes": told}}

    def _store(self, told: dict[str, Any]) -> str:
        self.rows.append({**told, "id": str(self.number())})
        return str(self.rows[-1]["id"])
