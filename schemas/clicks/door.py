"""The form of a checkout door."""

from schemas.base import Email, Wire


class DoorBody(Wire):
    """The form of a checkout door that requires the buyer's email."""

    email = Email(required=True)
