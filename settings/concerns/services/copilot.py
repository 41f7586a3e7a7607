"""The model that answers at the dashboard's co-pilot."""

from dataclasses import dataclass

from settings.parsers import api_url, text, whole
from settings.table import BadSetting, Concern, setting


@dataclass(frozen=True, slots=True)
class Copilot(Concern):
    """Where the model is, and how much of it an organization may use in a day. Without a URL there is no co-pilot."""

    url: str | None = setting(
        "COPILOT_URL",
        api_url("https://models.example.com/v1"),
        None,
        "the base of a model endpoint of yours: questions go to `/chat/completions` below it, with what the tools find"
        " (docs/copilot.md); https, or http on this machine; without it there is no co-pilot",
    )
    key: str | None = setting("COPILOT_KEY", text, None, "the bearer that the endpoint is asked with", is_secret=True)
    model: str | None = setting("COPILOT_MODEL", text, None, "which of its models is asked")
    timeout_s: int = setting(
        "COPILOT_TIMEOUT_S", whole(5, 120), 60, "how long one answer of the endpoint may take, in seconds"
    )
    daily_tokens: int = setting(
        "COPILOT_DAILY_TOKENS",
        whole(1),
        1_000_000,
        "tokens per organization and day (UTC), as the endpoint counts them or by their length",
    )
    daily_requests: int = setting(
        "COPILOT_DAILY_REQUESTS", whole(1), 400, "requests to the endpoint per organization and day (UTC)"
    )

    def check(self) -> None:
        """Refuse an endpoint without a model, and what is said of an endpoint that is not there."""
        if (self.url is None) != (self.model is None):
            one, other = ("COPILOT_URL", "COPILOT_MODEL") if self.url else ("COPILOT_MODEL", "COPILOT_URL")
            raise BadSetting(f"{one} is set without {other}; set both, or none")
