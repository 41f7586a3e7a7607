"""Writes external codes. Source: the switch-over rules, "Codes"."""

from domain.coupons.discounts import CodeOrigin, CodeStatus
from domain.switches.decisions import CodeDecision
from domain.switches.reasons import LeftOutReason
from models.coupons import affiliate_coupons
from pipelines.switches.writing.slices import Slice, WrittenRows, leave_out_deleted


def write(slice_: Slice) -> WrittenRows:
    """Stage a slice. A code that is in force by now is left out. Budget: 4 round trips for any number of rows."""
    written = WrittenRows()
    rows = leave_out_deleted(slice_, slice_.read(CodeDecision), written)
    inserted = affiliate_coupons.insert_external(
        organization_id=slice_.organization_id,
        codes=[
            affiliate_coupons.ExternalCode(row.target_id, decision.program_id, decision.affiliate_id, decision.code)
            for row, decision in rows
        ],
        origin=CodeOrigin.External.value,
        status=CodeStatus.Active.value,
        at=slice_.now,
    )
    written.left_out |= {
        row.source_id: LeftOutReason.CodeTaken.value for row, _ in rows if row.target_id not in inserted
    }
    return written
