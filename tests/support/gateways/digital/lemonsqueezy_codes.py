"""lemonsqueezy's discounts for the tests."""

import re
from typing import Any

from tests.support.gateways.codes import Answer, CodeBooks, PlayedTerms, moment
from tests.support.gateways.stage import Asked

_CODE = re.compile(r"[A-Z0-9]{3,256}")


def _refused(field: str, detail: str) -> Answer:
    pointer = {"pointer": f"/data/attributes/{field}"}
    return 422, {"errors": [{"status": "422", "title": "Unprocessable Entity", "detail": detail, "source": pointer}]}


class LemonSqueezyCodes(CodeBooks):
    """The books of discounts."""

    def answer(self, asked: Asked) -> Answer | None:
        if not asked.path.startswith("/v1/discounts"):
            return None
        if asked.method == "POST":
            return self._create(asked.json["data"])
        if asked.method == "GET":
            size, number = int(asked.params["page[size]"][0]), int(asked.params["page[number]"][0])
            page = self.kept[(number - 1) * size : number * size]
            listed = [{"type": "discounts", "id": one["id"], "attributes": one} for one in page]
            return 200, {"data": listed, "meta": {"page": {"lastPage": max(1, -(-len(self.kept) // size))}}}
        found = [one for one in self.kept if one["id"] == asked.path.rpartition("/")[2]]
        if not found:
            return 404, {"errors": [{"status": "404", "title": "Not Found"}]}
        self.kept.remove(found[0])
        return 204, None

    def live(self, code: str) -> list[str]:
        return [one["id"] for one in self.of(code)]

    def plant(self, code: str) -> str:
        return self._kept({"name": "Summer", "code": code})

    def terms(self, code: str) -> PlayedTerms:
        told = self.one(code)
        is_percent = told["amount_type"] == "percent"
        return PlayedTerms(
            percent=told["amount"] if is_percent else None,
            cents=None if is_percent else told["amount"],
            currency=None if is_percent else self.currency,
            duration=told["duration"],
            months=told.get("duration_in_months"),
            cap=told["max_redemptions"] if told["is_limited_redemptions"] else None,
            expires_at=moment(told["expires_at"]) if "expires_at" in told else None,
            products=tuple(told["variants"]) if told["is_limited_to_products"] else (),
        )

    def _create(self, wanted: dict[str, Any]) -> Answer:
        told = wanted["attributes"]
        if not _CODE.fullmatch(told["code"]):
            return _refused("code", "The code must only contain uppercase letters and numbers.")
        if self.of(told["code"]):
            return _refused("code", "The code has already been taken.")
        if (told["duration"] == "repeating") != ("duration_in_months" in told):
            return _refused("duration_in_months", "The duration in months goes with repeating.")
        named = wanted["relationships"].get("variants", {"data": []})["data"]
        if told["is_limited_to_products"] != bool(named) or wanted["relationships"]["store"]["data"]["id"] != "1":
            return _refused("is_limited_to_products", "The variants are missing.")
        discount_id = self._kept({**told, "variants": [variant["id"] for variant in named]})
        return 201, {"data": {"type": "discounts", "id": discount_id, "attributes": told}}

    def _kept(self, told: dict[str, Any]) -> str:
        self.kept.append({**told, "id": str(self.number())})
        return str(self.kept[-1]["id"])
