"""The supported currencies and the number of decimals of each.

Source: core spec, section 2 "Supported currency allowlist", and tracking spec, section 7 (`unsupported_currency`,
ANG). Exponents are those of ISO 4217. The adapter of a payment provider handles that provider's own exponents.
"""

from collections.abc import Mapping
from decimal import Decimal
from types import MappingProxyType

# The allowlist of the core spec: it lists 137 codes, although its text says 136. The list counts.
_CODES = """
    AED AFN ALL AMD AOA ARS AUD AWG AZN
    BAM BBD BDT BHD BIF BMD BND BOB BRL BSD BWP BYN BZD
    CAD CDF CHF CLP CNY COP CRC CVE CZK
    DJF DKK DOP DZD
    EGP ETB EUR
    FJD FKP
    GBP GEL GIP GMD GNF GTQ GYD
    HKD HNL HTG HUF
    IDR ILS INR ISK
    JMD JOD JPY
    KES KGS KHR KMF KRW KWD KYD KZT
    LAK LBP LKR LRD LSL
    MAD MDL MGA MKD MMK MNT MOP MUR MVR MWK MXN MYR MZN
    NAD NGN NIO NOK NPR NZD
    OMR
    PAB PEN PGK PHP PKR PLN PYG
    QAR
    RON RSD RUB RWF
    SAR SBD SCR SEK SGD SHP SLE SOS SRD SZL
    THB TJS TND TOP TRY TTD TWD TZS
    UAH UGX USD UYU UZS
    VND VUV
    WST
    XAF XCD XCG XOF XPF
    YER
    ZAR ZMW
"""

_THREE_DECIMALS = frozenset({"BHD", "JOD", "KWD", "OMR", "TND"})

_ZERO_DECIMALS = frozenset(
    {"BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "VND", "VUV", "XAF", "XOF", "XPF"}
)

# The Caribbean guilder replaced the Antillean one at par in 2025; by the spec the old code is stored as the new one.
_REPLACED = MappingProxyType({"ANG": "XCG"})


def _iso_exponent(code: str) -> int:
    if code in _THREE_DECIMALS:
        return 3
    return 0 if code in _ZERO_DECIMALS else 2


#: Supported code (upper case) to its number of decimals: 0, 2 or 3.
EXPONENTS: Mapping[str, int] = MappingProxyType({code: _iso_exponent(code) for code in _CODES.split()})


def normalize(code: str) -> str | None:
    """Return the supported code that the text names, None for any other text.

    Surrounding white space and case don't matter; anything but three ASCII letters is unsupported; ANG is XCG. A blank
    text is None too: its default is up to the caller.
    Source: tracking spec, "Server-to-server sale body" and section 7 `unsupported_currency`.
    """
    stripped = code.strip()
    # ASCII first: upper() turns some other letters into ASCII ones.
    if len(stripped) != 3 or not stripped.isascii() or not stripped.isalpha():
        return None
    upper = stripped.upper()
    current = _REPLACED.get(upper, upper)
    return current if current in EXPONENTS else None


def exponent(code: str) -> int:
    """Return how many decimals a supported currency has.

    Takes the code as `normalize` returns it and raises ValueError for any other text.
    Source: core spec, section 2 "Conventions" (thousandths for KWD, whole units for JPY).
    """
    if code not in EXPONENTS:
        raise ValueError(f"unsupported currency: {code!r}")
    return EXPONENTS[code]


def to_major(cents: int, code: str) -> Decimal:
    """Return minor units of a supported currency in major units, exactly."""
    return Decimal(cents).scaleb(-exponent(code))
