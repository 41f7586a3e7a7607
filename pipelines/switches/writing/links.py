"""Writes further links, and old tokens that cannot be slugs. Source: the switch-over rules, "Links"."""

from domain.switches.decisions import LinkDecision
from domain.switches.reasons import LeftOutReason
from models import advisory_locks
from models.affiliates import bulk_actions, tracking_links
from models.switches import old_tokens
from models.switches.old_tokens import OldToken
from pipelines.switches.writing.slices import Slice, WrittenRows, leave_out_deleted


def write(slice_: Slice) -> WrittenRows:
    """Stage a slice. A token that somebody else got since the row was judged is left out.

    Budget: 5 round trips for any number of rows.
    """
    advisory_locks.stage_all_people_lock(slice_.organization_id)
    key = {"organization_id": slice_.organization_id}
    written = WrittenRows()
    rows = leave_out_deleted(slice_, slice_.read(LinkDecision), written)
    texts = [text for _, decision in rows for text in (decision.slug, decision.old_token) if text]
    owners = tracking_links.find_owners(**key, slugs=texts)
    emails = bulk_actions.find_emails(**key, affiliate_ids=[decision.affiliate_id for _, decision in rows])
    links, tokens = [], []
    for row, decision in rows:
        own = {emails.get(decision.affiliate_id, "")}
        if any(not owners.get(text, set()) <= own for text in (decision.slug, decision.old_token) if text):
            written.left_out[row.source_id] = LeftOutReason.SlugTaken.value
            continue
        if decision.slug is not None:
            owners.setdefault(decision.slug, set()).update(own)
            links.append(
                {
                    "id": decision.link_id,
                    **key,
                    "program_id": decision.program_id,
                    "affiliate_id": decision.affiliate_id,
                    "slug": decision.slug,
                    "custom_alias": decision.slug,
                    "is_default": False,
                    "created_at": slice_.now,
                }
            )
        if decision.old_token is not None:
            tokens.append(
                OldToken(
                    **key,
                    token=decision.old_token,
                    link_id=decision.link_id,
                    switch_id=slice_.switch.id,
                    created_at=slice_.now,
                )
            )
    if links:
        tracking_links.stage_all(links)
    old_tokens.stage_insert_all(tokens, organization_id=slice_.organization_id, switch_id=slice_.switch.id)
    return written
