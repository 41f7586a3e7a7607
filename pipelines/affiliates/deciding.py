"""What a brand decides about one affiliate: changes, approval, rejection.

All of them begin with the affiliate's row lock, so of two that come at once the second sees what the first did.
Source: core spec, "Affiliates" and section 3 (affiliate).
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from domain.programs import terms
from domain.refused import Refused, not_found
from domain.statuses import AffiliateStatus
from domain.webhooks import events
from models.affiliates import affiliates
from models.affiliates.affiliates import Affiliate
from models.programs import programs
from pipelines.affiliates import joining, letters
from pipelines.payouts import decisions
from pipelines.programs import home_rate
from pipelines.webhooks import emit


def find(*, organization_id: UUID, affiliate_id: UUID) -> Affiliate:
    """Return an affiliate of the organization or refuse with 404 not_found."""
    found = affiliates.find(organization_id=organization_id, affiliate_id=affiliate_id)
    if found is None:
        raise not_found("affiliate", affiliate_id)
    return found


def lock(*, organization_id: UUID, affiliate_id: UUID) -> Affiliate:
    """Like `find`, locked until the transaction ends."""
    found = affiliates.lock(organization_id=organization_id, affiliate_id=affiliate_id)
    if found is None:
        raise not_found("affiliate", affiliate_id)
    return found


def lock_for(*, seen: Affiliate, changes: Mapping[str, Any]) -> Affiliate:
    """Lock an affiliate for these changes; their program first where its terms or groups matter, as everybody does."""
    if any(changes.get(name) for name in ("partner_group_id", "custom_commission_type")) or (
        "custom_commission_value" in changes
    ):
        affiliates.stage_steady_program(organization_id=seen.organization_id, program_id=seen.program_id)
    return lock(organization_id=seen.organization_id, affiliate_id=seen.id)


def change(*, affiliate: Affiliate, changes: Mapping[str, Any], now: datetime) -> Affiliate:
    """Change columns of a locked affiliate and return them as they are now; any status may become any other.

    `changes` is `AffiliateChanges` loaded. Becoming Approved tells the brand, and for the first time the affiliate
    (and the brand of a match in the network); an applicant who becomes Rejected is told once;
    becoming Banned lets go of payouts that were not sent.
    Raises Refused: 404 not_found for the partner group; what `terms.check_rate` raises.
    """
    _check_group(affiliate, changes.get("partner_group_id"))
    implied = {**_rate_columns(affiliate, changes), **_status_columns(affiliate, changes, now)}
    changed = affiliates.change(affiliate, {**changes, **implied})
    if changed.status == affiliate.status:
        return changed
    if changed.status == AffiliateStatus.Approved:
        if joining.is_match(source=changed.source, approved_before=affiliate.approved_at):
            joining.tell_match([changed], organization_id=changed.organization_id, now=now)
        _tell_approved(changed, now)
        if affiliate.approved_at is None:
            letters.tell_approved(organization_id=changed.organization_id, emails=[changed.email], now=now)
    if _is_turned_down(affiliate, changed.status):
        letters.send_rejected(changed, now=now)
    if changed.status == AffiliateStatus.Banned:
        decisions.void_of_affiliate(organization_id=changed.organization_id, affiliate_id=changed.id, now=now)
    return changed


def approve(*, affiliate: Affiliate, now: datetime) -> Affiliate:
    """Approve a locked affiliate, tell the brand and return them as they are now; themselves when they are so already.

    Raises Refused: 409 invalid_status_transition from Paused and Banned.
    """
    if affiliate.status == AffiliateStatus.Approved:
        return affiliate
    _check_status(affiliate, "approved", AffiliateStatus.Pending, AffiliateStatus.Rejected)
    return change(affiliate=affiliate, changes={"status": AffiliateStatus.Approved.value}, now=now)


def reject(*, affiliate: Affiliate, reason: str | None, now: datetime) -> Affiliate:
    """Turn down a locked affiliate's application, tell them once and return them as they are now.

    Raises Refused: 409 invalid_status_transition from every status but Pending.
    """
    _check_status(affiliate, "rejected", AffiliateStatus.Pending)
    changes = {"status": AffiliateStatus.Rejected.value, "rejection_reason": reason}
    return change(affiliate=affiliate, changes=changes, now=now)


def _is_turned_down(before: Affiliate, status: str) -> bool:
    """Return whether this change of status turns down an application that was neither accepted nor turned down before.

    An affiliate who was approved once is no applicant, and an email about a second rejection would say nothing new.
    """
    is_waiting = before.status == AffiliateStatus.Pending and before.approved_at is None
    return is_waiting and status == AffiliateStatus.Rejected and before.rejection_mailed_at is None


def _tell_approved(affiliate: Affiliate, now: datetime) -> None:
    assert affiliate.approved_at is not None  # the change has set it
    approved = events.affiliate_approved(
        affiliate_id=affiliate.id,
        program_id=affiliate.program_id,
        email=affiliate.email,
        full_name=affiliate.full_name,
        approved_at=affiliate.approved_at,
        application_answers=affiliate.application_data,
    )
    emit.event(organization_id=affiliate.organization_id, type="affiliate.approved", data=approved, at=now)


def _check_status(affiliate: Affiliate, wanted: str, *allowed: AffiliateStatus) -> None:
    if affiliate.status not in allowed:
        message = f"An affiliate who is {affiliate.status} cannot be {wanted}."
        raise Refused(409, "invalid_status_transition", message)


def _check_group(affiliate: Affiliate, group_id: UUID | None) -> None:
    if group_id is None:
        return
    if not affiliates.has_group(
        organization_id=affiliate.organization_id, program_id=affiliate.program_id, group_id=group_id
    ):
        raise not_found("partner group", group_id)


def _rate_columns(affiliate: Affiliate, changes: Mapping[str, Any]) -> dict[str, str | None]:
    """Check a rate that is sent and return the column that goes with it: what a Fixed one is in."""
    if "custom_commission_type" not in changes:
        return {}
    if changes["custom_commission_type"] is None:
        return {"custom_commission_currency": None}
    program = programs.find(organization_id=affiliate.organization_id, program_id=affiliate.program_id)
    assert program is not None  # it has this affiliate
    standard = home_rate.find(affiliate.organization_id)
    terms.check_rate(
        model=program.default_commission_model,
        type=changes["custom_commission_type"],
        value=changes["custom_commission_value"],
        home=standard,
        prefix="custom",
    )
    currency = terms.fixed_in(changes["custom_commission_type"], standard.currency)
    return {"custom_commission_currency": currency}


def _status_columns(affiliate: Affiliate, changes: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    status = changes.get("status", affiliate.status)
    columns: dict[str, Any] = {}
    if status != AffiliateStatus.Rejected:
        columns["rejection_reason"] = None
    if status == AffiliateStatus.Approved and affiliate.approved_at is None:
        columns["approved_at"] = now
    if _is_turned_down(affiliate, status):
        columns["rejection_mailed_at"] = now
    return columns
