"""stripe's coupons and promotion codes for the tests: what it refuses, what it remembers by an idempotency key."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from tests.support.gateways.codes import Answer, CodeBooks, PlayedTerms
from tests.support.gateways.stage import Asked

_MISSING = {"error": {"message": "No such object."}}
_METADATA = re.compile(r"metadata\[(\w+)\]")


def _refused(message: str) -> Answer:
    return 400, {"error": {"type": "invalid_request_error", "message": message}}


class StripeCodes(CodeBooks):
    """The books of coupons and promotion codes, oldest first."""

    product = "prod_11"
    other_product = "prod_12"

    def __init__(self, number: Callable[[], int], now: Callable[[], int]) -> None:
        super().__init__(number)
        self._now = now
        self.coupons: list[dict[str, Any]] = []
        self.promotion_codes: list[dict[str, Any]] = []
        self._by_key: dict[str, Answer] = {}

    def answer(self, asked: Asked) -> Answer | None:
        """Act on a call about coupons or promotion codes; None for any other."""
        _, _, kind, *rest = asked.path.split("/")
        if kind not in ("coupons", "promotion_codes"):
            return None
        books = self.coupons if kind == "coupons" else self.promotion_codes
        if asked.method == "POST" and not rest:
            return self._once(asked, kind)
        if not rest:
            return 200, self._page(books, asked)
        found = next((one for one in books if one["id"] == rest[0]), None)
        if found is None:
            return None if asked.method == "GET" else (404, _MISSING)
        if asked.method == "DELETE":
            books.remove(found)
            return 200, {"id": found["id"], "deleted": True}
        if asked.method == "POST":
            found["active"] = asked.form["active"] == ["true"]
        return 200, found

    def active(self, code: str) -> list[dict[str, Any]]:
        """Return the promotion codes with this text that buyers can redeem."""
        return [one for one in self.promotion_codes if one["active"] and one["code"].lower() == code.lower()]

    def live(self, code: str) -> list[str]:
        return [one["id"] for one in self.active(code)]

    def plant(self, code: str) -> str:
        theirs = {"id": f"promo_{self.number()}", "code": code, "active": True, "metadata": {}}
        self.promotion_codes.append(theirs)
        return str(theirs["id"])

    def terms(self, code: str) -> PlayedTerms:
        (told,) = self.active(code)
        coupon = next(one for one in self.coupons if one["id"] == told["coupon"])
        assert told.get("expires_at") == coupon.get("redeem_by")
        until, percent = told.get("expires_at"), coupon.get("percent_off")
        return PlayedTerms(
            percent=int(percent) if percent else None,
            cents=None if percent else int(coupon["amount_off"]),
            currency=None if percent else coupon["currency"].upper(),
            duration=coupon["duration"],
            months=int(coupon["duration_in_months"]) if "duration_in_months" in coupon else None,
            cap=int(told["max_redemptions"]) if "max_redemptions" in told else None,
            expires_at=datetime.fromtimestamp(int(until), UTC) if until else None,
            products=tuple(coupon["products"]),
        )

    def _once(self, asked: Asked, kind: str) -> Answer:
        key = asked.headers.get("Idempotency-Key")
        if key in self._by_key:
            return self._by_key[key]
        sent = {name: values[0] for name, values in asked.form.items()}
        answer = self._coupon(sent, asked) if kind == "coupons" else self._promotion_code(sent)
        if key:
            self._by_key[key] = answer
        return answer

    def _coupon(self, sent: dict[str, str], asked: Asked) -> Answer:
        if ("percent_off" in sent) == ("amount_off" in sent):
            return _refused("You must pass either percent_off or amount_off.")
        if sent.get("duration") not in ("once", "repeating", "forever"):
            return _refused("Invalid duration.")
        if (sent["duration"] == "repeating") != ("duration_in_months" in sent):
            return _refused("duration_in_months goes with repeating.")
        if len(sent.get("name", "")) > 40:
            return _refused("Invalid string: name must be at most 40 characters.")
        made = self._made("co", sent) | {"products": asked.form.get("applies_to[products][]", [])}
        self.coupons.append(made)
        return 200, made

    def _promotion_code(self, sent: dict[str, str]) -> Answer:
        if not any(one["id"] == sent.get("promotion[coupon]") for one in self.coupons):
            return _refused("No such coupon.")
        if not re.fullmatch(r"[A-Za-z0-9-]{1,500}", sent.get("code", "")):
            return _refused("Invalid characters in code.")
        if self.active(sent["code"]):
            return _refused(f"An active promotion code with `code: {sent['code']}` already exists.")
        made = self._made("promo", sent) | {"active": True, "coupon": sent["promotion[coupon]"]}
        self.promotion_codes.append(made)
        return 200, made

    def _made(self, prefix: str, sent: dict[str, str]) -> dict[str, Any]:
        metadata = {found[1]: value for name, value in sent.items() if (found := _METADATA.fullmatch(name))}
        plain = {name: value for name, value in sent.items() if "[" not in name}
        return {"id": f"{prefix}_{self.number()}", "created": self._now(), **plain, "metadata": metadata}

    def _page(self, books: list[dict[str, Any]], asked: Asked) -> dict[str, Any]:
        wanted = {name: values[0] for name, values in asked.params.items()}
        found = [
            one for one in reversed(books) if "code" not in wanted or one["code"].lower() == wanted["code"].lower()
        ]
        if "active" in wanted:
            found = [one for one in found if one["active"] == (wanted["active"] == "true")]
        if after := wanted.get("starting_after"):
            found = found[[one["id"] for one in found].index(after) + 1 :]
        limit = int(wanted.get("limit", 10))
        return {"object": "list", "data": found[:limit], "has_more": len(found) > limit}
