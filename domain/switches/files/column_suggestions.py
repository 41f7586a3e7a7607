"""Which column of a file probably holds which field: by the known exports, else by the usual names of columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, TypeVar

from domain.imports import known_exports, suggestions
from domain.imports.files import Kind
from domain.switches.files.file_fields import FIELDS, FIGURES, UNITS, WITHOUT_WORD, normalize_heading
from domain.switches.sources import Collection

_Heading = TypeVar("_Heading", str, str | tuple[str, ...])

#: The fields of an import under their names in a switch.
_RENAMED: Final[Mapping[Kind, Mapping[str, str]]] = MappingProxyType(
    {
        "Affiliates": {"slug": "token"},
        "Conversions": {
            "affiliateSlug": "token",
            "paid": "state",
            "processorCustomerId": "customerId",
            "processorSubscriptionId": "subscriptionId",
        },
    }
)
_KINDS: Final[Mapping[str, Kind]] = MappingProxyType(
    {Collection.Affiliates: "Affiliates", Collection.Commissions: "Conversions"}
)
_AFFILIATE_IDS: Final = ("affiliateid", "partnerid", "promoterid", "userid")
_AFFILIATE_EMAILS: Final = ("affiliateemail", "partneremail", "promoteremail")
_TOKENS: Final = ("token", "slug", "referralcode", "reftoken", "refid", "affiliatecode")
_CUSTOMER_IDS: Final = ("customerid", "stripecustomerid", "billingid")
#: Usual names of columns, letters and digits only, by fields that an import lacks.
_NAMES: Final[Mapping[str, Mapping[str, Sequence[str]]]] = MappingProxyType(
    {
        Collection.Affiliates: {
            "id": ("id", "affiliateid", "partnerid", "promoterid", "userid"),
            "group": ("group", "groupname", "affiliategroup", "tier"),
            "campaign": ("campaign", "campaignname", "program", "programname"),
        },
        Collection.Links: {
            "affiliateId": _AFFILIATE_IDS,
            "affiliateEmail": (*_AFFILIATE_EMAILS, "email"),
            "token": (*_TOKENS, "code", "username"),
            "parameter": ("parameter", "param"),
        },
        Collection.Codes: {
            "affiliateId": _AFFILIATE_IDS,
            "affiliateEmail": (*_AFFILIATE_EMAILS, "email"),
            "token": _TOKENS,
            "code": ("code", "couponcode", "coupon", "promocode", "discountcode", "promotioncode"),
        },
        Collection.Customers: {
            "id": ("id", "referralid", "leadid"),
            "affiliateId": _AFFILIATE_IDS,
            "affiliateEmail": _AFFILIATE_EMAILS,
            "token": _TOKENS,
            "customerId": _CUSTOMER_IDS,
            "subscriptionId": ("subscriptionid", "processorsubscriptionid"),
            "email": ("email", "customeremail", "leademail"),
            "name": ("name", "customername", "fullname"),
            "firstPaidAt": ("firstpaidat", "firstpaymentat", "firstsaleat", "becameconversionat", "customersince"),
            "payments": ("payments", "sales", "orders"),
        },
        Collection.Commissions: {
            "id": ("id", "commissionid", "conversionid", "transactionid", "transid", "actionid"),
            "affiliateId": _AFFILIATE_IDS,
            "orderId": ("orderid", "ordernumber", "reference", "externalid", "invoiceid", "saleid"),
            "refunded": ("refunded", "refundedamount", "refundamount"),
        },
        FIGURES: {
            "name": ("name", "figure"),
            "of": ("of", "affiliateemail", "email"),
            "currency": ("currency",),
            "cents": ("cents", "value", "amountcents"),
        },
    }
)


@dataclass(frozen=True, slots=True)
class ColumnSuggestion:
    """Columns by field, and the meaning of words by theirs in lower case; of a known export with its link parameter.

    `service` None: the columns were guessed, so that no words are suggested. With `has_id_links` an affiliate's id is a
    token of theirs too.
    """

    columns: Mapping[str, str]
    words: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    service: str | None = None
    parameter: str | None = None
    has_id_links: bool = False


def suggest_columns(collection: str, header: Sequence[str]) -> ColumnSuggestion:
    """Return which columns of a file of this collection probably hold which field."""
    kind = _KINDS.get(collection)
    export = known_exports.find_export(header)
    if export is None or kind != export.kind:
        return ColumnSuggestion(_guess(collection, header), parameter=export.parameter if export else None)
    columns = known_exports.find_columns({**_rename(kind, export.columns), **export.more_columns}, header)
    if export.is_partial:
        columns = _guess(collection, header, columns)
    columns = {name: heading for name, heading in columns.items() if name in FIELDS[collection]}
    return ColumnSuggestion(columns, export.words, export.service, export.parameter, export.has_id_links)


def choose_again(chosen: Mapping[str, str], suggested: Mapping[str, str], headings: Sequence[str]) -> dict[str, str]:
    """Return the columns of files whose header changed.

    A chosen column stays while one of the files has its heading; the other fields have the suggested one, unless that
    heading is already chosen for another field.
    """
    present = {normalize_heading(heading) for heading in headings}
    columns = {name: heading for name, heading in chosen.items() if normalize_heading(heading) in present}
    # A known export may use one column for two fields, such as an id that is the token as well.
    taken = {normalize_heading(heading) for name, heading in columns.items() if suggested.get(name) != heading}
    for name, heading in suggested.items():
        units = next((pair for pair in UNITS if name in pair), (name,))
        if normalize_heading(heading) not in taken and not columns.keys() & set(units):
            columns[name] = heading
    return columns


def suggest_word(collection: str, word: str) -> str | None:
    """Return the meaning that a usual word of affiliates or commissions probably has."""
    if not word:
        return WITHOUT_WORD[collection] if collection == Collection.Affiliates else None
    if collection == Collection.Commissions:
        return suggestions.guess_state(word)
    return suggestions.guess_word("Affiliates", word)


def _guess(collection: str, header: Sequence[str], known: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
    # A column that is there twice cannot be mapped.
    once = [name for name in header if name and [other.casefold() for other in header].count(name.casefold()) == 1]
    guessed = suggestions.guess(_NAMES[collection], once, known)
    kind = _KINDS.get(collection)
    if kind is not None:
        guessed = _rename(kind, suggestions.guess_columns(kind, once, guessed))
    return {name: heading for name, heading in guessed.items() if name in FIELDS[collection]}


def _rename(kind: Kind, columns: Mapping[str, _Heading]) -> dict[str, _Heading]:
    return {_RENAMED[kind].get(name, name): heading for name, heading in columns.items()}
