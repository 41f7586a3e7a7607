"""The model behind the dashboard's co-pilot."""

from dataclasses import dataclass

from settings.parsers import api_url, text, whole_number
from settings.table import BadSetting, Concern, setting


@dataclass(frozen=True, slots=True)
class Copilot(Concern):
    """The model endpoint, and how much an organization may use it a day. Without a URL there is no co-pilot."""

    url: str | None = setting(
        "COPILOT_URL",
        api_url("https://models.example.com/v1"),
        None,
        "the base of a model endpoint of yours: questions go to `/chat/completions` below it, with the results of the"
        " tools (docs/copilot.md); https, or http on this machine; without it there is no co-pilot",
    )
    key: str | None = setting("COPILOT_KEY", text, None, "the bearer token for the endpoint", is_secret=True)
    model: str | None = setting("COPILOT_MODEL", text, None, "the model to use")
    timeout_s: int = setting(
        "COPILOT_TIMEOUT_S", whole_number(5, 120), 60, "how long one response of the endpoint may take, in seconds"
    )
    daily_tokens: int = setting(
        "COPILOT_DAILY_TOKENS",
        whole_number(1),
        1_000_000,
        "tokens per organization and day (UTC), as the endpoint counts them or by their length",
    )
    daily_requests: int = setting(
        "COPILOT_DAILY_REQUESTS", whole_number(1), 400, "requests to the endpoint per organization and day (UTC)"
    )

    def check(self) -> None:
        """Raise BadSetting for an endpoint without a model, and for a model without an endpoint."""
        if (self.url is None) != (self.model is None):
            given, missing = ("COPILOT_URL", "COPILOT_MODEL") if self.url else ("COPILOT_MODEL", "COPILOT_URL")
            raise BadSetting(f"{given} is set without {missing}; set both, or none")
