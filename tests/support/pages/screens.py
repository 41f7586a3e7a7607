"""Which screens there are, as the application itself knows them; with a brand's ids in their addresses."""

import re
from collections.abc import Iterator, Mapping
from typing import Any
from uuid import uuid4

#: What a person of each kind is called by `flask sign-in`, and where they begin.
KINDS = {"member": ("owner", "/dashboard"), "account": ("affiliate", "/portal"), "operator": ("operator", "/console")}


def list_rules(app: Any, method: str) -> Iterator[tuple[str, str]]:
    """Yield the kind of person and the rule of every screen that answers this method."""
    for rule in app.url_map.iter_rules():
        kind = getattr(app.view_functions[rule.endpoint], "kind", None)
        if kind is not None and method in rule.methods and "<path:" not in rule.rule:
            yield kind, rule.rule


def build_address(rule: str, names: Mapping[str, str]) -> str:
    """Return the address of a rule. Raises KeyError for a name that nothing is known to stand for."""
    return re.sub(r"<(?:\w+:)?(\w+)>", lambda found: names[found[1]], rule)


def is_poll(url: str) -> bool:
    """Return whether a live part of a page asks for itself again there, by the version that it shows."""
    return "seen=" in url


def address_with_unknown_ids(rule: str) -> str:
    """Return an address of a rule with ids that nobody has."""
    return re.sub(r"<(?:\w+:)?\w+>", lambda _: str(uuid4()), rule)
