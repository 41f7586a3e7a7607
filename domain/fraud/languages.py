"""The languages that a browser requests, compared with those spoken in the country of its address.

English is requested everywhere. A country that is not in the table matches every language.
"""

from collections.abc import Sequence

_SPOKEN = {
    "AE": "ar hi ur",
    "AR": "es",
    "AT": "de",
    "BE": "nl fr de",
    "BG": "bg",
    "BR": "pt",
    "CA": "en fr",
    "CH": "de fr it rm",
    "CL": "es",
    "CN": "zh",
    "CO": "es",
    "CZ": "cs sk",
    "DE": "de",
    "DK": "da",
    "EG": "ar",
    "ES": "es ca eu gl",
    "FI": "fi sv",
    "FR": "fr",
    "GR": "el",
    "HK": "zh",
    "HR": "hr",
    "HU": "hu",
    "ID": "id jv",
    "IL": "he ar ru",
    "IN": "hi bn ta te mr gu kn ml pa ur",
    "IT": "it de",
    "JP": "ja",
    "KR": "ko",
    "MX": "es",
    "MY": "ms zh ta",
    "NL": "nl fy",
    "NO": "no nb nn",
    "PE": "es",
    "PH": "fil tl",
    "PK": "ur",
    "PL": "pl",
    "PT": "pt",
    "RO": "ro hu",
    "RS": "sr hr",
    "RU": "ru",
    "SA": "ar",
    "SE": "sv",
    "SG": "zh ms ta",
    "SK": "sk cs hu",
    "TH": "th",
    "TR": "tr ku",
    "TW": "zh",
    "UA": "uk ru",
    "US": "en es",
    "VN": "vi",
}


def are_foreign(tags: Sequence[str], country: str | None) -> bool:
    """Return whether none of the requested language tags is spoken in a country or names it."""
    code = country or ""
    spoken = _SPOKEN.get(code.upper())
    if spoken is None or not tags:
        return False
    parts = [tag.lower().split("-") for tag in tags]
    languages = {language for language, *_ in parts}
    return languages.isdisjoint({"en", *spoken.split()}) and not any(code.lower() in rest for _, *rest in parts)
