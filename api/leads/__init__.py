"""People who left an address.

leads       from the brand's servers, signed, and from its pages
paid_lead   those that a campaign pays for
lead_form   the hosted form that asks for them
"""

from api.leads import lead_form, leads, paid_lead

BLUEPRINTS = (
    leads.blueprint,
    paid_lead.blueprint,
    lead_form.blueprint,
)
