"""The gateway where a coupon is created, or a code minted.

Source: tracking spec, "Coupons": families and self-minted codes at the processor; codes of the brand at its store,
if it has one; codes without a family at a store or another gateway that mints, never at the processor.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from adapters.coupons import registry
from adapters.coupons.base import CodeOrder, CodeRail, CouponOrder
from adapters.gateways.base import GatewayAccount
from domain.coupons.discounts import CodeOrigin
from domain.gateways.names import Gateway
from domain.gateways.states import ConnectionStatus
from domain.refusals import Refused
from models.coupons.affiliate_coupons import AffiliateCoupon
from models.coupons.campaign_coupons import CampaignCoupon
from models.gateways import connections
from models.gateways.connections import GatewayConnection
from pipelines.gateways import accounts

#: How long a request may take before a job finishes its work.
REQUEST_TIME = timedelta(seconds=40)
#: A request repeated within this time with its Idempotency-Key continues the first one.
IDEMPOTENCY_WINDOW = timedelta(hours=1)
# The name of a code at its gateway, before its mark, if no coupon gives it one.
_NAME_WITHOUT_FAMILY = "Affiliate code"
# Delays between tries while a gateway is unreachable or refuses the credentials.
_RETRY_DELAYS = tuple(timedelta(seconds=s) for s in (10, 60, 300, 1_800, 7_200))


@dataclass(frozen=True, slots=True)
class MintingPlace:
    """A connection with everything that a call to its gateway needs."""

    connection: GatewayConnection
    account: GatewayAccount
    rail: CodeRail

    @property
    def is_store(self) -> bool:
        """Whether it is a store, whose access the brand renews by connecting it again."""
        return self.rail.gateway in registry.STOREFRONTS


def find_for_family(organization_id: UUID, *, now: datetime) -> MintingPlace:
    """Return the processor. Raises Refused 422 processor_not_connected."""
    for connection in _list_usable(organization_id):
        if connection.gateway == registry.PROCESSOR and connection.status == ConnectionStatus.Active:
            return _place(connection, now)
    raise not_connected_refusal()


def find_for_code(coupon: CampaignCoupon, origin: CodeOrigin, *, now: datetime) -> MintingPlace:
    """Return where a code of a family is minted: the brand's at its store first, self-minted ones at the processor.

    Raises Refused 422: processor_not_connected; storefront_reconnect_required if the store refuses the credentials.
    """
    gateways = registry.MINTABLE if origin == CodeOrigin.Brand else (registry.PROCESSOR,)
    place = _find_first(coupon.organization_id, gateways, coupon, now=now)
    if place is None:
        raise not_connected_refusal()
    return place


def find_for_standalone_code(organization_id: UUID, *, now: datetime) -> MintingPlace:
    """Return where a code with a discount of its own is minted: at the brand's store first, else at another gateway.

    Raises Refused 422: processor_not_connected; storefront_reconnect_required if the store refuses the credentials.
    """
    gateways = [gateway for gateway in registry.MINTABLE if gateway != registry.PROCESSOR]
    place = _find_first(organization_id, gateways, None, now=now)
    if place is None:
        message = (
            "Connect a store or another gateway that mints codes first (POST /api/v1/connections). Codes at"
            f" {registry.PROCESSOR} are minted from a campaign's coupon: send its campaignCouponId."
        )
        raise Refused(422, "processor_not_connected", message)
    return place


def can_mint(organization_id: UUID) -> bool:
    """Return whether a connected gateway can mint codes, with a coupon or without."""
    return any(
        connection.gateway in registry.MINTABLE and connection.status == ConnectionStatus.Active
        for connection in _list_usable(organization_id)
    )


def _find_first(
    organization_id: UUID, gateways: Sequence[Gateway], coupon: CampaignCoupon | None, *, now: datetime
) -> MintingPlace | None:
    """Return the first of these gateways that is connected; the processor only if the coupon was created there."""
    usable = {connection.gateway: connection for connection in reversed(_list_usable(organization_id))}
    for gateway in gateways:
        connection = usable.get(gateway)
        if connection is None:
            continue
        if gateway == registry.PROCESSOR and (coupon is None or not _has_coupon(coupon, connection)):
            continue
        if connection.status == ConnectionStatus.Active:
            return _place(connection, now)
        if gateway in registry.STOREFRONTS:
            raise reconnect_refusal(connection.gateway)
    return None


def find_by_connection(organization_id: UUID, connection_id: UUID, *, now: datetime) -> MintingPlace | None:
    """Return the place of a connection, or of its replacement for the same account; None if there is neither."""
    before = connections.find(organization_id=organization_id, connection_id=connection_id)
    assert before is not None  # connections are never deleted
    for connection in connections.list_in_force(organization_id):
        if _is_same_account(before, connection):
            return _place(connection, now)
    return None


def family_order(coupon: CampaignCoupon) -> CouponOrder:
    """Return the order that creates a family at the processor."""
    return CouponOrder(coupon.id, coupon.name, coupon.discount)


def code_order(code: AffiliateCoupon, family: CampaignCoupon | None) -> CodeOrder:
    """Return the order that mints a code; without a family it has the discount of the code's own row."""
    if family is not None:
        return CodeOrder(code.id, code.code, family_order(family), family.processor_coupon_id)
    discount = code.discount
    assert discount is not None  # a constraint: a minted code has a family or a discount
    return CodeOrder(code.id, code.code, CouponOrder(code.id, _NAME_WITHOUT_FAMILY, discount))


def next_retry_at(started_at: datetime, now: datetime) -> datetime:
    """Return when to call an unreachable gateway again, by how long ago the work started."""
    waited = now - started_at
    return now + next((step for step in _RETRY_DELAYS if waited < 4 * step), _RETRY_DELAYS[-1])


def not_connected_refusal() -> Refused:
    """Return the refusal if no connected gateway can mint."""
    message = "Connect a payment provider first: codes are created there."
    return Refused(422, "processor_not_connected", message)


def reconnect_refusal(gateway: str) -> Refused:
    """Return the refusal for a store that no longer accepts the connection's credentials."""
    message = f"{gateway} no longer takes the connection's credentials; replace them (PATCH the connection), try again."
    return Refused(422, "storefront_reconnect_required", message)


def _list_usable(organization_id: UUID) -> list[GatewayConnection]:
    """Return the connections in force: live ones, else those in test mode."""
    in_force = connections.list_in_force(organization_id)
    return [connection for connection in in_force if connection.mode == in_force[0].mode]


def _place(connection: GatewayConnection, now: datetime) -> MintingPlace:
    return MintingPlace(connection, accounts.open_account(connection, now=now), registry.rail(connection.gateway))


def _has_coupon(coupon: CampaignCoupon, connection: GatewayConnection) -> bool:
    if connection.id == coupon.connection_id:
        return True
    home = connections.find(organization_id=coupon.organization_id, connection_id=coupon.connection_id)
    return home is not None and _is_same_account(home, connection)


def _is_same_account(first: GatewayConnection, second: GatewayConnection) -> bool:
    """Return whether two connections belong to one account: by its identity, because names change, else by name."""
    if (first.gateway, first.mode) != (second.gateway, second.mode):
        return False
    if first.identity and second.identity:
        return first.identity == second.identity
    return first.account == second.account
