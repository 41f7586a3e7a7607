"""A switch as JSON, the guards of its routes, and the look-up of one by the id of a path."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any
from uuid import UUID

from api.access import guards
from api.access.guards import Guard
from api.edge import path
from domain.organization import plans
from domain.organization.access import Role
from domain.refusals import not_found
from domain.switches.options import SwitchOptions
from models.switches import listing
from models.switches.listing import ListedProgress, ListedSwitch
from models.switches.switches import SwitchCampaign
from schemas.switches.switch import SwitchRecord

#: Keys read switches, on a plan with API access.
READ = Guard(audience="brand", plan=plans.Tier.Starter, verified_email=True)
#: People of the brand change them.
WRITE = Guard(audience="dashboard", scope="read_write", role=Role.Manager, verified_email=True, bucket="strict_write")
#: What writes the brand's records, or takes them back.
RUN = replace(WRITE, role=Role.Owner)
RECORD = SwitchRecord()


def parse_id(switch_id: str) -> UUID:
    """Return the id of a switch in a path. Raises Refused 404 not_found."""
    return path.uuid(switch_id, "switch")


def require(switch_id: UUID) -> ListedSwitch:
    """Return a switch of the caller's organization. Raises Refused 404 not_found."""
    row = listing.find(organization_id=guards.organization_id(), switch_id=switch_id)
    if row is None:
        raise not_found("switch", switch_id)
    return row


def serialize(switch_id: UUID) -> dict[str, Any]:
    """Return a switch as JSON, as this transaction sees it. Budget: 3 statements. Raises Refused 404 not_found."""
    return serialize_all([require(switch_id)])[0]


def serialize_all(rows: Sequence[ListedSwitch]) -> list[dict[str, Any]]:
    """Return switches as JSON. Budget: 2 statements, however many there are; none for none."""
    if not rows:
        return []
    key: Mapping[str, Any] = {"organization_id": guards.organization_id(), "switch_ids": [row.id for row in rows]}
    campaigns, progress = listing.list_campaigns(**key), listing.list_progress(**key)
    return [RECORD.dump(_values(row, campaigns.get(row.id, ()), progress.get(row.id, ()))) for row in rows]


def audit_values(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the audit log stores of a switch: what people decided, and no progress. It has no credentials."""
    names = ("source", "state", "account", "options", "columns", "words", "cutOverAt", "credentialsHeld")
    mapping = {campaign["sourceId"]: campaign["programId"] for campaign in record["campaigns"]}
    return {name: record[name] for name in names} | {"campaigns": mapping}


def parse_terms(terms: Mapping[str, Any]) -> dict[str, Any]:
    """Return stored terms with the commission as a number; what is not stated stays missing."""
    value = terms.get("commission_value")
    return dict(terms) if value is None else {**terms, "commission_value": Decimal(str(value))}


def _values(
    row: ListedSwitch, campaigns: Sequence[SwitchCampaign], progress: Sequence[ListedProgress]
) -> dict[str, Any]:
    error = {"code": row.last_error_code, "message": row.last_error_message, "at": row.last_error_at}
    return row._asdict() | {
        "account": {"name": row.account_name, "reference": row.account_reference},
        "campaigns": [_campaign_values(campaign) for campaign in campaigns],
        "options": SwitchOptions.from_json(row.options),
        "progress": {part.collection: part for part in progress},
        "last_error": error if row.last_error_code else None,
    }


def _campaign_values(campaign: SwitchCampaign) -> dict[str, Any]:
    return {
        "source_id": campaign.source_id,
        "name": campaign.name,
        "affiliates": campaign.affiliates,
        "terms": parse_terms(campaign.terms),
        "program_id": campaign.program_id,
    }
