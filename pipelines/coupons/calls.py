"""What a gateway says when a coupon or a code is made: done, a refusal with its code, or nothing that can be used."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from adapters.coupons.base import CodeTaken, DiscountNotHeld
from adapters.gateways.base import CredentialsRefused, GatewayBusy, GatewayRejected, GatewayUnreachable
from domain.gateways.facts import UnreadableEvent
from domain.refusals import Refused
from models.organization import audit
from pipelines.coupons import places
from pipelines.coupons.places import MintingPlace


@dataclass(frozen=True, slots=True)
class Made:
    """What came of asking a gateway to make something.

    `made_id` is its id there. Where it is not known (`is_known`), the answer was lost: it may be there or not.
    `is_refused` says that the gateway did not take the credentials, with its `words`.
    """

    made_id: str | None = None
    refusal: Refused | None = None
    is_refused: bool = False
    is_known: bool = True
    words: str = ""


def make(
    place: MintingPlace, ask: Callable[[], str], find: Callable[[], str | None], *, is_asked_again: bool = False
) -> Made:
    """Ask a gateway to make something; when its answer is lost, look once whether it is there. Calls the gateway.

    Where it was asked before, that is looked at first: what may be there is never given up.
    """
    label = place.connection.gateway
    if is_asked_again:
        found = look(place, find)
        if found.made_id is not None or not found.is_known:
            return found
    try:
        return Made(ask())
    except CodeTaken as error:
        message = f"{label} has another code {error}; choose another text."
        return Made(refusal=Refused(422, "code_already_taken", message, field="code"))
    except CredentialsRefused as error:
        refusal = places.reconnect(label) if place.is_store else _failed(label, error)
        return Made(refusal=refusal, is_refused=True, words=str(error))
    except (DiscountNotHeld, GatewayRejected) as error:
        return Made(refusal=_failed(label, error))
    except GatewayBusy as error:
        return Made(is_known=False) if is_asked_again else Made(refusal=_failed(label, error))
    except (GatewayUnreachable, UnreadableEvent):
        found = look(place, find)
        # What is not there yet may still be on its way.
        return found if found.made_id is not None else replace(found, is_known=False)


def look(place: MintingPlace, find: Callable[[], str | None]) -> Made:
    """Ask a gateway whether something was made there. Calls the gateway."""
    try:
        return Made(find())
    except CredentialsRefused as error:
        return Made(is_refused=True, is_known=False, words=str(error))
    except (GatewayRejected, GatewayUnreachable, UnreadableEvent) as error:
        return Made(is_known=False, words=f"{place.connection.gateway}: {error}")


def away(place: MintingPlace) -> Refused:
    """Return the refusal of a request whose gateway did not answer; what it asked for is found out by a job."""
    message = (
        f"{place.connection.gateway} did not answer; whether it was made is being found out. Ask again in a minute."
    )
    return Refused(503, "gateway_unreachable", message)


def stage_audit(
    action: str, *, organization_id: UUID, made_id: UUID, after: Mapping[str, object], now: datetime
) -> None:
    """Stage the audit entry of what a job finished of a request."""
    audit.stage(
        organization_id=organization_id,
        action=action,
        entity_type=action.split(".", 1)[0],
        entity_id=str(made_id),
        actor_type="system",
        actor_user_id=None,
        actor_label="unfinished request",
        ip=None,
        user_agent=None,
        request_id=None,
        before=None,
        after=after,
        at=now,
    )


def _failed(label: str, error: Exception) -> Refused:
    return Refused(422, "processor_create_failed", f"{label} says no: {error}")
