"""What judging depends on besides the rows: the switch, its mapping and options, the programs and the organization."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from adapters.switches import registry
from adapters.switches.base import Source, SwitchContext
from domain.switches.options import SwitchOptions
from domain.switches.rules import link_rules
from domain.switches.sources import SourceName
from models.switches import switches
from models.switches.judgement import known_records
from models.switches.judgement.known_records import MappedProgram
from models.switches.switches import Switch, SwitchCampaign
from pipelines.switches import contexts

#: In keys of rows whose campaign leads to no program.
_NO_PROGRAM = "-"


@dataclass(frozen=True, slots=True)
class Judging:
    """A switch that is judged. `programs` are those that campaigns lead to, in the order of their ids."""

    switch: Switch
    source: Source
    options: SwitchOptions
    source_context: SwitchContext
    campaigns: Sequence[SwitchCampaign]
    programs: Sequence[MappedProgram]
    program_by_campaign: Mapping[str, UUID | None]
    key_by_program: Mapping[UUID, str]
    now: datetime

    @property
    def rows_since(self) -> datetime | None:
        """When the latest reading began, whose rows are judged; None: all rows are, as of files."""
        return None if self.switch.source == SourceName.Files else self.switch.reading_at

    @property
    def payout_grace_days(self) -> int:
        """Days for which the organization holds a sale."""
        return self.programs[0].payout_grace_days if self.programs else 0

    @property
    def own_hosts(self) -> frozenset[str]:
        """The hosts that the programs lead to."""
        hosts = (link_rules.host_of(program.referral_destination_url) for program in self.programs)
        return frozenset(host for host in hosts if host)

    def program_of(self, campaign: str | None) -> UUID | None:
        """Return the program that a campaign leads to. A row without a campaign has the only mapped one, if it is."""
        mapped = self.program_by_campaign
        if campaign is None:
            return next(iter(mapped.values())) if len(mapped) == 1 else None
        return mapped.get(campaign)

    def program_key(self, program_id: UUID | None) -> str:
        """Return the prefix of keys of items in a program: its place, or a hyphen without one."""
        return _NO_PROGRAM if program_id is None else self.key_by_program[program_id]

    def all_program_keys(self) -> list[str]:
        """Return the keys of all programs and of none."""
        return [*self.key_by_program.values(), _NO_PROGRAM]


def load(switch: Switch, *, now: datetime) -> Judging:
    """Return what judging this switch depends on. Budget: 2 round trips."""
    scope = switch.key
    campaigns = switches.list_campaigns(**scope)
    program_ids = sorted({row.program_id for row in campaigns if row.program_id})
    programs = known_records.list_programs(organization_id=switch.organization_id, program_ids=program_ids)
    return Judging(
        switch=switch,
        source=registry.get(switch.source),
        options=SwitchOptions.from_json(switch.options),
        source_context=contexts.build_context(switch, campaigns),
        campaigns=campaigns,
        programs=programs,
        program_by_campaign={row.source_id: row.program_id for row in campaigns},
        key_by_program={program.id: str(place) for place, program in enumerate(programs)},
        now=now,
    )
