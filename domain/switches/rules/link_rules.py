"""What becomes of an old link's token (a slug here, or an old token beside one) and of its parameter.

Source: the switch-over rules, "How rows become records" (Links).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from domain import slugs
from domain.clicks import attribution_params
from domain.clicks.attribution_params import Params
from domain.imports import former_slugs
from domain.refusals import Refused

_MAX_TOKEN_CHARS = 190


def normalize_token(token: str) -> str | None:
    """Return a token as it is compared: trimmed and in lower case; None unless it has 1 to 190 characters.

    Control characters make it invalid: no address carries them.
    """
    lowered = token.strip().lower()
    if not 1 <= len(lowered) <= _MAX_TOKEN_CHARS or any(ord(character) < 32 for character in lowered):
        return None
    return lowered


def can_be_slug(token: str) -> bool:
    """Return whether a normalized token is valid as a slug here and not reserved."""
    return slugs.is_valid(token) and not slugs.is_reserved(token)


def fresh_slugs(*, token: str | None, name: str, email: str, seed: str) -> Iterator[str]:
    """Yield slugs for a person whose token cannot be one, the best first; `seed` identifies the organization.

    They depend on the arguments alone, so that a switch judged again chooses the same ones.
    """
    person = f"{seed}\0{email}"
    for text in (unquote(token) if token else "", name):
        if text:
            yield from former_slugs.list_replacements(text, seed=person)
    yield from former_slugs.list_replacements("", seed=person)


def is_foreign(url: str | None, own_hosts: frozenset[str]) -> bool:
    """Return whether a link's address lies on a host that is not the brand's: it ends with the old system.

    `own_hosts` are the hosts that the brand's programs lead to; their sub-domains are the brand's too, and a leading
    `www.` does not matter. Without any of them, or without an address, it is unknown and False.
    """
    if not url or not own_hosts:
        return False
    try:
        host = (urlsplit(url if "//" in url else f"//{url}").hostname or "").removeprefix("www.")
    except ValueError:
        return False
    return bool(host) and not any(host == own or host.endswith(f".{own}") for own in own_hosts)


def host_of(url: str | None) -> str | None:
    """Return the host of a program's destination without a leading `www.`; None without a valid one."""
    try:
        host = urlsplit(url or "").hostname
    except ValueError:
        return None
    return host.removeprefix("www.") if host else None


@dataclass(frozen=True, slots=True)
class ParameterPlan:
    """The organization's own parameters afterwards, those that are added, and those that are invalid or do not fit."""

    custom: str | None
    added: tuple[str, ...]
    not_added: tuple[str, ...]


def plan_parameters(custom: str | None, names: Sequence[str]) -> ParameterPlan:
    """Return what becomes of parameter names of old links; those that are effective already need nothing."""
    added, not_added = [], []
    for name in dict.fromkeys(name.strip().lower() for name in names if name.strip()):
        if name in Params(custom).effective_order:
            continue
        try:
            custom = attribution_params.normalize(f"{custom},{name}" if custom else name)
        except Refused:
            not_added.append(name)
        else:
            added.append(name)
    return ParameterPlan(custom, tuple(added), tuple(not_added))
