"""Leads: people who left their email address.

leads       leads from the brand's servers, signed, and from its pages
paid_lead   leads that a campaign pays for
lead_form   the contents of the hosted form for them
"""

from api.leads import leads, paid_lead

BLUEPRINTS = (
    leads.blueprint,
    paid_lead.blueprint,
)
