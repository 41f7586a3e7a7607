"""Discount codes of the fake Shopify, whose GraphQL refuses with status 200."""

from typing import Any

from tests.support.gateways.codes import Answer, CodeBooks, PlayedTerms, cents_from_text, time_from_text
from tests.support.gateways.stage import ApiCall

_NEEDED = ("title", "code", "context", "customerGets", "startsAt")


class ShopifyCodes(CodeBooks):
    """Stored discounts. `has_scope`: whether the app has the scope for discounts."""

    has_scope = True

    def answer(self, call: ApiCall) -> Answer | None:
        query, variables = call.json["query"], call.json["variables"]
        acts = {
            "codeDiscountNodeByCode": self._find_by_code,
            "discountCodeBasicCreate": self._create,
            "discountCodeDelete": self._delete,
        }
        for name, act in acts.items():
            if name in query:
                if not self.has_scope:
                    denied = {"message": f"Access denied for {name} field.", "extensions": {"code": "ACCESS_DENIED"}}
                    return 200, {"data": {name: None}, "errors": [denied]}
                return 200, {"data": {name: act(variables)}}
        if "currencyCode" in query and "accessScopes" not in query and "order" not in query:
            return 200, {"data": {"shop": {"currencyCode": self.currency}}}
        return None

    def list_live_ids(self, code: str) -> list[str]:
        return [row["id"] for row in self.list_by_code(code) if row["status"] == "ACTIVE"]

    def create_as_brand(self, code: str) -> str:
        return self._store({"title": "Summer", "code": code})

    def terms(self, code: str) -> PlayedTerms:
        payload = self.get_by_code(code)
        value = payload["customerGets"]["value"]
        assert payload["customerGets"]["items"] == {"all": True}
        is_percent = "percentage" in value
        renews = payload["customerGets"].get("appliesOnSubscription") is True and payload["recurringCycleLimit"] == 0
        return PlayedTerms(
            percent=cents_from_text(value["percentage"]) if is_percent else None,
            cents=None if is_percent else cents_from_text(value["discountAmount"]["amount"]),
            currency=None if is_percent else self.currency,
            duration="forever" if renews else "once",
            cap=payload["usageLimit"],
            expires_at=time_from_text(payload["endsAt"]) if payload["endsAt"] else None,
        )

    def _find_by_code(self, variables: dict[str, Any]) -> dict[str, Any] | None:
        matches = next(iter(self.list_by_code(variables["code"])), None)
        if matches is None:
            return None
        return {"id": matches["id"], "codeDiscount": {"title": matches["title"], "status": matches["status"]}}

    def _create(self, variables: dict[str, Any]) -> dict[str, Any]:
        fields = variables["discount"]
        errors = [{"code": "BLANK", "message": f"{name} can't be blank"} for name in _NEEDED if not fields.get(name)]
        value = fields["customerGets"]["value"]
        if "percentage" in value and not 0 < value["percentage"] <= 1:
            errors.append({"code": "VALUE_OUTSIDE_RANGE", "message": "Value must be between 0.0 and 1.0"})
        if self.list_by_code(fields["code"]):
            errors.append({"code": "TAKEN", "message": "Code must be unique. Please try a different code."})
        node = None if errors else {"id": self._store(fields)}
        return {"codeDiscountNode": node, "userErrors": errors}

    def _delete(self, variables: dict[str, Any]) -> dict[str, Any]:
        matches = next((row for row in self.rows if row["id"] == variables["id"]), None)
        if matches is None:
            missing = {"code": "INVALID", "message": "Code discount does not exist."}
            return {"deletedCodeDiscountId": None, "userErrors": [missing]}
        self.rows.remove(matches)
        return {"deletedCodeDiscountId": matches["id"], "userErrors": []}

    def _store(self, fields: dict[str, Any]) -> str:
        node = {**fields, "id": f"gid://shopify/DiscountCodeNode/{self.number()}", "status": "ACTIVE"}
        self.rows.append(node)
        return str(node["id"])
