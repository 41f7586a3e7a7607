"""What every new conversion brings with it, whatever made it: history, ledger, and word to the brand.

Source: tracking spec, section 6, conversion.created; core spec, "Conversion".
"""

from datetime import datetime

from domain import statuses
from domain.webhooks import events
from models.conversions import conversions
from pipelines.webhooks import emit

# An override that is written after its parent was denied or quarantined is born so, and owes nobody anything.
_EARNS_NOTHING = (statuses.ConversionStatus.Denied, statuses.ConversionStatus.Invalidated)


def stage(conversion: conversions.Conversion, *, now: datetime) -> None:
    """Stage the first line of the conversion's history, its ledger entry and its conversion.created event."""
    is_renewal = conversion.type == statuses.ConversionType.Recurring
    conversions.stage_event(
        organization_id=conversion.organization_id,
        conversion_id=conversion.id,
        event_type="renewal" if is_renewal else "initial",
        amount_cents=conversion.amount_cents,
        commission_cents=conversion.commission_cents,
        occurred_at=conversion.occurred_at,
    )
    if conversion.status not in _EARNS_NOTHING:
        conversions.stage_ledger_entry(
            conversion, kind="earn", amount_cents=conversion.commission_cents, cause_id=conversion.id, created_at=now
        )
    emit.event(
        organization_id=conversion.organization_id,
        type="conversion.created",
        data=events.conversion_created(
            conversion_id=conversion.id,
            affiliate_id=conversion.affiliate_id,
            program_id=conversion.program_id,
            amount_cents=conversion.amount_cents,
            currency=conversion.currency,
            commission_cents=conversion.commission_cents,
            status=conversion.status,
            external_event_id=conversion.external_event_id,
            type=conversion.type,
            attribution_method=conversion.attribution_method,
            sub_id=conversion.sub_id,
            parent_affiliate_conversion_id=conversion.parent_id,
        ),
        at=now,
    )
