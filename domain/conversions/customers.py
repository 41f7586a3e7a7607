"""Names a buyer within one campaign, so that their payments can be counted.

Source: core spec, "Program fields accepted on create or update", rule 4 (whose first payment anchors the window).
"""

from domain import emails


def key(*, customer_id: str | None, email: str | None, is_test: bool) -> str | None:
    """Return the buyer's key: by the billing id, else the normalized email, else None.

    Buyers of test sales are apart: trying things out must not use up anybody's first payment.
    """
    apart = "test-" if is_test else ""
    if customer_id:
        return f"{apart}id:{customer_id}"
    if email:
        return f"{apart}email:{emails.normalize(email)}"
    return None
