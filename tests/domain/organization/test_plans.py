"""Features available by the tier, the subscription status and the trial of a plan."""

from datetime import UTC, datetime

import pytest

from domain.organization.plans import PlanRefused, SubscriptionStatus, Tier, check_gate

NOW = datetime(2026, 5, 10, 12, tzinfo=UTC)
TOMORROW = datetime(2026, 5, 11, 12, tzinfo=UTC)
YESTERDAY = datetime(2026, 5, 9, 12, tzinfo=UTC)


def check(
    required: str,
    *,
    tier: str,
    status: str = "Active",
    trial_ends_at: datetime | None = None,
    any_trial: bool = False,
) -> PlanRefused | None:
    return check_gate(
        required=Tier(required),
        plan_tier=Tier(tier),
        subscription_status=SubscriptionStatus(status),
        trial_ends_at=trial_ends_at,
        now=NOW,
        any_trial=any_trial,
    )


@pytest.mark.parametrize(
    ("required", "tier"),
    [
        ("Free", "Free"),
        ("Starter", "Starter"),
        ("Starter", "Growth"),
        ("Starter", "Pro"),
        ("Growth", "Growth"),
        ("Growth", "Pro"),
        ("Pro", "Pro"),
    ],
)
@pytest.mark.parametrize("status", ["Active", "PastDue"])
def test_tier_includes_its_own_and_lower_features(required: str, tier: str, status: str) -> None:
    assert check(required, tier=tier, status=status) is None


@pytest.mark.parametrize(
    ("required", "tier"),
    [("Starter", "Free"), ("Growth", "Free"), ("Growth", "Starter"), ("Pro", "Starter"), ("Pro", "Growth")],
)
@pytest.mark.parametrize("status", ["Active", "PastDue"])
def test_feature_above_the_tier_is_refused(required: str, tier: str, status: str) -> None:
    refusal = check(required, tier=tier, status=status)

    assert refusal == PlanRefused(required=Tier(required), current=Tier(tier), trialing=False)


def test_canceled_subscription_counts_as_free() -> None:
    refusal = check("Starter", tier="Pro", status="Canceled", trial_ends_at=TOMORROW)

    assert refusal == PlanRefused(required=Tier.Starter, current=Tier.Free, trialing=False)


def test_canceled_subscription_keeps_free_features() -> None:
    assert check("Free", tier="Pro", status="Canceled") is None


@pytest.mark.parametrize(("required", "tier"), [("Starter", "Starter"), ("Growth", "Growth"), ("Starter", "Pro")])
def test_trial_has_the_tier_chosen_at_signup(required: str, tier: str) -> None:
    assert check(required, tier=tier, status="Trialing", trial_ends_at=TOMORROW) is None


def test_starter_trial_does_not_unlock_growth() -> None:
    refusal = check("Growth", tier="Starter", status="Trialing", trial_ends_at=TOMORROW)

    assert refusal == PlanRefused(required=Tier.Growth, current=Tier.Starter, trialing=True)


@pytest.mark.parametrize("trial_ends_at", [YESTERDAY, NOW, None])
@pytest.mark.parametrize("any_trial", [False, True])
def test_expired_trial_counts_as_free(trial_ends_at: datetime | None, any_trial: bool) -> None:
    refusal = check("Starter", tier="Pro", status="Trialing", trial_ends_at=trial_ends_at, any_trial=any_trial)

    assert refusal == PlanRefused(required=Tier.Starter, current=Tier.Free, trialing=False)


def test_signed_endpoints_accept_a_running_trial_of_any_tier() -> None:
    assert check("Starter", tier="Free", status="Trialing", trial_ends_at=TOMORROW, any_trial=True) is None


def test_signed_endpoints_refuse_a_free_plan_without_a_trial() -> None:
    refusal = check("Starter", tier="Free", trial_ends_at=TOMORROW, any_trial=True)

    assert refusal == PlanRefused(required=Tier.Starter, current=Tier.Free, trialing=False)
