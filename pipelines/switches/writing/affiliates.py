"""Writes new affiliates with their default links and groups. Source: the switch-over rules, "Affiliates"."""

from collections.abc import Sequence
from uuid import UUID

from domain import emails
from domain.statuses import AffiliateSource, AffiliateStatus
from domain.switches.decisions import AffiliateDecision
from models import advisory_locks, ids
from models.affiliates import affiliates, bulk_actions, tracking_links
from models.programs import partner_groups
from models.switches.written_rows.written import RowToWrite
from pipelines.affiliates import enrollment
from pipelines.switches.writing.slices import Slice, WrittenRows


def write(slice_: Slice) -> WrittenRows:
    """Stage a slice. Someone who joined the program since the row was judged is merged; a slug taken since is replaced.

    Budget: 5 round trips for any number of rows, and one for each program with groups.
    """
    advisory_locks.stage_all_people_lock(slice_.organization_id)
    rows = slice_.read(AffiliateDecision)
    written = WrittenRows(merged=_find_merged(slice_, rows))
    new = [(row, decision) for row, decision in rows if not written.skips(row.source_id)]
    if not new:
        return written
    groups = _ensure_groups(slice_, [decision for _, decision in new])
    affiliates.stage_all([_affiliate(slice_, decision, groups) for _, decision in new])
    affiliates.stage_tags(
        organization_id=slice_.organization_id,
        tags={decision.affiliate_id: decision.tags for _, decision in new if decision.tags},
    )
    links = _choose_links(slice_, [decision for _, decision in new])
    if links:
        tracking_links.stage_all(links)
    return written


def _find_merged(slice_: Slice, rows: Sequence[tuple[RowToWrite, AffiliateDecision]]) -> dict[str, UUID]:
    there = bulk_actions.find_ids_by_email(
        organization_id=slice_.organization_id,
        people=[(decision.program_id, decision.email) for _, decision in rows],
    )
    return {
        row.source_id: there[decision.program_id, decision.email]
        for row, decision in rows
        if (decision.program_id, decision.email) in there
    }


def _ensure_groups(slice_: Slice, decisions: Sequence[AffiliateDecision]) -> dict[tuple[UUID, str], UUID]:
    """Return the ids of the groups that the decisions name, by program and name; new ones are inserted."""
    decision_by_group = {
        (decision.program_id, decision.group_name): decision
        for decision in decisions
        if decision.group_name is not None
    }
    groups: dict[tuple[UUID, str], UUID] = {}
    for program_id in sorted({program_id for program_id, _ in decision_by_group}):
        key = {"organization_id": slice_.organization_id, "program_id": program_id}
        group_ids = {group.name: group.id for group in partner_groups.list_of_program(**key)}
        for (program, name), decision in decision_by_group.items():
            if program != program_id or name is None:
                continue
            if name not in group_ids:
                group_ids[name] = ids.new_id()
                partner_groups.insert(
                    {
                        "id": group_ids[name],
                        **key,
                        "name": name,
                        "commission_type": decision.group_type,
                        "commission_value": decision.group_value,
                        "commission_currency": decision.group_currency,
                        "created_at": slice_.now,
                    }
                )
            groups[program_id, name] = group_ids[name]
    return groups


def _affiliate(slice_: Slice, decision: AffiliateDecision, groups: dict[tuple[UUID, str], UUID]) -> dict[str, object]:
    return {
        "id": decision.affiliate_id,
        "organization_id": slice_.organization_id,
        "program_id": decision.program_id,
        "email": decision.email,
        "email_normalized": emails.normalize(decision.email),
        "full_name": decision.full_name,
        "status": decision.status,
        "wallet_email": decision.wallet_email,
        "partner_group_id": groups.get((decision.program_id, decision.group_name or "")),
        "source": AffiliateSource.Direct.value,
        "import_job_id": slice_.imports["Affiliates"],
        "is_test": False,
        "applied_at": slice_.now,
        "approved_at": slice_.now if decision.status == AffiliateStatus.Approved else None,
        "created_at": slice_.now,
    }


def _choose_links(slice_: Slice, decisions: Sequence[AffiliateDecision]) -> list[dict[str, object]]:
    """Return the default links of the affiliates who get one."""
    chosen = [decision for decision in decisions if decision.link_id is not None and decision.slug is not None]
    slugs = [decision.slug for decision in chosen if decision.slug]
    key = {"organization_id": slice_.organization_id}
    owners = tracking_links.find_owners(**key, slugs=slugs)
    links: list[dict[str, object]] = []
    for decision in chosen:
        is_free = owners.get(decision.slug or "", set()) <= {decision.email}
        links.append(
            {
                "id": decision.link_id,
                "organization_id": slice_.organization_id,
                "program_id": decision.program_id,
                "affiliate_id": decision.affiliate_id,
                "slug": decision.slug if is_free else enrollment.random_slug(),
                "custom_alias": None,
                "is_default": True,
                "created_at": slice_.now,
            }
        )
    return links
