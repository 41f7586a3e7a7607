"""A list of ids loads as its items do one by one, though it is read faster."""

import pytest
from marshmallow import ValidationError, fields

from schemas.collection_fields import Items

_ID = "84ebe0f3-c4e1-4de7-829c-a24abb2ac5e8"
_FORMS = [_ID, _ID.upper(), _ID.replace("-", ""), f"{{{_ID}}}", f"urn:uuid:{_ID}", f"{{urn:uuid:{_ID}}}"]
_WRONG = [None, 7, 1.5, True, "", "x", _ID[:-1], f"{_ID}0", "g" * 36, [], {}, _ID.encode().hex() * 100, "é" * 36]


@pytest.mark.parametrize("form", _FORMS)
def test_every_form_of_an_id_is_loaded(form):
    field = Items(fields.UUID(), most=5)

    assert field.deserialize([form]) == [fields.UUID().deserialize(form)]
    assert field.deserialize_until_error([form], "ids", {}) == [fields.UUID().deserialize(form)]


def test_wrong_ids_have_the_errors_of_single_ones_at_their_places():
    field = Items(fields.UUID(), most=100)
    single = {}
    for place, item in enumerate([_ID, *_WRONG]):
        try:
            fields.UUID().deserialize(item)
        except ValidationError as error:
            single[place] = error.messages

    with pytest.raises(ValidationError) as all_errors:
        field.deserialize([_ID, *_WRONG])
    with pytest.raises(ValidationError) as first_error:
        field.deserialize_until_error([_ID, *_WRONG], "ids", {})

    assert len(single) == len(_WRONG)
    assert all_errors.value.messages == single
    assert len(first_error.value.messages) == 1


def test_reading_until_an_error_costs_nothing_for_the_items_behind_it():
    loaded = []

    class Recording(fields.Field):
        def _deserialize(self, value, attr, data, **_):
            loaded.append(value)
            raise ValidationError("wrong")

    with pytest.raises(ValidationError):
        Items(Recording(), most=1_000).deserialize_until_error(["x"] * 1_000, "items", {})

    assert len(loaded) == 1
