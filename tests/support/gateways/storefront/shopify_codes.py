"""shopify's discount codes for the tests: what its GraphQL refuses inside of an answer with 200."""

from typing import Any

from tests.support.gateways.codes import Answer, CodeBooks, PlayedTerms, cents_from_text, time_from_text
from tests.support.gateways.stage import ApiCall

_NEEDED = ("title", "code", "context", "customerGets", "startsAt")


class ShopifyCodes(CodeBooks):
    """The books of discounts. `may` says whether the app has the scope."""

    may = True

    def answer(self, asked: ApiCall) -> Answer | None:
        query, variables = asked.json["query"], asked.json["variables"]
        acts = {
            "codeDiscountNodeByCode": self._find_by_code,
            "discountCodeBasicCreate": self._create,
            "discountCodeDelete": self._delete,
        }
        for name, act in acts.items():
            if name in query:
                if not self.may:
                    denied = {"message": f"Access denied for {name} field.", "extensions": {"code": "ACCESS_DENIED"}}
                    return 200, {"data": {name: None}, "errors": [denied]}
                return 200, {"data": {name: act(variables)}}
        if "currencyCode" in query and "accessScopes" not in query and "order" not in query:
            return 200, {"data": {"shop": {"currencyCode": self.currency}}}
        return None

    def list_live_ids(self, code: str) -> list[str]:
        return [one["id"] for one in self.list_by_code(code) if one["status"] == "ACTIVE"]

    def create_as_brand(self, code: str) -> str:
        return self._store({"title": "Summer", "code": code})

    def terms(self, code: str) -> PlayedTerms:
        told = self.get_by_code(code)
        value = told["customerGets"]["value"]
        assert told["customerGets"]["items"] == {"all": True}
        is_percent = "percentage" in value
        renews = told["customerGets"].get("appliesOnSubscription") is True and told["recurringCycleLimit"] == 0
        return PlayedTerms(
            percent=cents_from_text(value["percentage"]) if is_percent else None,
            cents=None if is_percent else cents_from_text(value["discountAmount"]["amount"]),
            currency=None if is_percent else self.currency,
            duration="forever" if renews else "once",
            cap=told["usageLimit"],
            expires_at=time_from_text(told["endsAt"]) if told["endsAt"] else None,
        )

    def _find_by_code(self, variables: dict[str, Any]) -> dict[str, Any] | None:
        found = next(iter(self.list_by_code(variables["code"])), None)
        if found is None:
            return None
        return {"id": found["id"], "codeDiscount": {"title": found["title"], "status": found["status"]}}

    def _create(self, variables: dict[str, Any]) -> dict[str, Any]:
        wanted = variables["discount"]
        errors = [{"code": "BLANK", "message": f"{name} can't be blank"} for name in _NEEDED if not wanted.get(name)]
        value = wanted["customerGets"]["value"]
        if "percentage" in value and not 0 < value["percentage"] <= 1:
            errors.append({"code": "VALUE_OUTSIDE_RANGE", "message": "Value must be between 0.0 and 1.0"})
        if self.list_by_code(wanted["code"]):
            errors.append({"code": "TAKEN", "message": "Code must be unique. Please try a different code."})
        node = None if errors else {"id": self._store(wanted)}
        return {"codeDiscountNode": node, "userErrors": errors}

    def _delete(self, variables: dict[str, Any]) -> dict[str, Any]:
        found = next((one for one in self.rows if one["id"] == variables["id"]), None)
        if found is None:
            missing = {"code": "INVALID", "message": "Code discount does not exist."}
            return {"deletedCodeDiscountId": None, "userErrors": [missing]}
        self.rows.remove(found)
        return {"deletedCodeDiscountId": found["id"], "userErrors": []}

    def _store(self, wanted: dict[str, Any]) -> str:
        node = {**wanted, "id": f"gid://shopify/DiscountCodeNode/{self.number()}", "status": "ACTIVE"}
        self.rows.append(node)
        return str(node["id"])
