"""Conversions at the dashboard.

listing              the list with its filters and decisions about selected rows, and as a file
detail               one conversion: when it is payable, its attribution, and the decisions about it
decisions            the decisions that a conversion allows
corrections          corrections of its money: refunds, restored refunds, another commission
attribution_steps    the six steps of attribution in words
attribution_methods  the source of a conversion in words
new_conversion       a conversion recorded by hand
"""

from pages.brand.conversions import detail, listing, new_conversion

BLUEPRINTS = (listing.blueprint, new_conversion.blueprint, detail.blueprint)
