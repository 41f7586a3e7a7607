"""What every place offers where codes are minted. Nothing here is called inside a transaction.

A call whose answer is lost may have worked: `find_code` and `find_coupon` say, by our ids that stand in what was made.
So `mint` and `create` may be repeated, and never make a second one.
"""

from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from adapters.gateways.base import GatewayAccount
from domain.coupons.codes import CodeShape
from domain.coupons.discounts import Discount
from domain.gateways.names import Gateway


class CodeTaken(Exception):
    """A code with this text stands at the gateway, and it is not ours."""


class DiscountNotHeld(Exception):
    """The gateway cannot express such a discount. The message says what it lacks, for people."""


@dataclass(frozen=True, slots=True)
class CouponOrder:
    """A coupon to make at the processor. Its key there is `coupon:{coupon_id}`, and its metadata say the id."""

    coupon_id: UUID
    name: str
    discount: Discount


@dataclass(frozen=True, slots=True)
class CodeOrder:
    """A code to mint. Its key is `coupon:{code_id}`, and what is made there says the id where it can.

    `processor_coupon_id` is of the family at the processor; other places make what they need with each code.
    """

    code_id: UUID
    code: str
    family: CouponOrder
    processor_coupon_id: str | None = None


class CodeRail(Protocol):
    """One place where codes are minted."""

    gateway: Gateway
    shape: CodeShape

    def mint(self, account: GatewayAccount, order: CodeOrder) -> str:
        """Make a code and return its id there; one that was made for this order before is returned as it is.

        Raises CodeTaken, DiscountNotHeld, CredentialsRefused, GatewayRejected and GatewayUnreachable.
        """

    def find_code(self, account: GatewayAccount, order: CodeOrder) -> str | None:
        """Return the id of the code that was made for this order; None when there is none.

        Raises CredentialsRefused, GatewayRejected and GatewayUnreachable.
        """

    def switch_off(self, account: GatewayAccount, order: CodeOrder, minted_id: str) -> None:
        """End a code, so that buyers cannot redeem it any more; one that is gone already is well.

        Raises CredentialsRefused, GatewayRejected and GatewayUnreachable.
        """


class ProcessorRail(CodeRail, Protocol):
    """The place where families of codes are made as well: the processor."""

    def create(self, account: GatewayAccount, order: CouponOrder) -> str:
        """Make a coupon and return its id there; one that was made for this order before is returned as it is.

        Raises CredentialsRefused, GatewayRejected and GatewayUnreachable.
        """

    def find_coupon(self, account: GatewayAccount, order: CouponOrder) -> str | None:
        """Return the id of the coupon that was made for this order; None when there is none.

        Raises CredentialsRefused, GatewayRejected and GatewayUnreachable.
        """

    def delete(self, account: GatewayAccount, processor_coupon_id: str) -> None:
        """Delete a coupon there; one that is gone already is well.

        Raises CredentialsRefused, GatewayRejected and GatewayUnreachable.
        """
