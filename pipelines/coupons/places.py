"""Where a coupon is made and where its codes are minted.

Source: tracking spec, "Coupons": families and self-minted codes at the processor; codes of the brand at its store,
where it has one; codes without a family at a store or another gateway that mints, never at the processor.
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

#: How long a request may be at work before a job looks after what it began.
LEFT_ALONE = timedelta(seconds=40)
#: A request that is repeated within this time with its Idempotency-Key goes on with what it began.
REPEATED_WITHIN = timedelta(hours=1)
# The name of a code at its gateway, before its mark, where no coupon gives it one.
_NAME_WITHOUT_FAMILY = "Affiliate code"
# While a gateway is away, and while it refuses the credentials.
_AGAIN_AFTER = tuple(timedelta(seconds=s) for s in (10, 60, 300, 1_800, 7_200))


@dataclass(frozen=True, slots=True)
class MintingPlace:
    """A connection with all that calling its gateway takes."""

    connection: GatewayConnection
    account: GatewayAccount
    rail: CodeRail

    @property
    def is_store(self) -> bool:
        """Whether it is a store, whose access the brand renews by connecting it again."""
        return self.rail.gateway in registry.STOREFRONTS


def for_family(organization_id: UUID, *, now: datetime) -> MintingPlace:
    """Return the processor. Raises Refused 422 processor_not_connected."""
    for connection in _usable(organization_id):
        if connection.gateway == registry.PROCESSOR and connection.status == ConnectionStatus.Active:
            return _place(connection, now)
    raise not_connected()


def for_code(coupon: CampaignCoupon, origin: CodeOrigin, *, now: datetime) -> MintingPlace:
    """Return where a code of a family is minted: the brand's at its store first, self-minted ones at the processor.

    Raises Refused 422: processor_not_connected; storefront_reconnect_required for a store that refuses us.
    """
    gateways = registry.MINTABLE if origin == CodeOrigin.Brand else (registry.PROCESSOR,)
    place = _first(coupon.organization_id, gateways, coupon, now=now)
    if place is None:
        raise not_connected()
    return place


def for_code_without_family(organization_id: UUID, *, now: datetime) -> MintingPlace:
    """Return where a code with a discount of its own is minted: at the brand's store first, else at another gateway.

    Raises Refused 422: processor_not_connected; storefront_reconnect_required for a store that refuses us.
    """
    gateways = [gateway for gateway in registry.MINTABLE if gateway != registry.PROCESSOR]
    place = _first(organization_id, gateways, None, now=now)
    if place is None:
        message = (
            "Connect a store or another gateway that mints codes first (POST /api/v1/connections). Codes at"
            f" {registry.PROCESSOR} are minted from a campaign's coupon: send its campaignCouponId."
        )
        raise Refused(422, "processor_not_connected", message)
    return place


def can_mint(organization_id: UUID) -> bool:
    """Return whether a gateway is connected where codes can be minted, of a coupon or without one."""
    return any(
        connection.gateway in registry.MINTABLE and connection.status == ConnectionStatus.Active
        for connection in _usable(organization_id)
    )


def _first(
    organization_id: UUID, gateways: Sequence[Gateway], coupon: CampaignCoupon | None, *, now: datetime
) -> MintingPlace | None:
    """Return the first of these gateways that is connected; the processor only where the coupon was made."""
    usable = {connection.gateway: connection for connection in reversed(_usable(organization_id))}
    for gateway in gateways:
        connection = usable.get(gateway)
        if connection is None:
            continue
        if gateway == registry.PROCESSOR and (coupon is None or not _is_at_home(coupon, connection)):
            continue
        if connection.status == ConnectionStatus.Active:
            return _place(connection, now)
        if gateway in registry.STOREFRONTS:
            raise reconnect(connection.gateway)
    return None


def acting(organization_id: UUID, connection_id: UUID, *, now: datetime) -> MintingPlace | None:
    """Return the place of a connection, or of the one that has taken its place at the same account; None without."""
    before = connections.find(organization_id=organization_id, connection_id=connection_id)
    assert before is not None  # connections are never deleted
    for connection in connections.all_in_force(organization_id):
        if _is_same_account(before, connection):
            return _place(connection, now)
    return None


def family_order(coupon: CampaignCoupon) -> CouponOrder:
    """Return a family as the processor is asked for it."""
    return CouponOrder(coupon.id, coupon.name, coupon.discount)


def code_order(code: AffiliateCoupon, family: CampaignCoupon | None) -> CodeOrder:
    """Return a code as a gateway is asked for it; one without a family is ordered with the discount in its own row."""
    if family is not None:
        return CodeOrder(code.id, code.code, family_order(family), family.processor_coupon_id)
    discount = code.discount
    assert discount is not None  # the table holds that a minted code has a family or a discount
    return CodeOrder(code.id, code.code, CouponOrder(code.id, _NAME_WITHOUT_FAMILY, discount))


def again_at(began_at: datetime, now: datetime) -> datetime:
    """Return when to ask a gateway again that is away since something began."""
    waited = now - began_at
    return now + next((step for step in _AGAIN_AFTER if waited < 4 * step), _AGAIN_AFTER[-1])


def not_connected() -> Refused:
    """Return the refusal where nothing is connected that mints."""
    message = "Connect a payment processor first (POST /api/v1/connections); codes are minted there."
    return Refused(422, "processor_not_connected", message)


def reconnect(gateway: str) -> Refused:
    """Return the refusal of a store that does not take our access any more."""
    message = f"{gateway} no longer takes the connection's credentials; replace them (PATCH the connection), try again."
    return Refused(422, "storefront_reconnect_required", message)


def _usable(organization_id: UUID) -> list[GatewayConnection]:
    """Return what is in force: the live connections, else those in test mode."""
    found = connections.all_in_force(organization_id)
    return [connection for connection in found if connection.mode == found[0].mode]


def _place(connection: GatewayConnection, now: datetime) -> MintingPlace:
    return MintingPlace(connection, accounts.of(connection, now=now), registry.rail(connection.gateway))


def _is_at_home(coupon: CampaignCoupon, connection: GatewayConnection) -> bool:
    if connection.id == coupon.connection_id:
        return True
    home = connections.find(organization_id=coupon.organization_id, connection_id=coupon.connection_id)
    return home is not None and _is_same_account(home, connection)


def _is_same_account(one: GatewayConnection, other: GatewayConnection) -> bool:
    """Return whether two connections are of one account: by its identity, as names change, else by its name."""
    if (one.gateway, one.mode) != (other.gateway, other.mode):
        return False
    if one.identity and other.identity:
        return one.identity == other.identity
    return one.account == other.account
