"""Coupons and promotion codes of the fake Stripe, with the rules of the demo's gateway."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from commands.demo.gateway import codes, stripe_objects
from commands.demo.gateway.forms import InvalidField
from tests.support.gateways.codes import Answer, CodeBooks, PlayedTerms
from tests.support.gateways.stage import ApiCall

_MISSING = stripe_objects.build_error("No such object.")


class StripeCodes(CodeBooks):
    """Stored coupons and promotion codes, oldest first."""

    product = "prod_11"
    other_product = "prod_12"

    def __init__(self, number: Callable[[], int], now: Callable[[], int]) -> None:
        super().__init__(number)
        self._now = now
        self.coupons: list[dict[str, Any]] = []
        self.promotion_codes: list[dict[str, Any]] = []
        self._by_key: dict[str, Answer] = {}
        self._at_it: set[str] = set()
        self.is_asked, self.may_answer = threading.Event(), threading.Event()
        self.may_answer.set()

    def answer(self, call: ApiCall) -> Answer | None:
        """Handle a call about coupons or promotion codes; return None for any other call."""
        _, _, kind, *rest = call.path.split("/")
        if kind not in ("coupons", "promotion_codes"):
            return None
        books = self.coupons if kind == "coupons" else self.promotion_codes
        if call.method == "POST" and not rest:
            return self._create_once(call, kind)
        if not rest:
            newest_first = books[::-1] if kind == "coupons" else codes.filter_codes(books[::-1], call.params)
            return 200, stripe_objects.build_page(
                call.path, newest_first, {name: values[0] for name, values in call.params.items()}
            )
        matches = next((row for row in books if row["id"] == rest[0]), None)
        if matches is None:
            return None if call.method == "GET" else (404, _MISSING)
        if call.method == "DELETE":
            books.remove(matches)
            return 200, {"id": matches["id"], "deleted": True}
        if call.method == "POST":
            matches.update(codes.set_active(matches, call.form, existing=books))
        return 200, matches

    def active(self, code: str) -> list[dict[str, Any]]:
        """Return the active promotion codes with this text."""
        return codes.filter_codes(self.promotion_codes, {"code": [code], "active": ["true"]})

    def list_live_ids(self, code: str) -> list[str]:
        return [row["id"] for row in self.active(code)]

    def create_as_brand(self, code: str) -> str:
        theirs = {"id": f"promo_{self.number()}", "created": self._now(), "code": code, "active": True, "metadata": {}}
        self.promotion_codes.append(theirs)
        return str(theirs["id"])

    def terms(self, code: str) -> PlayedTerms:
        (payload,) = self.active(code)
        coupon = next(row for row in self.coupons if row["id"] == payload["promotion"]["coupon"])
        assert payload["expires_at"] == coupon["redeem_by"]
        until, currency = payload["expires_at"], coupon["currency"]
        return PlayedTerms(
            percent=coupon["percent_off"],
            cents=coupon["amount_off"],
            currency=currency.upper() if currency else None,
            duration=coupon["duration"],
            months=coupon["duration_in_months"],
            cap=payload["max_redemptions"],
            expires_at=datetime.fromtimestamp(until, UTC) if until else None,
            products=tuple(coupon["applies_to"]["products"]),
        )

    def forget_keys(self) -> None:
        """Delete the stored idempotency keys, as Stripe does after a day."""
        self._by_key.clear()

    def _create_once(self, call: ApiCall, kind: str) -> Answer:
        key = call.headers.get("Idempotency-Key", "")
        if key in self._by_key:
            return self._by_key[key]
        if key and key in self._at_it:
            return 409, stripe_objects.build_error("Another request with this key is at it.")
        self._at_it.add(key)
        self.is_asked.set()
        self.may_answer.wait()
        answer = self._create(call, kind)
        if key:
            self._by_key[key] = answer
        self._at_it.discard(key)
        return answer

    def _create(self, call: ApiCall, kind: str) -> Answer:
        try:
            if kind == "coupons":
                prefix, books, reply = "co", self.coupons, codes.build_coupon(call.form)
            else:
                prefix, books = "promo", self.promotion_codes
                reply = codes.build_promotion_code(call.form, coupons=self.coupons, existing=books)
        except InvalidField as invalid:
            return 400, stripe_objects.build_error(str(invalid), param=invalid.param)
        books.append({"id": f"{prefix}_{self.number()}", "created": self._now(), **reply})
        return 200, books[-1]
