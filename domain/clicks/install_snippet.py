"""The HTML that a brand puts on its pages to load our script.

Source: tracking spec, "Install snippet".
"""

from collections.abc import Mapping
from html import escape

SCRIPT_PATH = "/api/v1/r/loader.js"
PIXEL_PATH = "/api/v1/r/c.gif"


def host(*, tracking_domain: str | None, is_verified: bool, base_url: str) -> str:
    """Return the origin of the script: the brand's own tracking domain once it is verified, else `base_url`."""
    return f"https://{tracking_domain}" if tracking_domain and is_verified else base_url


def render(
    *,
    script_host: str,
    program_id: str,
    captures_emails: bool,
    custom_params: str | None,
    pixel_key: str | None,
) -> str:
    """Return the script tag and an image for browsers without scripts. `custom_params` is comma-separated and valid."""
    attributes: dict[str, str | None] = {
        "src": f"{script_host}{SCRIPT_PATH}",
        "data-program-id": program_id,
        "data-pixel-org": pixel_key,
        "data-email-capture": "auto" if captures_emails else None,
        "data-custom-params": custom_params,
    }
    image = {"src": f"{script_host}{PIXEL_PATH}?programId={program_id}", "width": "1", "height": "1", "alt": ""}
    return f"<script async {_to_html(attributes)}></script>\n<noscript><img {_to_html(image)}></noscript>"


def _to_html(attributes: Mapping[str, str | None]) -> str:
    return " ".join(f'{name}="{escape(value)}"' for name, value in attributes.items() if value is not None)
