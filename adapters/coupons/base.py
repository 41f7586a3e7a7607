"""The base of every rail that mints codes at a gateway. Nothing here is called inside a transaction.

A call whose answer is lost may have worked: `find_code` and `find_coupon` look for our ids in its objects.
So `mint` and `create` may be repeated, and never make a second one.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from adapters.gateways.base import GatewayAccount, GatewayRejected
from domain.coupons.codes import CodeShape
from domain.coupons.discounts import Discount
from domain.gateways.names import Gateway


class CodeTaken(Exception):
    """The gateway has a code with this text that is not ours."""


class DiscountNotHeld(Exception):
    """The gateway cannot express such a discount. The message names the missing feature, for people."""


@dataclass(frozen=True, slots=True)
class CouponOrder:
    """A coupon to make at the processor. Its key there is `coupon:{coupon_id}`, and its metadata hold the id."""

    coupon_id: UUID
    name: str
    discount: Discount


@dataclass(frozen=True, slots=True)
class CodeOrder:
    """A code to mint. Its key is `coupon:{code_id}`, and the made object holds the id where it can.

    `processor_coupon_id` is of the family at the processor; other gateways make what they need with each code.
    """

    code_id: UUID
    code: str
    family: CouponOrder
    processor_coupon_id: str | None = None


@dataclass(frozen=True, slots=True)
class ExistingCode:
    """A code at a gateway under the text of an order: its id there, and whether it is the one that was ordered.

    One that is over (archived, expired) may or may not keep its text from others: the gateway decides on the next.
    """

    id: str
    is_ours: bool
    is_over: bool = False


def own_id(code: ExistingCode | None) -> str | None:
    """Return the id of a code that was made for its order; None for another's, or for none."""
    return code.id if code is not None and code.is_ours else None


def mint_once(order: CodeOrder, look: Callable[[], ExistingCode | None], make: Callable[[], str]) -> str:
    """Make a code where its text is free; return the one that was made for this order before.

    Only `make` refuses a discount that the gateway cannot hold: an existing code was held once, whatever became of its
    products since. Raises CodeTaken, and as `look` and `make`.
    """
    code = look()
    if code is not None and code.is_ours:
        return code.id
    if code is not None and not code.is_over:
        raise CodeTaken(order.code)
    try:
        return make()
    except GatewayRejected as refused:
        # The words of "taken" are not the same everywhere; the existing code proves it.
        code = look()
        if code is None:
            raise
        if not code.is_ours:
            raise CodeTaken(order.code) from refused
        return code.id


class CodeRail(ABC):
    """One gateway at which codes are minted. A rail has no state."""

    gateway: Gateway
    shape = CodeShape()

    @abstractmethod
    def mint(self, account: GatewayAccount, order: CodeOrder) -> str:
        """Make a code and return its id there; one that was made for this order before is returned as it is.

        Raises CodeTaken, DiscountNotHeld, CredentialsRefused, GatewayRejected and GatewayUnreachable.
        """

    @abstractmethod
    def find_code(self, account: GatewayAccount, order: CodeOrder) -> str | None:
        """Return the id of the code that was made for this order; None for none.

        Raises CredentialsRefused, GatewayRejected and GatewayUnreachable.
        """

    @abstractmethod
    def switch_off(self, account: GatewayAccount, order: CodeOrder, minted_id: str) -> None:
        """End a code, so that buyers cannot redeem it any more; one that is already gone is no error.

        Raises CredentialsRefused, GatewayRejected and GatewayUnreachable.
        """


class UniqueCodeRail(CodeRail):
    """A gateway at which a code is one object, found by its text and made by one function."""

    @abstractmethod
    def look(self, account: GatewayAccount, order: CodeOrder) -> ExistingCode | None:
        """Return the gateway's code with the text of an order. Raises as `find_code`."""

    @abstractmethod
    def make(self, account: GatewayAccount, order: CodeOrder) -> str:
        """Make a code and return its id there. Raises as `mint`, but for CodeTaken."""

    def mint(self, account: GatewayAccount, order: CodeOrder) -> str:
        """Make a code where its text is free; one that was made for this order before is returned as it is."""
        return mint_once(order, lambda: self.look(account, order), lambda: self.make(account, order))

    def find_code(self, account: GatewayAccount, order: CodeOrder) -> str | None:
        """Return the id of the code with the text of this order if it was made for it."""
        return own_id(self.look(account, order))


class ProcessorRail(Protocol):
    """The rail at which families of codes are made as well: the processor's."""

    def create(self, account: GatewayAccount, order: CouponOrder) -> str:
        """Make a coupon and return its id there; one that was made for this order before is returned as it is.

        Raises CredentialsRefused, GatewayRejected and GatewayUnreachable.
        """

    def find_coupon(self, account: GatewayAccount, order: CouponOrder) -> str | None:
        """Return the id of the coupon that was made for this order; None for none.

        Raises CredentialsRefused, GatewayRejected and GatewayUnreachable.
        """

    def delete(self, account: GatewayAccount, processor_coupon_id: str) -> None:
        """Delete a coupon there; one that is already gone is no error.

        Raises CredentialsRefused, GatewayRejected and GatewayUnreachable.
        """
