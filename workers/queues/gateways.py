"""The `gateways` queue: events of payment gateways are translated and booked, credentials in doubt are tried.

What a request could not finish of a coupon or a code is finished here too, and stores have their web pixels.
"""

from datetime import datetime
from uuid import UUID

from adapters import clock
from domain import jobs
from models.gateways.connections import GatewayConnection
from models.jobs.rows import ClaimedJob
from pipelines.coupons import ending, families, minting, places
from pipelines.coupons.calls import Made
from pipelines.gateways import check, process, web_pixel
from workers.actor import calling_job
from workers.behind import call_slots

_AWAY = "the gateway is away, or refuses our credentials"


def _prepare(job: ClaimedJob) -> process.PreparedEvent | None:
    return process.prepare(organization_id=job.tenant, event_id=UUID(job.args["event_id"]), now=clock.now())


def _record(prepared: process.PreparedEvent, translated: process.Translated) -> datetime | None:
    return process.record(prepared, translated, now=clock.now())


def _why(prepared: process.PreparedEvent, translated: process.Translated) -> str | None:
    return f"{prepared.connection.gateway}: {translated.error}" if translated.error else None


def _translate(prepared: process.PreparedEvent) -> process.Translated:
    with call_slots.gateways.hold(prepared.server) as is_held:
        return process.translate(prepared) if is_held else process.crowded()


calling_job(
    jobs.GATEWAY_EVENT,
    prepare=_prepare,
    call=_translate,
    record=_record,
    why=_why,
)


def _doubted(job: ClaimedJob) -> GatewayConnection | None:
    return check.prepare(organization_id=job.tenant, connection_id=UUID(job.args["connection_id"]))


def _look(connection: GatewayConnection) -> check.Look:
    return check.try_look(connection, now=clock.now())


def _note(connection: GatewayConnection, found: check.Look) -> None:
    if found.is_answered:
        check.note(connection, found.refusal, now=clock.now())


calling_job(jobs.GATEWAY_CHECK, prepare=_doubted, call=_look, record=_note)


def _begun_pixel(job: ClaimedJob) -> web_pixel.BegunPixel | None:
    connection_id = UUID(job.args["connection_id"])
    return web_pixel.prepare(organization_id=job.tenant, connection_id=connection_id, now=clock.now())


def _settle_pixel(begun: web_pixel.BegunPixel, said: web_pixel.SettledPixel) -> datetime | None:
    return web_pixel.record(begun, said, now=clock.now())


def _why_pixel(begun: web_pixel.BegunPixel, said: web_pixel.SettledPixel) -> str | None:
    return said.error


calling_job(jobs.WEB_PIXEL_SETTLE, prepare=_begun_pixel, call=web_pixel.settle, record=_settle_pixel, why=_why_pixel)


def _why_made(begun: object, made: Made) -> str:
    return f"the gateway gave no clear answer: {made.words}" if made.words else _AWAY


def _begun_family(job: ClaimedJob) -> families.BegunFamily | None:
    return families.resume(organization_id=job.tenant, coupon_id=UUID(job.args["coupon_id"]), now=clock.now())


def _settle_family(begun: families.BegunFamily, made: Made) -> datetime | None:
    return families.finish(begun, made, now=clock.now())


calling_job(jobs.COUPON_MAKE, prepare=_begun_family, call=families.make, record=_settle_family, why=_why_made)


def _why_away(wanted: object, done: object) -> str:
    return _AWAY


def _doomed(job: ClaimedJob) -> families.DoomedCoupon | None:
    return families.prepare_delete(
        organization_id=job.tenant,
        connection_id=UUID(job.args["connection_id"]),
        processor_coupon_id=job.args["processor_coupon_id"],
        deleted_at=datetime.fromisoformat(job.args["deleted_at"]),
        now=clock.now(),
    )


def _deleted(doomed: families.DoomedCoupon, is_done: bool) -> datetime | None:
    return None if is_done else places.again_at(doomed.deleted_at, clock.now())


calling_job(jobs.COUPON_DELETE, prepare=_doomed, call=families.delete_there, record=_deleted, why=_why_away)


def _begun_code(job: ClaimedJob) -> minting.BegunCode | None:
    return minting.resume(organization_id=job.tenant, code_id=UUID(job.args["code_id"]), now=clock.now())


def _settle_code(begun: minting.BegunCode, made: Made) -> datetime | None:
    return minting.finish(begun, made, now=clock.now())


calling_job(jobs.CODE_MINT, prepare=_begun_code, call=minting.mint, record=_settle_code, why=_why_made)


def _ending(job: ClaimedJob) -> ending.EndingCode | None:
    return ending.prepare(organization_id=job.tenant, code_id=UUID(job.args["code_id"]), now=clock.now())


def _ended(wanted: ending.EndingCode, ended: ending.Ended) -> datetime | None:
    return ending.record(wanted, ended, now=clock.now())


calling_job(jobs.CODE_SWITCH_OFF, prepare=_ending, call=ending.switch_off, record=_ended, why=_why_away)
