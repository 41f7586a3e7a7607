"""Switches, one open at a time for each organization, and the campaigns of their accounts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from domain.switches.states import ENDED
from models.db import Json, db
from models.prepared_statements import Lookup
from models.table import Rows, Table


@dataclass(frozen=True, slots=True)
class Switch:
    """A switch. Credentials are sealed with its id. `options` as `domain.switches.options` stores them."""

    id: UUID
    organization_id: UUID
    source: str
    state: str
    stage: str | None
    paused_in: str | None
    account_name: str
    account_reference: str
    credentials_sealed: bytes | None
    options: Mapping[str, Any]
    columns: Mapping[str, Mapping[str, str]]
    words: Mapping[str, Mapping[str, str]]
    parameters: tuple[str, ...]
    parameters_added: tuple[str, ...]
    cut_over_at: datetime | None
    requests: int
    waiting_until: datetime | None
    failures: int
    busy: int
    last_error_code: str | None
    last_error_message: str | None
    last_error_at: datetime | None
    preview: Mapping[str, Any] | None
    result: Mapping[str, Any] | None
    created_by: UUID | None
    created_at: datetime
    reading_at: datetime | None
    read_at: datetime | None
    completed_at: datetime | None
    undo_until: datetime | None
    undone_at: datetime | None
    touched_at: datetime
    is_forgotten: bool

    @property
    def key(self) -> dict[str, UUID]:
        """The arguments that name the switch, for the functions of `models.switches`."""
        return {"organization_id": self.organization_id, "switch_id": self.id}

    @property
    def effective_cut_over_at(self) -> datetime:
        """Payments before it were the former system's: the brand's time, else when reading began."""
        return self.cut_over_at or self.reading_at or self.created_at


@dataclass(frozen=True, slots=True)
class SwitchCampaign:
    """A campaign of the account, and the program that it leads to; None: it is left out."""

    source_id: str
    name: str
    affiliates: int | None
    terms: Mapping[str, Any]
    program_id: UUID | None


_TABLE = Table("switch", Switch)
_CAMPAIGNS = Rows(SwitchCampaign)
#: Insert a switch; False when the organization has an open one.
insert = _TABLE.insert
_ONE = f"select {_TABLE.columns} from switch where organization_id = %s and id = %s"
_FIND = Lookup(_ONE)
_LOCK = Lookup(f"{_ONE} for no key update")
_LIST_CAMPAIGNS = """
select source_id, name, affiliates, terms, program_id from switch_campaign
where organization_id = %s and switch_id = %s order by name, source_id
"""


def find(*, organization_id: UUID, switch_id: UUID) -> Switch | None:
    """Return a switch of the organization."""
    return _TABLE.first(_FIND, (organization_id, switch_id))


def lock(*, organization_id: UUID, switch_id: UUID) -> Switch | None:
    """Return a switch of the organization, locked until the transaction ends."""
    return _TABLE.first(_LOCK, (organization_id, switch_id))


_OF_STATE = f"select {_TABLE.columns} from switch where organization_id = %s and state = %s order by created_at, id"


def list_of_state(*, organization_id: UUID, state: str) -> list[Switch]:
    """Return the switches of an organization that are in a state, oldest first."""
    return _TABLE.all(_OF_STATE, (organization_id, state))


def update(switch: Switch, changes: Mapping[str, Any]) -> Switch:
    """Change columns of a locked switch and return it. Mappings are stored as JSON."""
    values = {name: Json(value) if isinstance(value, Mapping) else value for name, value in changes.items()}
    changed = _TABLE.update({"organization_id": switch.organization_id, "id": switch.id}, values)
    assert changed is not None  # it is locked
    return changed


_IS_WRITING = "select from switch where organization_id = %s and state in ('Writing', 'Undoing')"


def is_writing(*, organization_id: UUID) -> bool:
    """Return whether a switch of the organization writes or takes back records now."""
    return bool(db.run(_IS_WRITING, (organization_id,)))


_HAS_OPEN = "select from switch where organization_id = %s and state <> all(%s) limit 1"


def has_open(*, organization_id: UUID) -> bool:
    """Return whether the organization has a switch that is not ended."""
    return bool(db.run(_HAS_OPEN, (organization_id, [state.value for state in ENDED])))


def list_campaigns(*, organization_id: UUID, switch_id: UUID) -> list[SwitchCampaign]:
    """Return the campaigns of a switch, by name."""
    return _CAMPAIGNS.all(_LIST_CAMPAIGNS, (organization_id, switch_id))


_SET_PROGRAM = """
update switch_campaign set program_id = %s where organization_id = %s and switch_id = %s and source_id = %s
"""
_STAGE_CAMPAIGNS = """
insert into switch_campaign (organization_id, switch_id, source_id, name, affiliates, terms)
select %s, %s, * from unnest(%s::text[], %s::text[], %s::int[], %s::jsonb[])
on conflict (organization_id, switch_id, source_id) do update
set name = excluded.name, affiliates = excluded.affiliates, terms = excluded.terms
"""


def stage_campaigns(*, organization_id: UUID, switch_id: UUID, campaigns: Sequence[SwitchCampaign]) -> None:
    """Stage the campaigns of the account; those that are known keep their program."""
    db.stage(
        _STAGE_CAMPAIGNS,
        (
            organization_id,
            switch_id,
            [campaign.source_id for campaign in campaigns],
            [campaign.name for campaign in campaigns],
            [campaign.affiliates for campaign in campaigns],
            [Json(dict(campaign.terms)) for campaign in campaigns],
        ),
    )


def stage_program(*, organization_id: UUID, switch_id: UUID, source_id: str, program_id: UUID | None) -> None:
    """Stage that a campaign leads to a program; None: that it is left out."""
    db.stage(_SET_PROGRAM, (program_id, organization_id, switch_id, source_id))
