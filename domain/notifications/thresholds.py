"""The amount from which a sale is large.

A brand can set its own amount. The default is a round amount of its home currency in the order of 1,000 US dollars.
"""

from dataclasses import dataclass

from domain.money import currencies

_DEFAULT_MAJOR = 1_000
# Currencies whose unit is worth far less than a dollar: the default in major units.
_DEFAULTS_MAJOR = {
    10_000: "CZK DKK EGP HKD MAD MXN NIO NOK PHP SEK THB TRY TWD UAH UYU ZAR",
    100_000: "ALL AMD BDT DOP DZD HUF INR ISK JMD JPY KES LKR NPR PKR RSD RUB",
    1_000_000: "AOA ARS CDF CLP COP CRC KRW KZT MMK MNT MWK NGN RWF TZS XAF XOF YER",
    10_000_000: "GNF IDR KHR LAK LBP MGA PYG UGX UZS VND",
}
_DEFAULT_BY_CURRENCY = {code: major for major, codes in _DEFAULTS_MAJOR.items() for code in codes.split()}


@dataclass(frozen=True, slots=True)
class Threshold:
    """An amount in minor units of a currency."""

    cents: int
    currency: str


def find_threshold(*, home_currency: str, cents: int | None, currency: str | None) -> Threshold:
    """Return the amount from which a sale is large: the one that the brand set, else the default."""
    if cents is not None and currency is not None:
        return Threshold(cents, currency)
    major = _DEFAULT_BY_CURRENCY.get(home_currency, _DEFAULT_MAJOR)
    return Threshold(major * 10 ** currencies.exponent(home_currency), home_currency)
