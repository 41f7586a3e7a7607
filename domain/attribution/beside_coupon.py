"""Names the method when a payment carries a promotion code and something else credits its affiliate.

Source: tracking spec, "Coupon codes", rules 2 and 3 of a redeemed code.
"""

from domain.attribution.facts import PROMOTION_CODE, Facts, NamedAffiliate

#: The method of an affiliate whom something else names, and whose code the payment redeemed too.
WITH_OWN_CODE = "coupon_with_metadata"


def method(facts: Facts, affiliate: NamedAffiliate, own: str | None) -> str | None:
    """Return coupon_with_metadata for the code's owner, metadata_or_customer for another, `own` without a code."""
    if facts.coupon is None or facts.coupon.method != PROMOTION_CODE:
        return own
    return WITH_OWN_CODE if facts.coupon.owner.id == affiliate.id else "metadata_or_customer"
