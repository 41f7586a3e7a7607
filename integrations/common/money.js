'use strict';

const { EXPONENTS, normalizeCode } = require('./currencies');
const { Refusal } = require('./refusal');

// The largest amount that the API accepts, in minor units.
const MAX_MINOR = 1_000_000_000_000n;

/**
 * Return an amount typed in major units as a whole number of minor units: '12.5' is 1250 in USD, '1200' is 1200 in JPY,
 * '1.005' is 1005 in BHD.
 *
 * Accepts only digits and one point, since the meaning of a comma differs between countries. An amount finer than a
 * minor unit is refused and not rounded; zeros after a whole number of yen are accepted. Throws Refusal.
 */
function toMinor(amount, currency) {
  const exponent = exponentOf(currency);
  const text = String(amount).trim();
  const match = /^([0-9]{1,15})(?:\.([0-9]{1,30}))?$/.exec(text);
  if (!match) {
    throw new Refusal(`"${text}" is not an amount. Write digits and a point, as in 1234.50.`, { code: 'amount_invalid' });
  }
  const decimals = dropPaddingZeros(match[2] || '', exponent);
  if (decimals.length > exponent) {
    const message = `${normalizeCode(currency)} has ${exponent || 'no'} decimals, "${text}" has ${match[2].length}.`;
    throw new Refusal(message, { code: 'amount_too_fine' });
  }
  const minor = BigInt(match[1] + decimals.padEnd(exponent, '0'));
  if (minor > MAX_MINOR) throw new Refusal(`"${text}" is more than the API accepts.`, { code: 'amount_out_of_range' });
  return Number(minor);
}

// Shops write 1200.00 for 1200 yen; three zeros may be a thousands group in another country.
function dropPaddingZeros(decimals, exponent) {
  return exponent === 0 && /^0{1,2}$/.test(decimals) ? '' : decimals;
}

/** Return a whole number of minor units as text in major units; null for an unknown currency. */
function toMajor(minor, currency) {
  const code = normalizeCode(currency);
  if (code === null || !Number.isSafeInteger(minor)) return null;
  const exponent = EXPONENTS.get(code);
  const digits = String(Math.abs(minor)).padStart(exponent + 1, '0');
  const sign = minor < 0 ? '-' : '';
  return exponent ? `${sign}${digits.slice(0, -exponent)}.${digits.slice(-exponent)}` : `${sign}${digits}`;
}

/** Return the record with each `…Cents` also in major units, under the name without `Cents`, if its currency is known. */
function withMajor(record, currency = record.currency) {
  const converted = { ...record };
  for (const [name, value] of Object.entries(record)) {
    const major = name.endsWith('Cents') ? toMajor(value, currency) : null;
    if (major !== null) converted[name.slice(0, -'Cents'.length)] = major;
  }
  return converted;
}

function exponentOf(currency) {
  const code = normalizeCode(currency);
  if (code === null) {
    throw new Refusal(`"${currency}" is not a supported currency code.`, { code: 'unsupported_currency' });
  }
  return EXPONENTS.get(code);
}

module.exports = { toMajor, toMinor, withMajor };
