"""Code orders for a fake gateway, and the discounts that the docs list as supported."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from adapters.coupons import registry
from adapters.coupons.base import CodeOrder, CodeRail, CouponOrder
from domain.coupons.discounts import Discount, DiscountDuration, DiscountType
from domain.gateways.names import Gateway
from tests.support.gateways.codes import CodeBooks, PlayedTerms
from tests.support.gateways.deliveries import build_account
from tests.support.gateways.stage import Stage

_PAGE = Path(__file__).resolve().parents[3] / "docs" / "coupons.md"


@dataclass(frozen=True, slots=True)
class PlayedRail:
    """A code rail with the fake gateway that it calls."""

    stage: Stage
    books: CodeBooks
    rail: CodeRail

    def order(self, code: str = "JANE15", **discount: Any) -> CodeOrder:
        """Return an order for a code, by default 15 % off once; create its coupon first if the gateway has coupons."""
        terms: dict[str, Any] = {
            "type": DiscountType.PercentOff,
            "value": 15,
            "currency": None,
            "duration": DiscountDuration.Once,
            "months": None,
            "max_redemptions_per_code": None,
            "expires_at": None,
            "product_refs": (),
        }
        family = CouponOrder(uuid4(), "Partner 15", Discount(**terms | discount))
        created = None
        if self.rail.gateway == registry.PROCESSOR:
            created = registry.processor().create_coupon(build_account(self.stage), family)
        return CodeOrder(uuid4(), code, family, created)

    def mint(self, order: CodeOrder) -> str:
        """Mint a code."""
        return self.rail.mint(build_account(self.stage), order)

    def find(self, order: CodeOrder) -> str | None:
        """Find the code of an order, or None."""
        return self.rail.find_code(build_account(self.stage), order)

    def deactivate(self, order: CodeOrder, minted_id: str) -> None:
        """Deactivate a code."""
        self.rail.deactivate(build_account(self.stage), order, minted_id)


def build_rail(stage: Stage) -> PlayedRail:
    """Return the code rail of a fake gateway."""
    books: CodeBooks = stage.codes  # type: ignore[attr-defined]  # only gateways that mint codes have it
    return PlayedRail(stage, books, registry.rail(stage.gateway.name))


def terms_from_order(order: CodeOrder) -> PlayedTerms:
    """Return the discount of an order as a gateway stores it."""
    discount = order.family.discount
    is_percent = discount.type == DiscountType.PercentOff
    expires_at: datetime | None = discount.expires_at
    return PlayedTerms(
        percent=discount.value if is_percent else None,
        cents=None if is_percent else discount.value,
        currency=discount.currency,
        duration=discount.duration.value.lower(),
        months=discount.months,
        cap=discount.max_redemptions_per_code,
        expires_at=expires_at,
        products=discount.product_refs,
    )


def read_supported_discounts() -> dict[str, dict[str, str]]:
    """Return the rows of the table of supported discounts in docs/coupons.md, by gateway and column."""
    lines = [line for line in _PAGE.read_text().splitlines() if line.startswith("| ")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    (names,) = (row for row in rows if row[0] == "Gateway")
    return {row[0]: dict(zip(names, row, strict=True)) for row in rows if row[0] in set(Gateway)}
