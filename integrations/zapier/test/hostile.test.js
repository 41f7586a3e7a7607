'use strict';

const assert = require('node:assert/strict');
const { randomUUID } = require('node:crypto');
const test = require('node:test');

const { AppError, RefreshAuthError, ThrottledError, act, call, connection, App } = require('./support/platform');
const { campaignWithAffiliate, orderNumber, server } = require('../../testing/service');

const SALE = { externalEventId: 'never-recorded', affiliateSlug: 'unknown-slug', amount: '5' };

test('a refused call throws the API’s message and code', async () => {
  const { program, affiliate, slug } = await campaignWithAffiliate();
  const refused = [
    ['record_sale', SALE, 'affiliate_not_found'],
    ['record_sale', { ...SALE, affiliateSlug: slug, amount: '0' }, 'amount_out_of_range'],
    ['record_lead', { affiliateSlug: slug, email: 'no email' }, 'invalid_email'],
    ['create_affiliate', { programId: program.id, email: affiliate.email }, 'affiliate_already_exists'],
    ['create_affiliate', { programId: 'no id', email: 'kim@example.com' }, 'invalid_request'],
    ['update_affiliate', { affiliateId: affiliate.id, customCommissionType: 'Fixed' }, 'invalid_request'],
    ['update_affiliate', { affiliateId: affiliate.id, customCommissionType: 'Percentage', customCommissionValue: '101' }, 'percentage_out_of_range'],
    ['invite_affiliate', { programId: program.id, email: affiliate.email }, 'affiliate_already_exists'],
    ['add_commission', { affiliateId: affiliate.id, kind: 'bonus', amount: '5', commission: '5' }, 'bonus_has_no_amount'],
    ['add_commission', { affiliateId: randomUUID(), kind: 'bonus', commission: '5' }, 'not_found'],
    ['approve_or_reject_affiliate', { affiliateId: '../../programs', decision: 'approve' }, 'not_found'],
    ['refund_sale', { externalEventId: '' }, 'external_event_id_required'],
  ];
  for (const [action, input, code] of refused) {
    await assert.rejects(act(action, input), (error) => {
      assert.equal(error.code, code, `${action}: ${error.message}`);
      return error instanceof AppError && error.message.length > 10;
    });
  }
});

test('inexact amounts and unknown currencies are refused before sending', async () => {
  const { slug, affiliate } = await campaignWithAffiliate();
  const externalEventId = orderNumber();
  await act('record_sale', { externalEventId, affiliateSlug: slug, amount: '500', currency: 'JPY' });
  const wrong = [
    ['record_sale', { ...SALE, amount: '4.999' }, 'amount_too_fine'],
    ['record_sale', { ...SALE, amount: '4.5', currency: 'JPY' }, 'amount_too_fine'],
    ['record_sale', { ...SALE, currency: 'XXX' }, 'unsupported_currency'],
    ['record_sale', { ...SALE, amount: undefined }, 'amount_invalid'],
    ['refund_sale', { externalEventId, refundAmount: '1.5' }, 'amount_too_fine'],
    ['refund_sale', { externalEventId: orderNumber(), refundAmount: '5' }, 'conversion_not_found'],
    ['add_commission', { affiliateId: affiliate.id, kind: 'bonus', commission: '5', currency: 'BTC' }, 'unsupported_currency'],
  ];
  for (const [action, input, code] of wrong) {
    const sent = [];
    await assert.rejects(act(action, input, { sent }), { code }, `${action} ${JSON.stringify(input)}`);
    assert.deepEqual(sent.filter(({ method }) => method !== 'GET'), [], action);
  }
});

test('a wrong key or signing secret throws RefreshAuthError', async () => {
  const wrongs = [connection({ apiKey: 'ff_live_wrong' }), connection({ apiKey: '' })];
  for (const authData of wrongs) {
    await assert.rejects(call(App.authentication.test, {}, { authData }), RefreshAuthError);
    await assert.rejects(act('find_affiliate', { slug: 'x' }, { authData }), RefreshAuthError);
  }
  const wrongSecret = connection({ signingSecret: 'wrong' });
  await assert.rejects(act('record_sale', SALE, { authData: wrongSecret }), RefreshAuthError);
  await assert.rejects(act('refund_sale', { externalEventId: 'x' }, { authData: wrongSecret }), RefreshAuthError);
});

test('without a signing secret only signed actions are refused', async () => {
  const authData = connection({ signingSecret: undefined });
  assert.deepEqual(await act('find_affiliate', { slug: 'unknown-slug' }, { authData }), []);
  for (const action of ['record_sale', 'record_lead']) {
    await assert.rejects(act(action, SALE, { authData }), { code: 'signing_secret_missing' });
  }
});

test('a read-only key is refused for changes', async () => {
  const authData = connection({ apiKey: process.env.FF_KEY_READ });
  const targetUrl = `${process.env.FF_HOOK}:9/zap`;
  await assert.rejects(act('invite_affiliate', {}, { authData }), { code: 'forbidden', status: 403 });
  await assert.rejects(call(App.triggers.payout_paid.operation.performSubscribe, {}, { authData, targetUrl }), { code: 'forbidden' });
});

test('a 429 throws ThrottledError with the wait of Retry-After', async (t) => {
  const patient = await server(t, { status: 429, headers: { 'Retry-After': '7' } });
  const silent = await server(t, { status: 429 });
  for (const [{ url }, delay] of [[patient, 7], [silent, 60]]) {
    await assert.rejects(act('find_affiliate', { slug: 'x' }, { authData: connection({ baseUrl: url }) }), (error) => {
      return error instanceof ThrottledError && error.delay === delay;
    });
  }
});

test('a redirect is not followed, and a response that is not the API’s is refused', async (t) => {
  const elsewhere = await server(t, { body: '[]' });
  const moved = await server(t, { status: 302, headers: { Location: elsewhere.url } });
  const page = await server(t, { status: 502, body: '<html>Bad gateway</html>' });

  await assert.rejects(act('record_sale', SALE, { authData: connection({ baseUrl: moved.url }) }), { code: 'redirected' });
  assert.deepEqual(elsewhere.requests, []);
  await assert.rejects(act('record_sale', SALE, { authData: connection({ baseUrl: page.url }) }), { code: 'status_502', status: 502 });
  const welcome = await server(t, { body: '<html>Welcome</html>' });
  await assert.rejects(act('find_campaign', { slug: 'x' }, { authData: connection({ baseUrl: welcome.url }) }), { code: 'not_the_api' });
});

test('the key is sent only to the connection’s origin, not to URLs with the same prefix', async () => {
  const { beforeRequest } = App;
  const bundle = { authData: { baseUrl: 'https://a.example/', apiKey: 'secret', signingSecret: 's' } };
  const headersOf = (url) => beforeRequest[0]({ url, headers: {} }, {}, bundle).headers;
  assert.equal(headersOf('https://a.example/api/v1/programs').Authorization, 'Bearer secret');
  for (const url of ['https://a.example.evil.example/api', 'https://a.example:8443/api', 'http://a.example/api']) {
    assert.deepEqual(headersOf(url), {}, url);
  }
});
