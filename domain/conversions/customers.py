"""Names a buyer within one program, so that their payments can be counted.

Source: core spec, "Program fields accepted on create or update", rule 4 (whose first payment anchors the window).
"""

from dataclasses import dataclass

from domain import emails


@dataclass(frozen=True, slots=True)
class CustomerNames:
    """The names by which a customer is known: by an id, by an inbox, or by both.

    `other_name` is the id's name where the id alone is another customer's. `gateway` is who calls the customer by the
    id; None for an id of a signed sale, an import or a manual sale, which has no gateway in it.
    """

    id_name: str | None
    other_name: str | None
    gateway: str | None
    email_name: str | None
    inbox: str | None

    @property
    def is_known(self) -> bool:
        """Whether the customer has any name."""
        return self.id_name is not None or self.email_name is not None


def names(*, customer_id: str | None, email: str | None, gateway: str | None = None, is_test: bool) -> CustomerNames:
    """Return the buyer's names; all None where nothing is known of the buyer.

    Buyers of test sales are apart: trying things out must not use up anybody's first payment.
    """
    apart = "test-" if is_test else ""
    inbox = emails.normalize(email) if email else None
    return CustomerNames(
        id_name=f"{apart}id:{customer_id}" if customer_id else None,
        other_name=f"{apart}of:{gateway or ''}:{customer_id}" if customer_id else None,
        gateway=gateway if customer_id else None,
        email_name=f"{apart}email:{inbox}" if inbox else None,
        inbox=inbox,
    )
