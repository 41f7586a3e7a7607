"""The hosted form of a campaign that pays for leads, with the check that a person filled it in.

Source: core spec, "Program" (leadBountyCents) and "Click and lead fraud review" (paid lead).
"""

from dataclasses import dataclass

from adapters import clock
from adapters.fraud import human_check
from adapters.fraud.human_check import Widget
from api.leads import paid_lead
from models import db
from models.clicks.public_links import Link
from models.organization import organizations


@dataclass(frozen=True, slots=True)
class LeadForm:
    """The form of a link. People are verified by the `widget` of a service; without one by a `token` of this server,
    which becomes valid after the time that a person needs to fill in the form.
    """

    link: Link
    brand: str
    widget: Widget | None
    token: str


def open_form(slug: str, program: str | None) -> LeadForm:
    """Return the form of a slug; `program` is an id or a slug. Raises Refused 404 and 503."""
    link = paid_lead.open_link(slug, program)
    widget, local = human_check.widget(), human_check.local()
    if widget is None and local is None:
        raise paid_lead.not_configured()
    with db.unit_of_work(link.organization_id):
        organization = organizations.find(link.organization_id)
    assert organization is not None  # the link belongs to it
    token = local.issue(now=clock.now(), ready_in_s=human_check.FILLING_S) if local else ""
    return LeadForm(link, organization.name, widget, token)
