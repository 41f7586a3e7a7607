"""The browser asks for no language that is spoken where the visit comes from.

English is asked for everywhere, and of a country that is not in the table nothing is said. Where a visit comes from is
told by the operator's file of networks; without one this rule holds for nobody.
"""

from domain.fraud.facts import ClickFacts
from domain.fraud.rule import Rule

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


def _holds(click: ClickFacts) -> bool:
    spoken = _SPOKEN.get((click.country or "").upper())
    if spoken is None or not click.languages:
        return False
    asked = {tag.lower().split("-")[0] for tag in click.languages}
    return asked.isdisjoint({"en", *spoken.split()}) and not _names_country(click)


def _names_country(click: ClickFacts) -> bool:
    country = (click.country or "").lower()
    return any(country in tag.lower().split("-")[1:] for tag in click.languages)


RULE = Rule("language_mismatch", 10, _holds)
