'use strict';

const assert = require('node:assert/strict');
const test = require('node:test');

const { EXPONENTS } = require('../common/currencies');
const { toMajor, toMinor, withMajor } = require('../common/money');

// Typed amount, currency, minor units.
const AMOUNTS = [
  ['49.90', 'USD', 4990],
  ['49.9', 'USD', 4990],
  ['49', 'usd', 4900],
  [' 49.90 ', ' eur ', 4990],
  ['0.01', 'USD', 1],
  ['0', 'USD', 0],
  ['0.29', 'USD', 29],
  ['1.15', 'USD', 115],
  ['4.35', 'USD', 435],
  ['8.2', 'USD', 820],
  [19.99, 'USD', 1999],
  [1001.1, 'USD', 100110],
  ['007.50', 'USD', 750],
  ['10000000000', 'USD', 1_000_000_000_000],
  ['1200', 'JPY', 1200],
  ['1200.00', 'JPY', 1200],
  ['1200.0', 'KRW', 1200],
  ['1.005', 'BHD', 1005],
  ['1.5', 'KWD', 1500],
  ['3', 'OMR', 3000],
  ['0.001', 'TND', 1],
  ['5', 'ISK', 5],
  ['2.50', 'ANG', 250],
  ['2.50', 'HUF', 250],
];

// Typed amount, currency, code of the refusal.
const REFUSED = [
  ['49.999', 'USD', 'amount_too_fine'],
  ['49.900', 'USD', 'amount_too_fine'],
  [0.1 + 0.2, 'USD', 'amount_too_fine'],
  ['1200.5', 'JPY', 'amount_too_fine'],
  ['1.200', 'JPY', 'amount_too_fine'],
  ['1.000', 'JPY', 'amount_too_fine'],
  ['1.0005', 'BHD', 'amount_too_fine'],
  ['10000000000.01', 'USD', 'amount_out_of_range'],
  ['999999999999999', 'USD', 'amount_out_of_range'],
  ['1000000000001', 'JPY', 'amount_out_of_range'],
  ['9999999999999999', 'USD', 'amount_invalid'],
  ['', 'USD', 'amount_invalid'],
  ['1,200.50', 'USD', 'amount_invalid'],
  ['12,50', 'EUR', 'amount_invalid'],
  ['-5', 'USD', 'amount_invalid'],
  ['+5', 'USD', 'amount_invalid'],
  ['$5', 'USD', 'amount_invalid'],
  ['5 USD', 'USD', 'amount_invalid'],
  ['1e3', 'USD', 'amount_invalid'],
  [1e21, 'USD', 'amount_invalid'],
  ['0x10', 'USD', 'amount_invalid'],
  ['.5', 'USD', 'amount_invalid'],
  ['5.', 'USD', 'amount_invalid'],
  ['٥', 'USD', 'amount_invalid'],
  ['5\u0000', 'USD', 'amount_invalid'],
  [NaN, 'USD', 'amount_invalid'],
  [{}, 'USD', 'amount_invalid'],
  ['5', 'XXX', 'unsupported_currency'],
  ['5', 'DOLLAR', 'unsupported_currency'],
  ['5', 'ＵＳＤ', 'unsupported_currency'],
  ['5', '', 'unsupported_currency'],
  ['5', null, 'unsupported_currency'],
];

test('typed amounts convert exactly to minor units', () => {
  for (const [typed, currency, minor] of AMOUNTS) assert.equal(toMinor(typed, currency), minor, `${typed} ${currency}`);
});

test('an inexact amount is refused and never rounded', () => {
  for (const [typed, currency, code] of REFUSED) {
    assert.throws(() => toMinor(typed, currency), { name: 'Refusal', code }, `${String(typed)} ${currency}`);
  }
});

test('minor units convert to major units and back', () => {
  const amounts = [[4990, 'USD', '49.90'], [5, 'USD', '0.05'], [0, 'USD', '0.00'], [1200, 'JPY', '1200'], [5, 'BHD', '0.005']];
  for (const [minor, currency, major] of amounts) {
    assert.equal(toMajor(minor, currency), major);
    assert.equal(toMinor(major, currency), minor);
  }
  assert.equal(toMajor(-1234, 'USD'), '-12.34');
  assert.equal(toMajor(1_000_000_000_000, 'USD'), '10000000000.00');
  assert.equal(toMajor(100, 'XXX'), null);
  assert.equal(toMajor(1.5, 'USD'), null);
});

test('a record gets major units in addition to minor units if its currency is known', () => {
  assert.deepEqual(withMajor({ amountCents: 4990, currency: 'USD', note: null }), {
    amountCents: 4990,
    amount: '49.90',
    currency: 'USD',
    note: null,
  });
  assert.deepEqual(withMajor({ amountCents: 4990, currency: 'XXX' }), { amountCents: 4990, currency: 'XXX' });
  assert.deepEqual(withMajor({ budgetCents: 100 }), { budgetCents: 100 });
});

test('currencies and decimals are those of the service', () => {
  assert.deepEqual(Object.fromEntries(EXPONENTS), JSON.parse(process.env.FF_EXPONENTS));
});
