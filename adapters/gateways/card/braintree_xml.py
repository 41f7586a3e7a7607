"""Braintree's XML: elements with a type become values as of JSON; a document with declarations is refused.

Entities can only be declared in a document type, so that nothing grows or is fetched while it is read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import escape

_DEEPEST = 64


@dataclass(slots=True)
class _Element:
    name: str
    attributes: Mapping[str, str]
    children: list[tuple[str, Any]] = field(default_factory=list)
    written: list[str] = field(default_factory=list)

    def value(self) -> Any:
        """Return None, a list, an object, true or false, or a text."""
        kind = self.attributes.get("type")
        if self.attributes.get("nil") == "true":
            return None
        if kind == "array":
            return [value for _, value in self.children]
        if kind == "collection":
            return {"items": [value for _, value in self.children if isinstance(value, dict)]}
        if self.children:
            return dict(reversed(self.children))  # the first of equal names counts
        text = "".join(self.written).strip()
        return text == "true" if kind == "boolean" else text


def parse(content: bytes) -> dict[str, Any]:
    """Return a document as its root's name and value; dashes in names are underscores.

    Integers and times stay texts, a collection is its `items`. Raises ValueError, also for a document type and for
    elements that are nested too deep.
    """
    open_now = [_Element("", {})]

    def start(name: str, attributes: dict[str, str]) -> None:
        if len(open_now) > _DEEPEST:
            raise ValueError("the elements are nested too deep")
        open_now.append(_Element(name.replace("-", "_"), attributes))

    def end(name: str) -> None:
        element = open_now.pop()
        open_now[-1].children.append((element.name, element.value()))

    def refuse_declaration(*text: object) -> None:
        raise ValueError("a document type is declared")

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = lambda text: open_now[-1].written.append(text)
    parser.StartDoctypeDeclHandler = refuse_declaration
    try:
        parser.Parse(content, True)
    except (expat.ExpatError, LookupError) as error:  # the latter for an unknown character set
        raise ValueError("this is not XML") from error
    return dict(open_now[0].children)


def search(since_name: str, since: str, ids: Sequence[str] | None = None) -> bytes:
    """Return the question for transactions since a time (ISO 8601, UTC) at which something happened, or for some."""
    items = "".join(f"<item>{escape(transaction_id)}</item>" for transaction_id in ids or ())
    chosen = "" if ids is None else f'<ids type="array">{items}</ids>'
    since_then = f'<{since_name}><min type="datetime">{escape(since)}</min></{since_name}>'
    return f'<?xml version="1.0" encoding="UTF-8"?><search>{since_then}{chosen}</search>'.encode()
