"""Why a sale is credited to whom it is: the six steps of the order, each with what it said."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: The steps of the order by their names in the API, in their order.
STEPS: Mapping[str, str] = {
    "coupon_override": "Coupon that overrides",
    "carried_referral": "Carried referral",
    "customer_history": "Customer's history",
    "coupon": "Coupon",
    "email_match": "Email match",
    "platform_lookup": "Platform look-up",
}
_EARLIER = "decided_earlier"
_NOT_ASKED = "Not asked: no payment made this."
# The one step that decided is alone in saying so.
_SETTLED = "Not asked: an earlier step had settled it."


@dataclass(frozen=True, slots=True)
class CreditStep:
    """A step in words. `state` is decided, earlier (an earlier one had decided), or nothing."""

    name: str
    detail: str
    state: str = ""
    affiliate_id: str | None = None


def steps(said: Sequence[Mapping[str, Any]]) -> list[CreditStep]:
    """Return all six steps; those that were not asked, because no payment made the conversion, say so."""
    found = {step["step"]: step for step in said}
    return [_step(name, found.get(key)) for key, name in STEPS.items()]


def beside(said: Sequence[Mapping[str, Any]]) -> str | None:
    """Return why it is credited where no step of the order decided: it was recorded, imported, counted; else None."""
    return next((str(step["detail"]) for step in said if step["step"] not in STEPS), None)


def _step(name: str, said: Mapping[str, Any] | None) -> CreditStep:
    if said is None:
        return CreditStep(name, _NOT_ASKED)
    if said["code"] == _EARLIER:
        return CreditStep(name, _SETTLED, "earlier", said["affiliateId"])
    return CreditStep(name, said["detail"], "decided" if said["outcome"] == "matched" else "", said["affiliateId"])
