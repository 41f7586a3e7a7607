"""The names that identify a buyer within one program, so that their payments can be counted.

Source: core spec, "Program fields accepted on create or update", rule 4 (whose first payment anchors the window).
"""

from dataclasses import dataclass, replace

from domain import emails


@dataclass(frozen=True, slots=True)
class CustomerNames:
    """The names that identify a customer: by an id, by an inbox, or by both.

    `other_name` is used for the id where `id_name` belongs to another customer. `gateway` is the gateway of the id;
    None for an id from a signed sale, an import or a manual sale. An import that knows nothing but the subscription
    has that as its `email_name`; `subscription_name` is the same name of a gateway's payment, by which it is found.
    """

    id_name: str | None
    other_name: str | None
    gateway: str | None
    email_name: str | None
    inbox: str | None
    subscription_name: str | None = None

    @property
    def is_known(self) -> bool:
        """Whether any name identifies the customer."""
        return self.id_name is not None or self.email_name is not None


def names(
    *,
    customer_id: str | None,
    email: str | None,
    subscription_id: str | None = None,
    gateway: str | None = None,
    is_test: bool,
) -> CustomerNames:
    """Return the buyer's names; all None for an unknown buyer.

    Buyers of test sales have names of their own: a test must not use up a real buyer's first payment.
    """
    prefix = "test-" if is_test else ""
    inbox = emails.normalize(email) if email else None
    subscription_name = f"{prefix}subscription:{subscription_id}" if subscription_id else None
    email_name = f"{prefix}email:{inbox}" if inbox else None
    if gateway is None and not customer_id:
        email_name = email_name or subscription_name
    return CustomerNames(
        id_name=f"{prefix}id:{customer_id}" if customer_id else None,
        other_name=f"{prefix}of:{gateway or ''}:{customer_id}" if customer_id else None,
        gateway=gateway if customer_id else None,
        email_name=email_name,
        inbox=inbox,
        subscription_name=subscription_name if gateway else None,
    )


def brought_names(*, customer_id: str | None, email: str | None, subscription_id: str | None) -> CustomerNames:
    """Return the names of a customer of a former system: as of an import, and the subscription next to the others."""
    imported = names(customer_id=customer_id, email=email, subscription_id=subscription_id, is_test=False)
    return replace(imported, subscription_name=f"subscription:{subscription_id}" if subscription_id else None)
