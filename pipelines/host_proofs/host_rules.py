"""The host names that a brand may use, and the change of an organization's tracking domain."""

import settings
from domain.organization import host_names
from models.host_proofs import proof_records
from models.organization import organizations
from models.organization.organizations import Organization

# Names that no registry assigns (RFC 6761, 6762, 7686, 8375, 9476).
_UNREGISTRABLE = ("localhost", "local", "internal", "home.arpa", "invalid", "onion", "alt")


def find_problem(host: str) -> str | None:
    """Return why a host name cannot be a brand's; None if it can."""
    web = settings.current().web
    own_domains = (web.portal_domain, web.host, web.brands_target)
    if any(domain and host_names.is_within(host, domain.lower()) for domain in own_domains):
        return "It belongs to this service: use a domain of your own."
    if any(host_names.is_within(host, domain) for domain in _UNREGISTRABLE):
        return "No one can own this name: use a domain of your own."
    return None


def set_tracking_domain(organization: Organization, name: str | None) -> Organization:
    """Set or remove a locked organization's tracking domain, and return the new row; a new one has to be proved."""
    if name == organization.tracking_domain:
        return organization
    proof_records.stage_forget(organization_id=organization.id, holder_id=organization.id)
    return organizations.change(organization, {"tracking_domain": name, "tracking_domain_verified": False})
