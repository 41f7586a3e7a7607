"""The HTML that a brand puts on its pages to load our script.

Source: tracking spec, "Install snippet".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

SCRIPT_PATH = "/api/v1/r/loader.js"
PIXEL_PATH = "/api/v1/r/c.gif"


def host(*, tracking_domain: str | None, is_verified: bool, base_url: str) -> str:
    """Return the origin of the script: the brand's own tracking domain once it is verified, else `base_url`."""
    return f"https://{tracking_domain}" if tracking_domain and is_verified else base_url


@dataclass(frozen=True, slots=True)
class TagOptions:
    """The options of a tag.

    `with_pixel`: it carries the organization's pixel key. `captures_emails`: emails that referred visitors type become
    leads. `requires_consent`: nothing is stored or sent before the page reports the visitor's consent. `respects_gpc`:
    a browser that sends Global Privacy Control counts as no consent.
    """

    with_pixel: bool = False
    captures_emails: bool = True
    requires_consent: bool = False
    respects_gpc: bool = False


def build_attributes(
    options: TagOptions, *, script_host: str, program_id: str, custom_params: str | None, pixel_key: str | None
) -> dict[str, str]:
    """Return the attributes of the script, in their order. `custom_params` is comma-separated and valid."""
    attributes = {
        "src": f"{script_host}{SCRIPT_PATH}",
        "data-program-id": program_id,
        "data-pixel-org": pixel_key if options.with_pixel else None,
        "data-email-capture": "auto" if options.captures_emails else None,
        "data-custom-params": custom_params,
        "data-consent": "required" if options.requires_consent else None,
        "data-respect": "gpc" if options.respects_gpc else None,
    }
    return {name: value for name, value in attributes.items() if value is not None}


def render(attributes: Mapping[str, str], *, script_host: str) -> str:
    """Return the script tag and, unless visitors must consent first, an image for browsers without scripts.

    A browser without scripts cannot report a consent.
    """
    script = f"<script async {_to_html(attributes)}></script>"
    if "data-consent" in attributes or "data-respect" in attributes:
        return script
    address = f"{script_host}{PIXEL_PATH}?programId={attributes['data-program-id']}"
    image = {"src": address, "width": "1", "height": "1", "alt": ""}
    return f"{script}\n<noscript><img {_to_html(image)}></noscript>"


def _to_html(attributes: Mapping[str, str]) -> str:
    return " ".join(f'{name}="{escape(value)}"' for name, value in attributes.items())
