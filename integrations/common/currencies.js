'use strict';

/**
 * The currencies that the API accepts and their number of decimals: two, unless listed below.
 * Any other code is refused and never guessed: a wrong exponent would make the amount a hundred times larger.
 */
const CODES = `
  AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BRL BSD BWP BYN BZD CAD CDF CHF CLP CNY COP CRC
  CVE CZK DJF DKK DOP DZD EGP ETB EUR FJD FKP GBP GEL GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR ISK JMD JOD JPY
  KES KGS KHR KMF KRW KWD KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MUR MVR MWK MXN MYR MZN NAD NGN NIO
  NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SEK SGD SHP SLE SOS SRD SZL THB TJS TND
  TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW
`;
const THREE_DECIMALS = new Set('BHD JOD KWD OMR TND'.split(' '));
const NO_DECIMALS = new Set('BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF'.split(' '));

const EXPONENTS = new Map(CODES.trim().split(/\s+/).map((code) => [code, iso(code)]));

function iso(code) {
  if (THREE_DECIMALS.has(code)) return 3;
  return NO_DECIMALS.has(code) ? 0 : 2;
}

/** Return the code in upper case if the API accepts it, else null. ANG (Antillean guilder) becomes XCG, its successor. */
function normalizeCode(code) {
  if (typeof code !== 'string' || !/^\s*[A-Za-z]{3}\s*$/.test(code)) return null;
  const upper = code.trim().toUpperCase();
  const current = upper === 'ANG' ? 'XCG' : upper;
  return EXPONENTS.has(current) ? current : null;
}

module.exports = { EXPONENTS, normalizeCode };
