"""Which of a customer's fields is the billing system's id.

Source: the switch-over rules, "Customers" (customerIdIs).
"""

from dataclasses import dataclass
from typing import Literal

_BILLING_PREFIXES = ("cus_", "ctm_", "customer_")


@dataclass(frozen=True, slots=True)
class CustomerIds:
    """A customer's billing id and email, as far as they are known."""

    billing_id: str | None
    email: str | None


def choose(
    *, billing_id: str | None, claimed_id: str | None, email: str | None, rule: Literal["auto", "billing", "own"]
) -> CustomerIds:
    """Return the id that payments will name, and the email.

    A certain billing id counts under every rule. A claimed one counts with `billing`, never with `own`, and with `auto`
    if it begins as billing systems' ids do. An address in its place is taken as the email.
    """
    is_address = claimed_id is not None and "@" in claimed_id
    if is_address:
        email = email or claimed_id
    if billing_id or not claimed_id or rule == "own":
        return CustomerIds(billing_id, email)
    if rule == "billing" or (claimed_id.startswith(_BILLING_PREFIXES) and not is_address):
        return CustomerIds(claimed_id, email)
    return CustomerIds(None, email)
