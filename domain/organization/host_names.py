"""The host names that a brand can point at the service."""

import re

#: The longest name in the domain name system.
MAX_CHARS = 253

_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")


def is_host_name(text: str) -> bool:
    """Return whether the text is a host name of at least two labels: lower case ASCII, no scheme, port, path or IP.

    Names in other scripts come in their ASCII form (`xn--`), the only one with hyphens in third and fourth place.
    """
    labels = text.split(".")
    return (
        len(text) <= MAX_CHARS
        and len(labels) >= 2
        and all(_LABEL.fullmatch(label) for label in labels)
        and not any(label[2:4] == "--" and not label.startswith("xn--") for label in labels)
        and any(letter.isalpha() for letter in labels[-1])
        and not labels[-1].startswith("0x")  # the last part of an IP address, as browsers read it
    )


def is_within(host: str, domain: str) -> bool:
    """Return whether a host is this domain or a subdomain of it."""
    return host == domain or host.endswith(f".{domain}")
