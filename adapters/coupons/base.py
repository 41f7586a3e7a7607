"""The interface of a code rail: an adapter that creates discount codes at one gateway. Never call it in a transaction.

A call without a response may have succeeded. `find_code` and `find_coupon` then search the gateway's objects for our
id, and `mint` and `create_coupon` can be repeated: they never create a second object.
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
    """The gateway already has a code with this text, which was not created for this order."""


class DiscountUnsupported(Exception):
    """The gateway cannot express this discount. The brand sees the message: what is missing and what to change."""


@dataclass(frozen=True, slots=True)
class CouponOrder:
    """A coupon to create at the processor, with the idempotency key `coupon:{coupon_id}` and the id in its metadata."""

    coupon_id: UUID
    name: str
    discount: Discount


@dataclass(frozen=True, slots=True)
class CodeOrder:
    """A code to create, with the idempotency key `coupon:{code_id}` and, where the gateway has a field for it, the id.

    `family` is the coupon that the code belongs to. `processor_coupon_id` is that coupon's id at the processor; other
    gateways get all terms with each code.
    """

    code_id: UUID
    code: str
    family: CouponOrder
    processor_coupon_id: str | None = None


@dataclass(frozen=True, slots=True)
class ExistingCode:
    """A code at a gateway with the text of an order: its id there, and whether it was created for this order.

    `has_ended` means archived or expired. Whether its text can be used again is known only by creating another code.
    """

    id: str
    is_ours: bool
    has_ended: bool = False


def id_if_ours(code: ExistingCode | None) -> str | None:
    """Return the id of a code if it was created for its order, else None."""
    return code.id if code is not None and code.is_ours else None


def mint_once(order: CodeOrder, find: Callable[[], ExistingCode | None], create: Callable[[], str]) -> str:
    """Create a code and return its id; if it was created for this order before, return that one.

    Only `create` checks whether the gateway supports the discount: a code that exists was accepted once, even if its
    products have changed since. Raises CodeTaken, and what `find` and `create` raise.
    """
    code = find()
    if code is not None and code.is_ours:
        return code.id
    if code is not None and not code.has_ended:
        raise CodeTaken(order.code)
    try:
        return create()
    except GatewayRejected as refused:
        # Gateways report a taken text in different words, so look for the code instead.
        code = find()
        if code is None:
            raise
        if not code.is_ours:
            raise CodeTaken(order.code) from refused
        return code.id


class CodeRail(ABC):
    """Creates and ends the codes of one gateway. A rail has no state."""

    gateway: Gateway
    shape = CodeShape()

    @abstractmethod
    def mint(self, account: GatewayAccount, order: CodeOrder) -> str:
        """Create a code and return its id there; if it was created for this order before, return that one unchanged.

        Raises CodeTaken, DiscountUnsupported, CredentialsRefused, GatewayRejected and GatewayUnreachable.
        """

    @abstractmethod
    def find_code(self, account: GatewayAccount, order: CodeOrder) -> str | None:
        """Return the id of the code that was created for this order, or None.

        Raises CredentialsRefused, GatewayRejected and GatewayUnreachable.
        """

    @abstractmethod
    def deactivate(self, account: GatewayAccount, order: CodeOrder, minted_id: str) -> None:
        """End a code, so that buyers can no longer redeem it. Does nothing if it no longer exists.

        Raises CredentialsRefused, GatewayRejected and GatewayUnreachable.
        """


class UniqueCodeRail(CodeRail):
    """The rail of a gateway where a code is one object that can be found by its text."""

    @abstractmethod
    def find_by_text(self, account: GatewayAccount, order: CodeOrder) -> ExistingCode | None:
        """Return the gateway's code with the text of an order. Raises the same errors as `find_code`."""

    @abstractmethod
    def create_code(self, account: GatewayAccount, order: CodeOrder) -> str:
        """Create a code and return its id there. Raises the same errors as `mint`, except CodeTaken."""

    def mint(self, account: GatewayAccount, order: CodeOrder) -> str:
        """Create a code; if it was created for this order before, return that one unchanged."""
        return mint_once(order, lambda: self.find_by_text(account, order), lambda: self.create_code(account, order))

    def find_code(self, account: GatewayAccount, order: CodeOrder) -> str | None:
        """Return the id of the code with the text of this order if it was created for it."""
        return id_if_ours(self.find_by_text(account, order))


class ProcessorRail(Protocol):
    """The rail of the processor, which has coupons (families of codes) in addition to codes."""

    def create_coupon(self, account: GatewayAccount, order: CouponOrder) -> str:
        """Create a coupon and return its id there; if it was created for this order before, return that one unchanged.

        Raises CredentialsRefused, GatewayRejected and GatewayUnreachable.
        """

    def find_coupon(self, account: GatewayAccount, order: CouponOrder) -> str | None:
        """Return the id of the coupon that was created for this order, or None.

        Raises CredentialsRefused, GatewayRejected and GatewayUnreachable.
        """

    def delete_coupon(self, account: GatewayAccount, processor_coupon_id: str) -> None:
        """Delete a coupon there. Does nothing if it no longer exists.

        Raises CredentialsRefused, GatewayRejected and GatewayUnreachable.
        """
