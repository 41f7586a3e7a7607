"""What of an organization's settings the fraud rules ask for."""

from dataclasses import dataclass
from uuid import UUID

from models.db import db
from models.prepared_statements import Lookup


@dataclass(frozen=True, slots=True)
class FraudSettings:
    """How strict the organization is, which hosts it wants no visits from, and its own risk from 0 to 100.

    `strictness` is a `domain.fraud.Strictness`; `lead_preview` says whether browsers may send it paid leads.
    """

    strictness: str
    banned_referrers: frozenset[str]
    fraud_score: int
    lead_preview: bool


_OF = Lookup("select fraud_strictness, banned_referrers, fraud_score, lead_preview from organization where id = %s")


def of(organization_id: UUID) -> FraudSettings:
    """Return the settings of the organization of this unit of work, in one round trip."""
    row = db.row(_OF, (organization_id,))
    assert row is not None  # it is the caller's
    strictness, banned, score, lead_preview = row
    return FraudSettings(strictness, frozenset(banned), score, lead_preview)
