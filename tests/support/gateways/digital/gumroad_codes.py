"""Products and offer codes of the fake Gumroad, which refuses with status 200."""

from typing import Any
from urllib.parse import unquote

from tests.support.gateways.codes import Answer, CodeBooks, PlayedTerms
from tests.support.gateways.stage import ApiCall

_MAX_INTEGER = 2**31 - 1  # the limit of its column


def _error_answer(message: str) -> Answer:
    return 200, {"success": False, "message": message}


class GumroadCodes(CodeBooks):
    """Stored offer codes; each applies to one product or to all."""

    product = "A-m3CDDC5dlrSdKZp0RFhA=="
    other_product = "B-m3CDDC5dlrSdKZp0RFhA=="

    def __init__(self, number: Any) -> None:
        super().__init__(number)
        self.products: list[dict[str, Any]] = [
            {"id": name, "currency": "usd", "is_tiered_membership": False}
            for name in (self.product, self.other_product)
        ]

    def answer(self, call: ApiCall) -> Answer | None:
        parts = [unquote(part) for part in call.path.split("/")[2:]]
        if parts[0] != "products":
            return None
        if len(parts) == 1:
            return self._page(call)
        product = next((row for row in self.products if row["id"] == parts[1]), None)
        if product is None:
            return _error_answer("The product was not found.")
        if len(parts) == 2:
            return 200, {"success": True, "product": product}
        if call.method == "POST":
            return self._create(product, {name: values[0] for name, values in call.form.items()})
        matches = [row for row in self.rows if row["product"] in (None, product["id"])]
        if call.method == "GET":
            return 200, {"success": True, "offer_codes": matches}
        gone = [row for row in matches if row["id"] == parts[3]]
        if not gone:
            return _error_answer("The offer_code was not found.")
        self.rows.remove(gone[0])
        return 200, {"success": True, "message": "The offer_code was deleted successfully."}

    def list_live_ids(self, code: str) -> list[str]:
        return [row["id"] for row in self.list_by_code(code, "name")]

    def create_as_brand(self, code: str) -> str:
        self.rows.append({"id": f"OC{self.number()}==", "name": code, "max_purchase_count": 50, "product": None})
        return str(self.rows[-1]["id"])

    def terms(self, code: str) -> PlayedTerms:
        payload = self.get_by_code(code, "name")
        return PlayedTerms(
            percent=payload.get("percent_off"),
            cents=payload.get("amount_cents"),
            currency=None if "percent_off" in payload else self.currency,
            # It applies to every payment of a membership; no other product has a second payment.
            duration="forever" if self.products[0]["is_tiered_membership"] else "once",
            cap=payload["max_purchase_count"] if payload["max_purchase_count"] < 10**9 else None,
            products=(payload["product"],) if payload["product"] else (),
        )

    def _page(self, call: ApiCall) -> Answer:
        first = int(call.params.get("page_key", ["0"])[0])
        more = {"next_page_key": str(first + 1)} if len(self.products) > first + 1 else {}
        return 200, {"success": True, "products": self.products[first : first + 1], **more}

    def _create(self, product: dict[str, Any], fields: dict[str, str]) -> Answer:
        if self.list_by_code(fields["name"], "name"):
            return _error_answer("Discount code must be unique.")
        if not 0 < int(fields["max_purchase_count"]) <= _MAX_INTEGER:
            return _error_answer("Max purchase count is out of range.")
        off = "percent_off" if fields["offer_type"] == "percent" else "amount_cents"
        offer = {
            "id": f"OC{self.number()}==",
            "name": fields["name"],
            off: int(fields["amount_off"]),
            "max_purchase_count": int(fields["max_purchase_count"]),
            "universal": fields["universal"] == "true",
            "times_used": 0,
            "product": None if fields["universal"] == "true" else product["id"],
        }
        self.rows.append(offer)
        return 200, {"success": True, "offer_code": offer}
