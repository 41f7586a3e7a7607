"""A list of ids loads like its single items, only faster."""

import pytest
from marshmallow import ValidationError, fields

from schemas.collection_fields import Items

_ID = "84ebe0f3-c4e1-4de7-829c-a24abb2ac5e8"
_FORMS = [_ID, _ID.upper(), _ID.replace("-", ""), f"{{{_ID}}}", f"urn:uuid:{_ID}", f"{{urn:uuid:{_ID}}}"]
_INVALID = [None, 7, 1.5, True, "", "x", _ID[:-1], f"{_ID}0", "g" * 36, [], {}, _ID.encode().hex() * 100, "é" * 36]


@pytest.mark.parametrize("form", _FORMS)
def test_id_in_any_form_is_loaded(form):
    field = Items(fields.UUID(), most=5)

    assert field.deserialize([form]) == [fields.UUID().deserialize(form)]
    assert field.deserialize_until_error([form], "ids", {}) == [fields.UUID().deserialize(form)]


def test_invalid_ids_have_the_errors_of_single_ids_at_their_positions():
    field = Items(fields.UUID(), most=100)
    errors_by_position = {}
    for position, item in enumerate([_ID, *_INVALID]):
        try:
            fields.UUID().deserialize(item)
        except ValidationError as error:
            errors_by_position[position] = error.messages

    with pytest.raises(ValidationError) as all_errors:
        field.deserialize([_ID, *_INVALID])
    with pytest.raises(ValidationError) as first_error:
        field.deserialize_until_error([_ID, *_INVALID], "ids", {})

    assert len(errors_by_position) == len(_INVALID)
    assert all_errors.value.messages == errors_by_position
    assert len(first_error.value.messages) == 1


def test_items_after_the_first_error_are_not_loaded():
    loaded = []

    class RecordingField(fields.Field):
        def _deserialize(self, value, attr, data, **_):
            loaded.append(value)
            raise ValidationError("wrong")

    with pytest.raises(ValidationError):
        Items(RecordingField(), most=1_000).deserialize_until_error(["x"] * 1_000, "items", {})

    assert len(loaded) == 1
