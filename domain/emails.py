"""One normalized text for all addresses of one inbox, for matching only.

Source: tracking spec, "Browser lead capture" (plus-addressed variants of one inbox are the same person). It is never
displayed or mailed to; addresses are validated at the edge.
"""

import unicodedata

_ENCODED = "xn--"
_GMAIL_DOMAINS = ("gmail.com", "googlemail.com")


def normalize(email: str) -> str:
    """Return the normalized address of an inbox: lower case, no plus tag, Gmail without dots, googlemail as gmail.

    A domain in another script is the same in Unicode and in Punycode (xn--…). Text without an @ is returned stripped
    and in lower case. Never raises.
    Source: tracking spec, "Browser lead capture".
    """
    lowered = unicodedata.normalize("NFC", email.strip().lower())
    local, at, host = lowered.rpartition("@")
    if not at:
        return lowered
    # A mailbox whose name starts with the plus would otherwise become empty and match every other such mailbox.
    inbox = local.split("+", 1)[0] or local
    if host in _GMAIL_DOMAINS:
        return f"{inbox.replace('.', '')}@gmail.com"
    return f"{inbox}@{_decode_host(host) if _ENCODED in host else host}"


def _decode_host(host: str) -> str:
    return ".".join(_decode_label(label) for label in host.split("."))


def _decode_label(label: str) -> str:
    if not label.startswith(_ENCODED):
        return label
    try:
        decoded = label.removeprefix(_ENCODED).encode("ascii").decode("punycode").lower()
    except UnicodeError:
        return label
    return decoded if decoded and decoded.isprintable() else label
