"""Referrals of a gateway's customers and subscriptions that were reported independently of a payment."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from models.db import Json, db
from models.prepared_statements import FreshSelect

_STAGE = """
insert into gateway_referral (organization_id, gateway, subject, origin, told_at)
select %(org)s, %(gateway)s, subject, %(origin)s, %(at)s from unnest(%(subjects)s::text[]) subject
on conflict (organization_id, gateway, subject) do update set origin = excluded.origin, told_at = excluded.told_at
where gateway_referral.told_at <= excluded.told_at and %(replaces)s and gateway_referral.origin <> excluded.origin
"""


def stage(
    *,
    organization_id: UUID,
    gateway: str,
    subjects: Sequence[str],
    origin: dict[str, Any],
    told_at: datetime,
    replaces: bool,
) -> None:
    """Stage the origin of subjects (`customer:ID`, `subscription:ID`); a later origin replaces an earlier one.

    The same origin again keeps its first time. Without `replaces` a stored origin stays.
    """
    params = {
        "org": organization_id,
        "gateway": gateway,
        "subjects": list(subjects),
        "origin": Json(origin),
        "at": told_at,
        "replaces": replaces,
    }
    db.stage(_STAGE, params)


_FIND = FreshSelect("""
select origin from gateway_referral
where organization_id = %s and gateway = %s and subject = any(%s)
order by subject desc
""")


def list_origins(*, organization_id: UUID, gateway: str, subjects: Sequence[str]) -> list[dict[str, Any]]:
    """Return the origins of these subjects, a subscription's before its customer's."""
    return [origin for (origin,) in db.run(_FIND, (organization_id, gateway, list(subjects)))]
