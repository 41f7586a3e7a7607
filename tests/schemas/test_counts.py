"""Every list and free-form object in a request has a maximum size, checked before its items are loaded."""

import copy

import pytest
from marshmallow import ValidationError, fields

from domain.refusals import Refused
from schemas.collection_fields import Entries, Items


@pytest.fixture(scope="module")
def request_schemas(app):
    """Return the request schemas by class."""
    operations = (getattr(view, "operation", None) for view in app.view_functions.values())
    return {type(operation.takes): operation.takes for operation in operations if operation and operation.takes}


def _fields(schema, path=""):
    for name, field in schema.load_fields.items():
        yield from _nested_fields(field, f"{path}.{field.data_key or name}")


def _nested_fields(field, path):
    yield path, field
    if isinstance(field, fields.Nested):
        yield from _fields(field.schema, path)
    elif isinstance(field, fields.List):
        yield from _nested_fields(field.inner, f"{path}[]")
    elif isinstance(field, fields.Dict) and field.value_field is not None:
        yield from _nested_fields(field.value_field, f"{path}{{}}")


def test_every_list_and_free_form_object_has_a_maximum(request_schemas):
    uncounted = [
        f"{schema.__name__}{path}"
        for schema, schema_instance in request_schemas.items()
        for path, field in _fields(schema_instance)
        if (isinstance(field, fields.List) and not isinstance(field, Items))
        or (isinstance(field, fields.Dict) and not isinstance(field, Entries))
        or (isinstance(field, fields.Nested) and (field.many or field.schema.many))
    ]

    assert uncounted == [], "use Items and Entries of schemas/collection_fields.py"


def test_list_above_the_maximum_is_refused_before_loading_an_item(request_schemas):
    counted = [
        (f"{schema.__name__}{path}", field)
        for schema, schema_instance in request_schemas.items()
        for path, field in _fields(schema_instance)
        if isinstance(field, Items | Entries)
    ]

    assert len(counted) > 20
    for name, field in counted:
        field_copy, loaded = copy.copy(field), []
        if isinstance(field, Items):
            field_copy.inner = _RecordingField(loaded)
            make = lambda count: ["x"] * count  # noqa: E731
        else:
            field_copy.key_field, field_copy.value_field = None, _RecordingField(loaded)
            make = lambda count: {f"k{number}": "x" for number in range(count)}  # noqa: E731
        with pytest.raises((ValidationError, Refused)):
            field_copy.deserialize(make(field.most + 1))
        assert loaded == [], name
        field_copy.deserialize(make(field.most))
        assert len(loaded) == field.most, name


class _RecordingField(fields.Field):
    """A field that records the values it loads."""

    def __init__(self, loaded):
        super().__init__()
        self._loaded = loaded

    def _deserialize(self, value, attr, data, **_):
        self._loaded.append(value)
        return value


def test_every_list_and_free_form_object_is_documented_with_its_maximum(app):
    document = app.test_client().get("/api/openapi.json").json
    components, unbounded, lists = document["components"]["schemas"], [], 0
    pending = [
        content["schema"]
        for methods in document["paths"].values()
        for operation in methods.values()
        for content in operation.get("requestBody", {}).get("content", {}).values()
    ]
    seen = set()
    while pending:
        part = pending.pop()
        if "$ref" in part:
            name = part["$ref"].rpartition("/")[2]
            if name not in seen:
                seen.add(name)
                pending.append(components[name])
            continue
        kinds = part.get("type", ())
        lists += "array" in kinds
        if ("array" in kinds and "maxItems" not in part) or (
            "additionalProperties" in part and "object" in kinds and "maxProperties" not in part
        ):
            unbounded.append(part)
        pending += [*part.get("properties", {}).values(), *part.get("anyOf", ())]
        pending += [part[name] for name in ("items", "additionalProperties") if isinstance(part.get(name), dict)]

    assert lists > 20
    assert unbounded == []
