"""All screens of the application, from its URL map, with a brand's ids in their URLs."""

import re
from collections.abc import Iterator, Mapping
from typing import Any
from uuid import uuid4

#: The word of `flask sign-in` for each kind of person, and their first page.
KINDS = {"member": ("owner", "/dashboard"), "account": ("affiliate", "/portal"), "operator": ("operator", "/console")}


def list_rules(app: Any, method: str) -> Iterator[tuple[str, str]]:
    """Yield the kind of person and the URL rule of every screen with this method."""
    for rule in app.url_map.iter_rules():
        kind = getattr(app.view_functions[rule.endpoint], "kind", None)
        if kind is not None and method in rule.methods and "<path:" not in rule.rule:
            yield kind, rule.rule


def build_address(rule: str, names: Mapping[str, str]) -> str:
    """Return the path of a rule. Raises KeyError for a parameter that has no value in `names`."""
    return re.sub(r"<(?:\w+:)?(\w+)>", lambda match: names[match[1]], rule)


def is_poll(url: str) -> bool:
    """Return whether a URL is the request with which a live part of a page polls for a newer version."""
    return "seen=" in url


def address_with_unknown_ids(rule: str) -> str:
    """Return the path of a rule with ids that no row has."""
    return re.sub(r"<(?:\w+:)?\w+>", lambda _: str(uuid4()), rule)
