"""What one step of the order says."""

from dataclasses import dataclass
from uuid import UUID

from domain.attribution.facts import NamedAffiliate


@dataclass(frozen=True, slots=True)
class Matched:
    """The step names an affiliate; `method` is the conversion's attribution method, null for a signed sale."""

    code: str
    affiliate: NamedAffiliate
    method: str | None


@dataclass(frozen=True, slots=True)
class Skipped:
    """The step names nobody, or comes too late; `affiliate_id` is whom it is about, where there is somebody."""

    code: str
    affiliate_id: UUID | None = None


Outcome = Matched | Skipped
