"""Sales and what became of them.

signed        sales and refunds from the brand's own servers
conversions   the list, and one of them
decisions     valid or not, approved or denied
adjustments   refunds by people, refunds undone, another commission
attribution   why a conversion is credited to its affiliate
export        the list as a CSV file of any size
manual        conversions recorded by hand
uncredited    sales that credited nobody
"""

from api.conversions import adjustments, attribution, conversions, decisions, export, manual, signed, uncredited

BLUEPRINTS = (
    signed.blueprint,
    conversions.blueprint,
    decisions.blueprint,
    adjustments.blueprint,
    attribution.blueprint,
    export.blueprint,
    manual.blueprint,
    uncredited.blueprint,
)
