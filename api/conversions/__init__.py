"""Conversions: sales, leads and their changes.

signed_ingest     sales and refunds from the brand's own servers
conversions       the list, and a single conversion
decisions         validate, invalidate, approve and deny
adjustments       refunds by people, their undoing, and changes of a commission
attribution       why a conversion is credited to its affiliate
export            the list as a CSV file of any size
manual            conversions recorded by hand
uncredited_sales  sales without an affiliate to credit
"""

from api.conversions import (
    adjustments,
    attribution,
    conversions,
    decisions,
    export,
    manual,
    signed_ingest,
    uncredited_sales,
)

BLUEPRINTS = (
    signed_ingest.blueprint,
    conversions.blueprint,
    decisions.blueprint,
    adjustments.blueprint,
    attribution.blueprint,
    export.blueprint,
    manual.blueprint,
    uncredited_sales.blueprint,
)
