"""Calls that create a coupon or code at a gateway. The result: created, refused or, if the answer is lost, unknown."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from adapters.coupons.base import CodeTaken, DiscountUnsupported
from adapters.gateways.base import CredentialsRefused, GatewayBusy, GatewayRejected, GatewayUnreachable
from domain.gateways.facts import UnreadableEvent
from domain.refusals import Refused
from models.organization import audit
from pipelines.coupons import places
from pipelines.coupons.places import MintingPlace


@dataclass(frozen=True, slots=True)
class GatewayResult:
    """The result of a call that creates something at a gateway.

    `gateway_id` is its id there; `refusal` is what the API returns if the gateway refused. Not `is_known`: the answer
    was lost, and the object may exist or not. `credentials_refused`: the gateway did not accept the credentials, and
    `message` is its answer.
    """

    gateway_id: str | None = None
    refusal: Refused | None = None
    credentials_refused: bool = False
    is_known: bool = True
    message: str = ""


def create_at_gateway(
    place: MintingPlace, create: Callable[[], str], find: Callable[[], str | None], *, is_retry: bool = False
) -> GatewayResult:
    """Create something at a gateway; if the answer is lost, look once whether it exists. Calls the gateway.

    A repeated call looks first: an object that may exist is never abandoned.
    """
    label = place.connection.gateway
    if is_retry:
        result = look_up(place, find)
        if result.gateway_id is not None or not result.is_known:
            return result
    try:
        return GatewayResult(create())
    except CodeTaken as error:
        message = f"{label} has another code {error}; choose another text."
        return GatewayResult(refusal=Refused(422, "code_already_taken", message, field="code"))
    except CredentialsRefused as error:
        refusal = places.reconnect_refusal(label) if place.is_store else _create_failed(label, error)
        return GatewayResult(refusal=refusal, credentials_refused=True, message=str(error))
    except (DiscountUnsupported, GatewayRejected) as error:
        return GatewayResult(refusal=_create_failed(label, error))
    except GatewayBusy as error:
        return GatewayResult(is_known=False) if is_retry else GatewayResult(refusal=_create_failed(label, error))
    except (GatewayUnreachable, UnreadableEvent):
        result = look_up(place, find)
        # An object that does not exist yet may still be created by the lost call.
        return result if result.gateway_id is not None else replace(result, is_known=False)


def look_up(place: MintingPlace, find: Callable[[], str | None]) -> GatewayResult:
    """Look up whether something was created at a gateway. Calls the gateway."""
    try:
        return GatewayResult(find())
    except CredentialsRefused as error:
        return GatewayResult(credentials_refused=True, is_known=False, message=str(error))
    except (GatewayRejected, GatewayUnreachable, UnreadableEvent) as error:
        return GatewayResult(is_known=False, message=f"{place.connection.gateway}: {error}")


def unreachable_refusal(place: MintingPlace) -> Refused:
    """Return the refusal of a request whose gateway did not answer; a job finds out the result."""
    message = (
        f"{place.connection.gateway} did not answer. We are checking whether it was created; try again in a minute."
    )
    return Refused(503, "gateway_unreachable", message)


def stage_audit(
    action: str, *, organization_id: UUID, entity_id: UUID, after: Mapping[str, object], now: datetime
) -> None:
    """Stage the audit log entry of a request that a job finished."""
    audit.stage(
        organization_id=organization_id,
        action=action,
        entity_id=str(entity_id),
        actor_type="system",
        actor_label="unfinished request",
        after=after,
        at=now,
    )


def _create_failed(label: str, error: Exception) -> Refused:
    return Refused(422, "processor_create_failed", f"{label} refused it: {error}")
