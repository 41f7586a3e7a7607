"""The reasons of a fraud event in words; the API gives them as codes."""

from collections.abc import Iterable, Mapping

_REASONS: Mapping[str, str] = {
    "banned_referrer": "blocked referrer",
    "bot_agent": "bot, or no user agent",
    "burst": "many clicks from one network",
    "daily_cap": "daily lead limit reached",
    "data_centre": "data centre or proxy address",
    "device_spread": "many links opened on one device",
    "disposable_domain": "disposable email address",
    "headless": "automated browser",
    "language_mismatch": "browser language does not fit the country",
    "lead_burst": "many leads from one network",
    "no_click": "no click on the affiliate's link before",
    "no_mx": "email domain cannot receive email",
    "paid_ads": "click on a paid ad",
    "rapid": "clicks faster than a person",
    "self_lead": "the affiliate's own email address",
}


def describe_reasons(codes: Iterable[str]) -> list[str]:
    """Return reasons in words; those of the operator's own scorer are named by their codes with spaces."""
    return [_REASONS.get(code, code.replace("_", " ")) for code in codes]
