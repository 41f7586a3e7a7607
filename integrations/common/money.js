'use strict';

const { EXPONENTS, normalized } = require('./currencies');
const { Refusal } = require('./refusal');

// What the API takes at most, in minor units.
const MOST = 1_000_000_000_000n;

/**
 * Return an amount that somebody typed in major units as a whole number of minor units: '12.5' is 1250 in USD, '1200'
 * is 1200 in JPY, '1.005' is 1005 in BHD.
 *
 * Digits and one point, nothing else: a comma means another thing in another country. What is finer than a minor unit
 * is refused and not rounded; zeros behind a whole number of yen are no more than that. Throws Refusal.
 */
function toMinor(amount, currency) {
  const exponent = exponentOf(currency);
  const text = String(amount).trim();
  const match = /^([0-9]{1,15})(?:\.([0-9]{1,30}))?$/.exec(text);
  if (!match) {
    throw new Refusal(`"${text}" is not an amount. Write digits and a point, as in 1234.50.`, { code: 'amount_invalid' });
  }
  const decimals = withoutIdleZeros(match[2] || '', exponent);
  if (decimals.length > exponent) {
    const message = `${normalized(currency)} has ${exponent || 'no'} decimals, "${text}" has ${match[2].length}.`;
    throw new Refusal(message, { code: 'amount_too_fine' });
  }
  const minor = BigInt(match[1] + decimals.padEnd(exponent, '0'));
  if (minor > MOST) throw new Refusal(`"${text}" is more than the API takes.`, { code: 'amount_out_of_range' });
  return Number(minor);
}

// Shops write 1200.00 for 1200 yen; three zeros may be a thousand in another country.
function withoutIdleZeros(decimals, exponent) {
  return exponent === 0 && /^0{1,2}$/.test(decimals) ? '' : decimals;
}

/** Return a whole number of minor units as text in major units, null for a currency that is not known here. */
function toMajor(minor, currency) {
  const code = normalized(currency);
  if (code === null || !Number.isSafeInteger(minor)) return null;
  const exponent = EXPONENTS.get(code);
  const digits = String(Math.abs(minor)).padStart(exponent + 1, '0');
  const sign = minor < 0 ? '-' : '';
  return exponent ? `${sign}${digits.slice(0, -exponent)}.${digits.slice(-exponent)}` : `${sign}${digits}`;
}

/** Return a record with each `…Cents` also in major units, without the `Cents`, where its currency is known. */
function withMajor(record, currency = record.currency) {
  const shown = { ...record };
  for (const [name, value] of Object.entries(record)) {
    const major = name.endsWith('Cents') ? toMajor(value, currency) : null;
    if (major !== null) shown[name.slice(0, -'Cents'.length)] = major;
  }
  return shown;
}

function exponentOf(currency) {
  const code = normalized(currency);
  if (code === null) {
    throw new Refusal(`"${currency}" is not a supported currency code.`, { code: 'unsupported_currency' });
  }
  return EXPONENTS.get(code);
}

module.exports = { toMajor, toMinor, withMajor };
