"""The `gateways` queue: events of payment gateways are translated and booked, credentials in doubt are checked.

It also finishes coupons and codes that a request could not finish, and installs the web pixels of stores.
"""

from datetime import datetime
from uuid import UUID

from adapters import clock
from domain import jobs
from models.gateways.connections import GatewayConnection
from models.jobs.rows import ClaimedJob
from pipelines.coupons import families, minting, places, revocation
from pipelines.coupons.calls import GatewayResult
from pipelines.gateways import check, process, web_pixel
from workers.actor import register_calling_job
from workers.batching import call_slots

_UNREACHABLE = "the gateway did not answer, or refused our credentials"


def _prepare(job: ClaimedJob) -> process.PreparedEvent | None:
    return process.prepare(organization_id=job.tenant, event_id=UUID(job.args["event_id"]), now=clock.now())


def _record(prepared: process.PreparedEvent, translated: process.TranslatedEvent) -> datetime | None:
    return process.record(prepared, translated, now=clock.now())


def _reason(prepared: process.PreparedEvent, translated: process.TranslatedEvent) -> str | None:
    return f"{prepared.connection.gateway}: {translated.error}" if translated.error else None


def _translate(prepared: process.PreparedEvent) -> process.TranslatedEvent:
    with call_slots.gateways.hold(prepared.server) as is_held:
        return process.translate(prepared) if is_held else process.crowded_result()


register_calling_job(
    jobs.GATEWAY_EVENT,
    prepare=_prepare,
    call=_translate,
    record=_record,
    why=_reason,
)


def _prepare_check(job: ClaimedJob) -> GatewayConnection | None:
    return check.prepare(organization_id=job.tenant, connection_id=UUID(job.args["connection_id"]))


def _check(connection: GatewayConnection) -> check.CheckResult:
    return check.try_check_credentials(connection, now=clock.now())


def _record_check(connection: GatewayConnection, result: check.CheckResult) -> None:
    if result.is_answered:
        check.record(connection, result.refusal, now=clock.now())


register_calling_job(jobs.GATEWAY_CHECK, prepare=_prepare_check, call=_check, record=_record_check)


def _prepare_pixel(job: ClaimedJob) -> web_pixel.PreparedPixel | None:
    connection_id = UUID(job.args["connection_id"])
    return web_pixel.prepare(organization_id=job.tenant, connection_id=connection_id, now=clock.now())


def _record_pixel(begun: web_pixel.PreparedPixel, result: web_pixel.PixelAnswer) -> datetime | None:
    return web_pixel.record(begun, result, now=clock.now())


def _why_pixel(begun: web_pixel.PreparedPixel, result: web_pixel.PixelAnswer) -> str | None:
    return result.error


register_calling_job(
    jobs.WEB_PIXEL_SETTLE, prepare=_prepare_pixel, call=web_pixel.apply, record=_record_pixel, why=_why_pixel
)


def _why_unclear(begun: object, result: GatewayResult) -> str:
    return f"the gateway gave no clear answer: {result.message}" if result.message else _UNREACHABLE


def _prepare_family(job: ClaimedJob) -> families.StartedFamily | None:
    return families.resume(organization_id=job.tenant, coupon_id=UUID(job.args["coupon_id"]), now=clock.now())


def _record_family(begun: families.StartedFamily, result: GatewayResult) -> datetime | None:
    return families.finish(begun, result, now=clock.now())


register_calling_job(
    jobs.COUPON_MAKE,
    prepare=_prepare_family,
    call=families.create_at_processor,
    record=_record_family,
    why=_why_unclear,
)


def _explain_unreachable(prepared: object, result: object) -> str:
    return _UNREACHABLE


def _prepare_deletion(job: ClaimedJob) -> families.DeletedCoupon | None:
    return families.prepare_delete(
        organization_id=job.tenant,
        connection_id=UUID(job.args["connection_id"]),
        processor_coupon_id=job.args["processor_coupon_id"],
        deleted_at=datetime.fromisoformat(job.args["deleted_at"]),
        now=clock.now(),
    )


def _record_deletion(coupon: families.DeletedCoupon, is_done: bool) -> datetime | None:
    return None if is_done else places.next_retry_at(coupon.deleted_at, clock.now())


register_calling_job(
    jobs.COUPON_DELETE,
    prepare=_prepare_deletion,
    call=families.delete_at_processor,
    record=_record_deletion,
    why=_explain_unreachable,
)


def _prepare_code(job: ClaimedJob) -> minting.StartedCode | None:
    return minting.resume(organization_id=job.tenant, code_id=UUID(job.args["code_id"]), now=clock.now())


def _record_code(begun: minting.StartedCode, result: GatewayResult) -> datetime | None:
    return minting.finish(begun, result, now=clock.now())


register_calling_job(jobs.CODE_MINT, prepare=_prepare_code, call=minting.mint, record=_record_code, why=_why_unclear)


def _prepare_switch_off(job: ClaimedJob) -> revocation.RevokedCode | None:
    return revocation.prepare(organization_id=job.tenant, code_id=UUID(job.args["code_id"]), now=clock.now())


def _record_switch_off(code: revocation.RevokedCode, result: revocation.SwitchOffResult) -> datetime | None:
    return revocation.record(code, result, now=clock.now())


register_calling_job(
    jobs.CODE_SWITCH_OFF,
    prepare=_prepare_switch_off,
    call=revocation.switch_off,
    record=_record_switch_off,
    why=_explain_unreachable,
)
