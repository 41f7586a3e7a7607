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


def _translate(prepared: process.PreparedEvent) -> process.TranslatedEvent:
    with call_slots.gateways.hold(prepared.server) as is_held:
        return process.translate(prepared) if is_held else process.crowded_result()


register_calling_job(
    jobs.GATEWAY_EVENT,
    prepare=lambda job: process.prepare(
        organization_id=job.tenant, event_id=UUID(job.args["event_id"]), now=clock.now()
    ),
    call=_translate,
    record=lambda prepared, translated: process.record(prepared, translated, now=clock.now()),
    why=lambda prepared, translated: f"{prepared.connection.gateway}: {translated.error}" if translated.error else None,
)


def _record_check(connection: GatewayConnection, result: check.CheckResult) -> None:
    if result.is_answered:
        check.record(connection, result.refusal, now=clock.now())


register_calling_job(
    jobs.GATEWAY_CHECK,
    prepare=lambda job: check.prepare(organization_id=job.tenant, connection_id=UUID(job.args["connection_id"])),
    call=lambda connection: check.try_check_credentials(connection, now=clock.now()),
    record=_record_check,
)


def _prepare_pixel(job: ClaimedJob) -> web_pixel.PreparedPixel | None:
    connection_id = UUID(job.args["connection_id"])
    return web_pixel.prepare(organization_id=job.tenant, connection_id=connection_id, now=clock.now())


register_calling_job(
    jobs.WEB_PIXEL_SETTLE,
    prepare=_prepare_pixel,
    call=web_pixel.apply,
    record=lambda begun, result: web_pixel.record(begun, result, now=clock.now()),
    why=lambda begun, result: result.error,
)


def _why_unclear(prepared: object, result: GatewayResult) -> str:
    return f"the gateway gave no clear answer: {result.message}" if result.message else _UNREACHABLE


register_calling_job(
    jobs.COUPON_MAKE,
    prepare=lambda job: families.resume(
        organization_id=job.tenant, coupon_id=UUID(job.args["coupon_id"]), now=clock.now()
    ),
    call=families.create_at_processor,
    record=lambda begun, result: families.finish(begun, result, now=clock.now()),
    why=_why_unclear,
)


def _explain_unreachable(prepared: object, result: object) -> str:
    return _UNREACHABLE


register_calling_job(
    jobs.COUPON_DELETE,
    prepare=lambda job: families.prepare_delete(
        organization_id=job.tenant,
        connection_id=UUID(job.args["connection_id"]),
        processor_coupon_id=job.args["processor_coupon_id"],
        deleted_at=datetime.fromisoformat(job.args["deleted_at"]),
        now=clock.now(),
    ),
    call=families.delete_at_processor,
    record=lambda coupon, is_done: None if is_done else places.next_retry_at(coupon.deleted_at, clock.now()),
    why=_explain_unreachable,
)


register_calling_job(
    jobs.CODE_MINT,
    prepare=lambda job: minting.resume(organization_id=job.tenant, code_id=UUID(job.args["code_id"]), now=clock.now()),
    call=minting.mint,
    record=lambda begun, result: minting.finish(begun, result, now=clock.now()),
    why=_why_unclear,
)


register_calling_job(
    jobs.CODE_SWITCH_OFF,
    prepare=lambda job: revocation.prepare(
        organization_id=job.tenant, code_id=UUID(job.args["code_id"]), now=clock.now()
    ),
    call=revocation.switch_off,
    record=lambda code, result: revocation.record(code, result, now=clock.now()),
    why=_explain_unreachable,
)
