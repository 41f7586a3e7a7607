"""A fake ActiveCampaign: contacts, the values of their numbered fields, and the names of the fields."""

from typing import Any

from adapters.platforms.activecampaign import PLATFORM
from tests.support.gateways.stage import ApiCall
from tests.support.platforms.stage import PlatformStage

KEY = "ac_fake"


class ActiveCampaignStage(PlatformStage):
    """A fake ActiveCampaign that numbers fields in the order of their first use."""

    platform = PLATFORM
    credentials = {"apiUrl": "https://ada.api-us1.example", "apiKey": KEY}
    unsupported = frozenset({"tags", "page", "marks"})

    def __init__(self, port: int = 0) -> None:
        super().__init__(port)
        self.numbers: dict[str, str] = {}

    def is_authorized(self, call: ApiCall) -> bool:
        return call.headers.get("Api-Token") == KEY

    def is_lookup(self, call: ApiCall) -> bool:
        return call.path == "/api/3/contacts"

    def answer(self, call: ApiCall) -> tuple[int, Any]:
        people = list(self.people.values())
        match call.path.removeprefix("/api/3/").split("/"):
            case ["users", "me"]:
                return 200, {"user": {"username": "ada"}}
            case ["contacts"]:
                email = call.params["email"][0].lower()
                matches = [
                    {"id": str(place), "email": person.email, "deleted": "0"}
                    for place, person in enumerate(people)
                    if person.email.lower() == email
                ]
                return 200, {"contacts": matches, "meta": {"total": str(len(matches))}}
            case ["contacts", number, "fieldValues"]:
                stored = people[int(number)].fields.items()
                return 200, {"fieldValues": [{"field": self._number(name), "value": value} for name, value in stored]}
            case ["fields"]:
                fields = [{"id": number, "perstag": name.upper()} for name, number in self.numbers.items()]
                return 200, {"fields": fields}
        return 404, {"message": "No Result found"}

    def _number(self, name: str) -> str:
        return self.numbers.setdefault(name, str(len(self.numbers) + 1))
