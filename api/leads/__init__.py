"""People who left an address.

leads       from the brand's servers, signed, and from its pages
paid_lead   those that a campaign pays for
lead_form   what the hosted form that asks for them shows
"""

from api.leads import leads, paid_lead

BLUEPRINTS = (
    leads.blueprint,
    paid_lead.blueprint,
)
