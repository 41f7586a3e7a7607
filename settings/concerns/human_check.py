"""The service that verifies that a lead is a person."""

from dataclasses import dataclass

from settings.parsers import http_url, text
from settings.table import BadSetting, Concern, setting

#: The URL that stands for tokens which this service signs itself.
LOCAL = "local"


def _service(raw: str) -> str:
    return raw if raw == LOCAL else http_url(raw)


@dataclass(frozen=True, slots=True)
class HumanCheck(Concern):
    """Verification that a lead is a person."""

    url: str | None = setting(
        "HUMAN_CHECK_URL",
        _service,
        None,
        "a service that speaks `siteverify`; or `local` for tokens of `flask token human` and of the hosted form, which"
        " stop only simple robots and are the default without `DATABASE_URL`. Without any, paid leads get a 503",
    )
    secret: str | None = setting("HUMAN_CHECK_SECRET", text, None, "your secret at the service", is_secret=True)
    script_url: str | None = setting(
        "HUMAN_CHECK_SCRIPT_URL",
        http_url,
        None,
        "the service's script, for the hosted lead form; all that it loads must come from its own host",
    )
    site_key: str | None = setting("HUMAN_CHECK_SITE_KEY", text, None, "your site key there, for the hosted lead form")

    def check(self) -> None:
        """Raise BadSetting for a service without its secret, and for a script without its service."""
        is_service = self.url not in (None, LOCAL)
        if is_service != (self.secret is not None):
            raise BadSetting("HUMAN_CHECK_URL of a service and HUMAN_CHECK_SECRET go together; set both, or neither")
        has_site_key = self.site_key is not None
        if has_site_key != (self.script_url is not None) or (has_site_key and not is_service):
            raise BadSetting(
                "HUMAN_CHECK_SITE_KEY and HUMAN_CHECK_SCRIPT_URL go together, and need HUMAN_CHECK_URL of their service"
            )
