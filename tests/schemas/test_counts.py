"""Every list and every object of free keys that a request may hold has a maximum, looked at before its items are."""

import copy

import pytest
from marshmallow import ValidationError, fields

from domain.refusals import Refused
from schemas.collection_fields import Entries, Items


@pytest.fixture(scope="module")
def request_schemas(app):
    """Return the schemas that requests are read with."""
    operations = (getattr(view, "operation", None) for view in app.view_functions.values())
    return {type(operation.takes): operation.takes for operation in operations if operation and operation.takes}


def _fields(schema, path=""):
    for name, field in schema.load_fields.items():
        yield from _inside(field, f"{path}.{field.data_key or name}")


def _inside(field, path):
    yield path, field
    if isinstance(field, fields.Nested):
        yield from _fields(field.schema, path)
    elif isinstance(field, fields.List):
        yield from _inside(field.inner, f"{path}[]")
    elif isinstance(field, fields.Dict) and field.value_field is not None:
        yield from _inside(field.value_field, f"{path}{{}}")


def test_every_list_and_free_object_counts_first(request_schemas):
    uncounted = [
        f"{schema.__name__}{path}"
        for schema, takes in request_schemas.items()
        for path, field in _fields(takes)
        if (isinstance(field, fields.List) and not isinstance(field, Items))
        or (isinstance(field, fields.Dict) and not isinstance(field, Entries))
        or (isinstance(field, fields.Nested) and (field.many or field.schema.many))
    ]

    assert uncounted == [], "use Items and Entries of schemas/collection_fields.py"


def test_one_item_more_than_the_maximum_is_refused_and_no_item_loaded(request_schemas):
    counted = [
        (f"{schema.__name__}{path}", field)
        for schema, takes in request_schemas.items()
        for path, field in _fields(takes)
        if isinstance(field, Items | Entries)
    ]

    assert len(counted) > 20
    for name, field in counted:
        alone, loaded = copy.copy(field), []
        if isinstance(field, Items):
            alone.inner = _Recording(loaded)
            make = lambda count: ["x"] * count  # noqa: E731
        else:
            alone.key_field, alone.value_field = None, _Recording(loaded)
            make = lambda count: {f"k{number}": "x" for number in range(count)}  # noqa: E731
        with pytest.raises((ValidationError, Refused)):
            alone.deserialize(make(field.most + 1))
        assert loaded == [], name
        alone.deserialize(make(field.most))
        assert len(loaded) == field.most, name


class _Recording(fields.Field):
    """A field that notes what it loads."""

    def __init__(self, loaded):
        super().__init__()
        self._loaded = loaded

    def _deserialize(self, value, attr, data, **_):
        self._loaded.append(value)
        return value


def test_every_list_and_free_object_of_a_request_is_described_with_its_maximum(app):
    document = app.test_client().get("/api/openapi.json").json
    components, unbounded, lists = document["components"]["schemas"], [], 0
    waiting = [
        content["schema"]
        for methods in document["paths"].values()
        for operation in methods.values()
        for content in operation.get("requestBody", {}).get("content", {}).values()
    ]
    seen = set()
    while waiting:
        part = waiting.pop()
        if "$ref" in part:
            name = part["$ref"].rpartition("/")[2]
            if name not in seen:
                seen.add(name)
                waiting.append(components[name])
            continue
        kinds = part.get("type", ())
        lists += "array" in kinds
        if ("array" in kinds and "maxItems" not in part) or (
            "additionalProperties" in part and "object" in kinds and "maxProperties" not in part
        ):
            unbounded.append(part)
        waiting += [*part.get("properties", {}).values(), *part.get("anyOf", ())]
        waiting += [part[name] for name in ("items", "additionalProperties") if isinstance(part.get(name), dict)]

    assert lists > 20
    assert unbounded == []
