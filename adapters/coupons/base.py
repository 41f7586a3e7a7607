"""The interface of the rails that create codes at gateways. Never call a rail inside a transaction.

A call whose answer is lost may have worked: `find_code` and `find_coupon` search the gateway's objects for our id.
So `mint` and `create` may be repeated, and never create a second object.
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


class UnsupportedDiscount(Exception):
    """The gateway cannot express such a discount. The message names the missing feature, for people."""


@dataclass(frozen=True, slots=True)
class CouponOrder:
    """A coupon to create at the processor, with the idempotency key `coupon:{coupon_id}` and the id in its metadata."""

    coupon_id: UUID
    name: str
    discount: Discount


@dataclass(frozen=True, slots=True)
class CodeOrder:
    """A code to mint, with the idempotency key `coupon:{code_id}`. The created object contains the id where it can.

    `processor_coupon_id` is the id of the code's family at the processor; other gateways need none.
    """

    code_id: UUID
    code: str
    family: CouponOrder
    processor_coupon_id: str | None = None


@dataclass(frozen=True, slots=True)
class ExistingCode:
    """A code at a gateway with the text of an order: its id there, and whether it was created for that order.

    An inactive code (archived, expired) may still block its text: creating the next code shows it.
    """

    id: str
    is_ours: bool
    is_inactive: bool = False


def id_if_ours(code: ExistingCode | None) -> str | None:
    """Return the id of a code that was created for its order; None without a code or for a foreign one."""
    return code.id if code is not None and code.is_ours else None


def mint_once(
    order: CodeOrder, find_existing: Callable[[], ExistingCode | None], create_code: Callable[[], str]
) -> str:
    """Return the code that was created for this order, or create it if its text is free.

    Only `create_code` raises UnsupportedDiscount: an existing code stays valid whatever happened to its products since.
    Raises CodeTaken, and as `find_existing` and `create_code`.
    """
    code = find_existing()
    if code is not None and code.is_ours:
        return code.id
    if code is not None and not code.is_inactive:
        raise CodeTaken(order.code)
    try:
        return create_code()
    except GatewayRejected as refused:
        # Gateways word "already taken" differently, so look whether the code exists.
        code = find_existing()
        if code is None:
            raise
        if not code.is_ours:
            raise CodeTaken(order.code) from refused
        return code.id


class CodeRail(ABC):
    """Mints codes at one gateway. Has no state."""

    gateway: Gateway
    shape = CodeShape()

    @abstractmethod
    def mint(self, account: GatewayAccount, order: CodeOrder) -> str:
        """Create a code and return its id there; a code that exists for this order is returned unchanged.

        Raises CodeTaken, UnsupportedDiscount, CredentialsRefused, GatewayRejected and GatewayUnreachable.
        """

    @abstractmethod
    def find_code(self, account: GatewayAccount, order: CodeOrder) -> str | None:
        """Return the id of the code that was created for this order; None if there is none.

        Raises CredentialsRefused, GatewayRejected and GatewayUnreachable.
        """

    @abstractmethod
    def deactivate(self, account: GatewayAccount, order: CodeOrder, minted_id: str) -> None:
        """Deactivate a code, so that buyers cannot redeem it any more; a code that no longer exists is no error.

        Raises CredentialsRefused, GatewayRejected and GatewayUnreachable.
        """


class UniqueCodeRail(CodeRail):
    """A rail of a gateway at which a code is one object, found by its text and created by one call."""

    @abstractmethod
    def find_existing(self, account: GatewayAccount, order: CodeOrder) -> ExistingCode | None:
        """Return the gateway's code with the text of an order. Raises as `find_code`."""

    @abstractmethod
    def create_code(self, account: GatewayAccount, order: CodeOrder) -> str:
        """Create a code and return its id there. Raises as `mint`, except CodeTaken."""

    def mint(self, account: GatewayAccount, order: CodeOrder) -> str:
        """Create a code if its text is free; a code that exists for this order is returned unchanged."""
        return mint_once(order, lambda: self.find_existing(account, order), lambda: self.create_code(account, order))

    def find_code(self, account: GatewayAccount, order: CodeOrder) -> str | None:
        """Return the id of the code with the text of this order if it was created for it."""
        return id_if_ours(self.find_existing(account, order))


class ProcessorRail(Protocol):
    """The processor's rail, which also creates the coupons of code families."""

    def create(self, account: GatewayAccount, order: CouponOrder) -> str:
        """Create a coupon and return its id there; a coupon that exists for this order is returned unchanged.

        Raises CredentialsRefused, GatewayRejected and GatewayUnreachable.
        """

    def find_coupon(self, account: GatewayAccount, order: CouponOrder) -> str | None:
        """Return the id of the coupon that was created for this order; None if there is none.

        Raises CredentialsRefused, GatewayRejected and GatewayUnreachable.
        """

    def delete(self, account: GatewayAccount, processor_coupon_id: str) -> None:
        """Delete a coupon there; a coupon that no longer exists is no error.

        Raises CredentialsRefused, GatewayRejected and GatewayUnreachable.
        """
