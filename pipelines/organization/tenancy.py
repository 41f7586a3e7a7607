"""Organizations and their first Owner, created and changed by the operator."""

import re
from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from domain.organization import plans
from domain.refusals import Refused
from models import advisory_locks, ids
from models.host_proofs import holders, proof_records
from models.host_proofs.holders import HostHolder
from models.organization import members, organizations
from models.organization.organizations import Organization
from pipelines import owed_days
from pipelines.conversions import renewal
from pipelines.organization import operator_settings


def create(*, name: str, plan: str, status: str, currency: str, owner_email: str, now: datetime) -> UUID:
    """Create an organization with its first Owner; runs in a transaction that sees every tenant.

    The Owner's email counts as verified, since the operator vouches for it.
    """
    organization_id = ids.new_id()
    slug = f"{_slug(name)}-{organization_id.hex[-12:]}"
    organizations.insert(
        {
            "id": organization_id,
            "name": name,
            "slug": slug,
            "subdomain": slug,
            "plan_tier": plans.Tier(plan).value,
            **operator_settings.subscription(plans.SubscriptionStatus(status).value, now),
            "home_currency": operator_settings.currency(currency),
            "created_at": now,
        }
    )
    members.insert(
        {
            "id": ids.new_id(),
            "organization_id": organization_id,
            "email": owner_email.strip().lower(),
            "is_email_verified": True,
            "role": "Owner",
            "created_at": now,
        }
    )
    return organization_id


def change(*, organization_id: UUID, assignments: Mapping[str, str], now: datetime) -> Mapping[str, object]:
    """Change settings that only an operator may change, given as text; return the columns that were set.

    Raises Refused for an unknown setting or value, and then nothing is changed.
    """
    changes = operator_settings.read(assignments, now=now)
    before = organizations.find(organization_id)
    if before is None:
        raise Refused(404, "not_found", f"There is no organization {organization_id}.")
    if _is_host_taken(before, changes):
        message = (
            "Another organization has this portalHost or trackingDomain, or left it less than 90 days ago."
            " `flask org free-host HOST` frees a host that was left."
        )
        raise Refused(409, "already_taken", message)
    if not organizations.update_unless_taken(organization_id, changes):
        raise Refused(409, "already_taken", "Another organization has this subdomain, portalHost or trackingDomain.")
    if "payout_grace_days" in changes:
        renewal.renew_holds(organization_id)
    if changes.get("home_currency", before.home_currency) != before.home_currency:
        owed_days.enqueue(organization_id)
    return changes


def any_org_free_host(name: str) -> UUID:
    """Free a host name that its organization has left, and return that organization's id.

    Raises Refused: 404 not_found for a host that is not held; 409 host_in_use while its organization still uses it.
    """
    advisory_locks.stage_domain_lock(name)
    hold = holders.any_org_find_hold(name)
    if hold is None:
        raise Refused(404, "not_found", f"No organization has left {name} in the last 90 days.")
    if hold.is_in_use:
        message = f"Organization {hold.organization_id} still uses {name}; remove it there first."
        raise Refused(409, "host_in_use", message)
    holders.any_org_stage_free(name)
    return hold.organization_id


def _is_host_taken(before: Organization, changes: Mapping[str, object]) -> bool:
    """Return whether another organization has the portal host, or the tracking domain that the operator vouches for.

    If the tracking domain changes, its DNS results are deleted.
    """
    names = {str(changes["portal_host"])} if changes.get("portal_host") else set()
    is_tracking_changed = not {"tracking_domain", "tracking_domain_verified"}.isdisjoint(changes)
    tracking_domain = changes.get("tracking_domain", before.tracking_domain)
    if tracking_domain and changes.get("tracking_domain_verified") is True:
        names.add(str(tracking_domain))
    for name in sorted(names):
        advisory_locks.stage_domain_lock(name)
        if holders.is_held_elsewhere(HostHolder(before.id, None, name)):
            return True
    if is_tracking_changed:
        proof_records.stage_forget(organization_id=before.id, holder_id=before.id)
    return False


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40] or "org"
