"""Reduces the addresses of one inbox to one text, for matching only.

Source: tracking spec, "Browser lead capture" (plus-addressed variants of one inbox are the same person). Never shown
and never mailed to; whether an address is valid is checked where it comes in.
"""

import unicodedata

_ENCODED = "xn--"
_GMAIL_DOMAINS = ("gmail.com", "googlemail.com")


def normalize(email: str) -> str:
    """Return the address that stands for its inbox: lower case, no plus tag, Gmail without dots, googlemail as gmail.

    A domain in another script is one however it is written, as itself or as name servers know it (xn--…). Text without
    an @ comes back stripped and in lower case. Never raises.
    Source: tracking spec, "Browser lead capture".
    """
    lowered = unicodedata.normalize("NFC", email.strip().lower())
    local, at, host = lowered.rpartition("@")
    if not at:
        return lowered
    # A mailbox whose name starts with the plus would otherwise lose all of it and match every other such one.
    inbox = local.split("+", 1)[0] or local
    if host in _GMAIL_DOMAINS:
        return f"{inbox.replace('.', '')}@gmail.com"
    return f"{inbox}@{_spelt_out(host) if _ENCODED in host else host}"


def _spelt_out(host: str) -> str:
    return ".".join(_label(label) for label in host.split("."))


def _label(label: str) -> str:
    if not label.startswith(_ENCODED):
        return label
    try:
        shown = label.removeprefix(_ENCODED).encode("ascii").decode("punycode").lower()
    except UnicodeError:
        return label
    return shown if shown and shown.isprintable() else label
