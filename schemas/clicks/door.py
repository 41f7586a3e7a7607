"""What a buyer gives at a checkout door."""

from schemas.base import Email, Wire


class DoorBody(Wire):
    """The form of a door that asks for the email first."""

    email = Email(required=True)
