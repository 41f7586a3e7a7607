"""Forms of a page, filled in and sent as a browser without scripts sends them."""

import html
import re
from typing import Any

_INPUT = re.compile(r"<input\b([^>]*)>")
_BLOCK = re.compile(r"<(select|textarea)\b([^>]*)>(.*?)</\1>", re.DOTALL)
_OPTION = re.compile(r'<option value="([^"]*)"([^>]*)>')
_ATTRIBUTE = re.compile(r'([\w-]+)(?:="([^"]*)")?')


def submit(visitor: Any, page: str, button: str, **typed: Any) -> Any:
    """Open a page, fill in the form of a button and send it; return the page to which that leads.

    Every field in `typed` has to exist in the form; None leaves a tick out.
    """
    answer = visitor.open(page)
    assert answer.status_code == 200, (page, answer.status_code)
    form, pressed = _find_form(answer.text, button)
    action = re.search(r'<form[^>]*action="([^"]*)"', form)
    fields = _read_fields(form)
    missing = {name for name in typed if f'name="{name}"' not in form}
    assert not missing, (page, missing)
    body = {name: value for name, value in (fields | pressed | typed).items() if value is not None}
    result = visitor.send(html.unescape(action[1]) if action else page, body)
    assert result.status_code in (200, 303), (page, button, result.status_code, result.text)
    return visitor.open(result.headers["Location"]) if result.status_code == 303 else result


def _find_form(page: str, button: str) -> tuple[str, dict[str, str]]:
    """Return the first form with a button of this text, and the field that the button itself sends."""
    forms: list[str] = re.findall(r"<form\b.*?</form>", page, re.DOTALL)
    for form in forms:
        if match := re.search(rf"<button\b([^>]*)>(?:<[^>]*>)*{re.escape(button)}", form):
            attributes = _read_attributes(match[1])
            return form, {attributes["name"]: attributes.get("value", "")} if "name" in attributes else {}
    raise AssertionError((button, [re.findall(r"<button[^>]*>(.*?)</button>", form, re.DOTALL) for form in forms]))


def _read_fields(form: str) -> dict[str, str | None]:
    """Return the values with which a form appears, without buttons and ticks that are off."""
    fields: dict[str, str | None] = {}
    for tag in _INPUT.findall(form):
        attributes = _read_attributes(tag)
        if attributes.get("type") not in ("checkbox", "radio") or "checked" in attributes:
            fields[attributes["name"]] = attributes.get("value", "on")
    for kind, tag, content in _BLOCK.findall(form):
        fields[_read_attributes(tag)["name"]] = _find_chosen(content) if kind == "select" else html.unescape(content)
    return fields


def _read_attributes(tag: str) -> dict[str, str]:
    return {name: html.unescape(value) for name, value in _ATTRIBUTE.findall(tag)}


def _find_chosen(options: str) -> str:
    values = _OPTION.findall(options)
    chosen = [value for value, attributes in values if "selected" in attributes] or [value for value, _ in values]
    return html.unescape(chosen[0])
