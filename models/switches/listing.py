"""Switches as people see them: without credentials and preview, with campaigns and how far each collection is."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from models.listing import Listing, Position
from models.prepared_statements import PreparedStatement
from models.switches.switches import SwitchCampaign
from models.table import Rows


class ListedSwitch(NamedTuple):
    """A switch, with its id as text. `credentials_held`: its key is not erased."""

    id: str
    organization_id: str
    source: str
    state: str
    stage: str | None
    paused_in: str | None
    account_name: str
    account_reference: str
    credentials_held: bool
    has_preview: bool
    options: Mapping[str, Any]
    columns: Mapping[str, Mapping[str, str]]
    words: Mapping[str, Mapping[str, str]]
    cut_over_at: datetime | None
    requests: int
    waiting_until: datetime | None
    last_error_code: str | None
    last_error_message: str | None
    last_error_at: datetime | None
    result: Mapping[str, Any] | None
    created_at: datetime
    reading_at: datetime | None
    read_at: datetime | None
    completed_at: datetime | None
    undo_until: datetime | None
    undone_at: datetime | None
    touched_at: datetime


class ListedProgress(NamedTuple):
    """How many rows of a collection were read and written; `total` None: the source tells none."""

    switch_id: str
    collection: str
    read: int
    total: int | None
    written: int


class _ListedCampaign(NamedTuple):
    switch_id: str
    source_id: str
    name: str
    affiliates: int | None
    terms: Mapping[str, Any]
    program_id: UUID | None


_EXPRESSIONS = {"credentials_held": "credentials_sealed is not null", "has_preview": "preview is not null"}
_SWITCHES = Listing("switch", ListedSwitch, condition="true", **_EXPRESSIONS)
_PROGRESS = Rows(ListedProgress)
_CAMPAIGNS = Rows(_ListedCampaign)
_LIST_PROGRESS = PreparedStatement("""
select switch_id::text, collection, read, total, written from switch_collection
where organization_id = %s and switch_id = any(%s) order by switch_id, place
""")
_LIST_CAMPAIGNS = PreparedStatement("""
select switch_id::text, source_id, name, affiliates, terms, program_id from switch_campaign
where organization_id = %s and switch_id = any(%s) order by switch_id, name, source_id
""")


def list_page(
    *, organization_id: UUID, source: str | None, state: str | None, limit: int, after: Position | None
) -> list[ListedSwitch]:
    """Return up to `limit` switches, newest first; `source` and `state` None do not filter."""
    where = {"source": source, "state": state}
    return _SWITCHES.page(organization_id=organization_id, where=where, limit=limit, after=after)


def find(*, organization_id: UUID, switch_id: UUID) -> ListedSwitch | None:
    """Return one switch of the organization, or None."""
    rows = _SWITCHES.page(organization_id=organization_id, where={"id": switch_id}, limit=1)
    return rows[0] if rows else None


def list_progress(*, organization_id: UUID, switch_ids: Sequence[str]) -> Mapping[str, Sequence[ListedProgress]]:
    """Return how far the collections of switches are, by the id of the switch, in the order in which they are read."""
    progress = defaultdict[str, list[ListedProgress]](list)
    for row in _PROGRESS.all(_LIST_PROGRESS, (organization_id, [UUID(switch_id) for switch_id in switch_ids])):
        progress[row.switch_id].append(row)
    return progress


def list_campaigns(*, organization_id: UUID, switch_ids: Sequence[str]) -> Mapping[str, Sequence[SwitchCampaign]]:
    """Return the campaigns of switches by the id of the switch, by name."""
    campaigns = defaultdict[str, list[SwitchCampaign]](list)
    for row in _CAMPAIGNS.all(_LIST_CAMPAIGNS, (organization_id, [UUID(switch_id) for switch_id in switch_ids])):
        campaigns[row.switch_id].append(
            SwitchCampaign(row.source_id, row.name, row.affiliates, row.terms, row.program_id)
        )
    return campaigns
