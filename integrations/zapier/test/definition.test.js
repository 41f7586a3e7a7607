'use strict';

const assert = require('node:assert/strict');
const test = require('node:test');

const { flattenEvent } = require('../common/events');
const { App, act, call } = require('./support/platform');
const SAMPLES = require('../samples.json');

const TRIGGERS = [
  'conversion_created',
  'conversion_refunded',
  'affiliate_created',
  'affiliate_approved',
  'payout_created',
  'payout_paid',
  'payout_failed',
  'campaign_coupon_created',
  'affiliate_coupon_created',
];
const ACTIONS = [
  'record_sale',
  'record_lead',
  'refund_sale',
  'create_affiliate',
  'update_affiliate',
  'approve_or_reject_affiliate',
  'invite_affiliate',
  'add_commission',
  'create_coupon_code',
];
const SEARCHES = ['find_affiliate', 'find_campaign', 'find_conversion', 'find_payout'];

test('the app has nine triggers, nine actions and four searches, none hidden', () => {
  assert.deepEqual(Object.keys(App.triggers), TRIGGERS);
  assert.deepEqual(Object.keys(App.creates), ACTIONS);
  assert.deepEqual(Object.keys(App.searches), SEARCHES);
  for (const kind of [App.triggers, App.creates, App.searches]) {
    for (const [key, { display, operation }] of Object.entries(kind)) {
      assert.equal(display.hidden, undefined, key);
      assert.ok(operation.sample, key);
    }
  }
});

test('the key of an action or search is its label in snake case', () => {
  for (const { key, display } of [...Object.values(App.creates), ...Object.values(App.searches)]) {
    assert.equal(display.label.toLowerCase().replaceAll(' ', '_'), key);
  }
});

test('a flattened event has the id, time and data, with amounts in major units', () => {
  assert.deepEqual(flattenEvent(SAMPLES['conversion.refunded']), {
    id: SAMPLES['conversion.refunded'].id,
    createdAt: '2026-05-18T09:12:44.000Z',
    organizationId: SAMPLES['conversion.refunded'].organizationId,
    conversionId: '0d8f5d2e-6c1b-4c0e-9a57-3f0c5f1f7a11',
    affiliateId: '7b1f6a3c-52d4-4e8f-8a60-2c9d4e5b6f22',
    programId: 'c4e2a9d0-1f37-45b8-b6c1-8d7e6f5a4b33',
    refundedAmountCents: 1960,
    refundedAmount: '19.60',
    commissionReversedCents: 392,
    commissionReversed: '3.92',
    cumulativeRefundedAmountCents: 1960,
    cumulativeRefundedAmount: '19.60',
    isFullRefund: false,
    currency: 'USD',
    refundedAt: '2026-05-18T09:12:44.000Z',
    attributionMethod: 'coupon',
  });
  const yen = { discountType: 'AmountOff', discountValue: 500, discountCurrency: 'JPY' };
  assert.equal(flattenEvent({ id: 'evt_1', createdAt: 'now', organizationId: 'org', data: yen }).discount, '500');
  assert.equal('discount' in flattenEvent(SAMPLES['campaign_coupon.created']), false);
});

test('the connection label names the organization, and a plan without automation is refused', async () => {
  const { test: connect, connectionLabel } = App.authentication;
  const account = await call(connect);
  const label = connectionLabel.replace(/{{(\w+)}}/g, (_, name) => account[name]);
  assert.match(label, /^Knives & Co\. \(….{4,}\)$/);
  await assert.rejects(call(connect, {}, { authData: { baseUrl: process.env.FF_URL, apiKey: process.env.FF_KEY_FREE } }), {
    code: 'plan_tier_required',
    status: 402,
  });
});

test('samples of a new organization have the fields of the static samples', async () => {
  for (const [key, { operation }] of Object.entries(App.triggers)) {
    const [sample] = await call(operation.performList);
    // Events that already happened in this organization replace the samples, with fewer fields.
    if (key === 'payout_paid') assert.deepEqual(Object.keys(sample).sort(), Object.keys(operation.sample).sort());
    assert.match(sample.id, /^evt_[0-9a-f]{32}$/, key);
  }
});

test('an invalid base URL is refused before anything is sent', async () => {
  for (const baseUrl of ['', 'affiliates.example.com', 'ftp://example.com', 'https://', 'https://me@example.com', 'https://a.example/?b=']) {
    await assert.rejects(act('find_affiliate', { slug: 'x' }, { authData: { baseUrl, apiKey: 'k' } }), { code: 'base_url_invalid' }, baseUrl);
  }
});
