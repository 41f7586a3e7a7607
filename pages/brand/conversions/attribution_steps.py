"""The attribution of a sale in words: the six steps in their order, each with its result."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: Labels of the steps by their names in the API, in their order.
STEPS: Mapping[str, str] = {
    "coupon_override": "Coupon that overrides",
    "carried_referral": "Carried referral",
    "customer_history": "Customer's history",
    "coupon": "Coupon",
    "email_match": "Email match",
    "platform_lookup": "Platform look-up",
}
_DECIDED_EARLIER = "decided_earlier"
_NOT_EVALUATED = "Not checked: this was not a payment."
# Only the deciding step is marked as decided.
_SKIPPED = "Not checked: an earlier step matched."


@dataclass(frozen=True, slots=True)
class CreditStep:
    """A step in words. `state` is decided, earlier (an earlier one had decided), or empty."""

    name: str
    detail: str
    state: str = ""
    affiliate_id: str | None = None


def describe_steps(attribution: Sequence[Mapping[str, Any]]) -> list[CreditStep]:
    """Return all six steps; a step that was not evaluated, because there was no payment, says so."""
    entries = {step["step"]: step for step in attribution}
    return [_describe_step(name, entries.get(key)) for key, name in STEPS.items()]


def describe_other_source(attribution: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the source of a conversion that no step decided: recorded, imported, counted; None for others."""
    return next((str(step["detail"]) for step in attribution if step["step"] not in STEPS), None)


def _describe_step(name: str, entry: Mapping[str, Any] | None) -> CreditStep:
    if entry is None:
        return CreditStep(name, _NOT_EVALUATED)
    if entry["code"] == _DECIDED_EARLIER:
        return CreditStep(name, _SKIPPED, "earlier", entry["affiliateId"])
    return CreditStep(name, entry["detail"], "decided" if entry["outcome"] == "matched" else "", entry["affiliateId"])
