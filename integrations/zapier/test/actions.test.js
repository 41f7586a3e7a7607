'use strict';

const assert = require('node:assert/strict');
const { randomUUID } = require('node:crypto');
const test = require('node:test');

const ACTIONS = require('../common/actions');
const { App, act, call, connection } = require('./support/platform');
const { affiliateWithCoupon, callService, campaignWithAffiliate, orderNumber } = require('../../testing/service');

test('a sale is recorded once, in minor units and signed', async () => {
  const { slug } = await campaignWithAffiliate();
  const input = { externalEventId: orderNumber(), affiliateSlug: slug, amount: '49.90', currency: 'eur', customerEmail: '' };
  const sent = [];

  const first = await act('record_sale', input, { sent });
  const again = await act('record_sale', input, { zap: 'another' });
  const recorded = await callService('GET', `/api/v1/conversions/${first.conversionId}`);

  assert.deepEqual([first.ok, first.deduped, again.ok, again.deduped], [true, false, true, true]);
  assert.deepEqual(Object.keys(first).sort(), Object.keys(again).sort());
  assert.deepEqual([recorded.amountCents, recorded.currency, recorded.commissionCents], [4990, 'EUR', 998]);
  const [{ headers, body }] = sent;
  assert.match(headers['Idempotency-Key'], /^zap-7-[0-9a-f]{64}$/);
  assert.match(headers['X-Service-Signature'], /^t=[0-9]+,sig=[0-9a-f]{64}$/);
  assert.equal('customerEmail' in JSON.parse(body), false);
});

test('an empty currency is US dollars', async () => {
  const { slug } = await campaignWithAffiliate();
  const { conversionId } = await act('record_sale', { externalEventId: orderNumber(), affiliateSlug: slug, amount: '5' });
  const sale = await callService('GET', `/api/v1/conversions/${conversionId}`);
  assert.deepEqual([sale.amountCents, sale.currency], [500, 'USD']);
});

test('recording the same person twice creates one lead', async () => {
  const { slug, program } = await campaignWithAffiliate();
  const input = { affiliateSlug: slug, email: `${randomUUID()}@example.com`, name: 'Kim', programId: program.id };
  const first = await act('record_lead', input);
  const again = await act('record_lead', input, { zap: 'another' });
  assert.deepEqual([first.deduped, again.deduped, typeof first.leadId, again.leadId], [false, true, 'string', null]);
});

test('a refund uses the currency of its sale, and an empty amount refunds the rest', async () => {
  const { slug } = await campaignWithAffiliate();
  const externalEventId = orderNumber();
  await act('record_sale', { externalEventId, affiliateSlug: slug, amount: '10.500', currency: 'BHD' });

  const part = await act('refund_sale', { externalEventId, refundAmount: '0.005' });
  const same = await act('refund_sale', { externalEventId, refundAmount: '0.005' });
  const other = await act('refund_sale', { externalEventId, refundAmount: '0.005', reference: 'second' });
  const rest = await act('refund_sale', { externalEventId, refundAmount: ' ' });

  assert.deepEqual([part.refundedAmountCents, part.refundedAmount, part.isFullRefund], [5, '0.005', false]);
  assert.deepEqual(same, part);
  assert.equal(other.cumulativeRefundedAmountCents, 10);
  assert.deepEqual([rest.refundedAmount, rest.cumulativeRefundedAmount, rest.isFullRefund], ['10.490', '10.500', true]);
  await assert.rejects(act('refund_sale', { externalEventId, reference: 'third' }), { code: 'already_fully_refunded', status: 422 });
});

test('a refund uses the sale’s currency if a lead has the same external event id', async () => {
  const { slug } = await campaignWithAffiliate();
  const externalEventId = orderNumber();
  await act('record_sale', { externalEventId, affiliateSlug: slug, amount: '5000', currency: 'JPY' });
  await act('record_lead', { externalEventId, affiliateSlug: slug, email: `${randomUUID()}@example.com` });
  assert.equal((await act('find_conversion', { externalEventId })).length, 2);

  const part = await act('refund_sale', { externalEventId, refundAmount: '50' });
  assert.deepEqual([part.refundedAmountCents, part.currency], [50, 'JPY']);
});

test('leads and imports with the external event id of a sale do not change the refund’s currency', async () => {
  const row = (currency, amountCents, attributionMethod) => ({ externalEventId: 'order-1', currency, amountCents, attributionMethod });
  const [sale, lead, imported] = [row('JPY', 500, null), row('USD', 0, 'lead_signup'), row('BHD', 500, 'historical_import:csv')];
  const { run } = ACTIONS.find(({ key }) => key === 'refund_sale');
  const refunding = async (rows) => {
    const posted = [];
    const api = { get: async () => rows, post: async (_, body) => posted.push(body) };
    await run(api, { externalEventId: 'order-1', refundAmount: '5' });
    return posted[0].refundAmountCents;
  };
  for (const rows of [[sale], [lead, sale], [imported, lead, sale]]) assert.equal(await refunding(rows), 5);
  assert.equal(await refunding([lead, imported]), 5000);
  await assert.rejects(refunding([imported, row('USD', 500, 'manual')]), { code: 'currency_ambiguous' });
  await assert.rejects(refunding([lead]), { code: 'conversion_not_found' });
  await assert.rejects(refunding([{ ...sale, externalEventId: 'order-1-b' }]), { code: 'conversion_not_found' });
});

test('an affiliate is created, approved, updated or rejected', async () => {
  const { program } = await campaignWithAffiliate();
  const email = `${randomUUID()}@example.com`;
  const created = await act('create_affiliate', { programId: program.id, email, fullName: 'Kim', status: 'Pending' });
  assert.deepEqual([created.email, created.status], [email, 'Pending']);

  const approved = await act('approve_or_reject_affiliate', { affiliateId: created.id, decision: 'approve' });
  assert.equal(approved.status, 'Approved');

  const changes = { tags: ['gold', 'vip'], notes: 'Met at the fair', customCommissionType: 'Percentage', customCommissionValue: '12.5' };
  const changed = await act('update_affiliate', { affiliateId: created.id, fullName: '', ...changes });
  assert.deepEqual(
    [changed.fullName, changed.tags, changed.notes, changed.customCommissionValue],
    ['Kim', ['gold', 'vip'], 'Met at the fair', 12.5],
  );

  const untouched = await act('update_affiliate', { affiliateId: created.id, tags: ['', ' '], notes: ' ' });
  assert.deepEqual([untouched.tags, untouched.notes], [['gold', 'vip'], 'Met at the fair']);

  const other = await act('create_affiliate', { programId: program.id, email: `${randomUUID()}@example.com`, status: 'Pending' });
  const rejected = await act('approve_or_reject_affiliate', { affiliateId: other.id, decision: 'reject', reason: 'A double' });
  assert.equal(rejected.status, 'Rejected');
  await assert.rejects(act('approve_or_reject_affiliate', { affiliateId: other.id, decision: 'maybe' }), /approve/);
});

test('an invitation returns its accept link', async () => {
  const { program } = await campaignWithAffiliate();
  const input = { programId: program.id, email: `${randomUUID()}@example.com`, fullName: 'Kim', note: '<p>Hello</p>' };
  const invited = await act('invite_affiliate', input);
  const again = await act('invite_affiliate', input);
  assert.match(invited.acceptUrl, /^http/);
  assert.deepEqual([invited.email, invited.state], [input.email, 'Pending']);
  assert.equal(again.acceptUrl, invited.acceptUrl);
});

test('a commission is added once, by default in the home currency', async () => {
  const { affiliate, program } = await campaignWithAffiliate();
  const bonus = { affiliateId: affiliate.id, kind: 'bonus', commission: '25', note: 'Thank you' };

  const first = await act('add_commission', bonus);
  const again = await act('add_commission', bonus);
  const sale = await act('add_commission', { affiliateId: affiliate.id, kind: 'sale', amount: '100.00', commission: '7.5', currency: 'CHF' });

  assert.equal(again.id, first.id);
  assert.deepEqual(
    [first.type, first.commissionCents, first.commission, first.currency, first.programId, first.note],
    ['Bonus', 2500, '25.00', 'USD', program.id, 'Thank you'],
  );
  assert.deepEqual([sale.amountCents, sale.commissionCents, sale.currency], [10000, 750, 'CHF']);
});

test('a refused action succeeds when the Zap runs again after the cause is fixed', async () => {
  const { program } = await campaignWithAffiliate();
  const email = `${randomUUID()}@example.com`;
  const affiliate = await callService('POST', '/api/v1/affiliates', { programId: program.id, email, status: 'Paused' });
  const bonus = { affiliateId: affiliate.id, kind: 'bonus', commission: '1' };
  const externalEventId = orderNumber();
  for (let run = 1; run <= 3; run += 1) {
    await assert.rejects(act('add_commission', bonus), { code: 'affiliate_not_approved', status: 409 });
    await assert.rejects(act('refund_sale', { externalEventId }), { code: 'conversion_not_found', status: 404 });
  }

  await callService('PATCH', `/api/v1/affiliates/${affiliate.id}`, { status: 'Approved' });
  await act('record_sale', { externalEventId, affiliateSlug: affiliate.links[0].slug, amount: '1' });
  const added = [await act('add_commission', bonus), await act('add_commission', bonus)];
  const refunded = [await act('refund_sale', { externalEventId }), await act('refund_sale', { externalEventId })];

  assert.equal(added[0].id, added[1].id);
  assert.deepEqual(refunded.map((refund) => refund.cumulativeRefundedAmount), ['1.00', '1.00']);
});

test('the campaign drop-down lists campaigns that are not archived, page by page', async () => {
  const { program } = await campaignWithAffiliate();
  const { program: archived } = await campaignWithAffiliate();
  await callService('DELETE', `/api/v1/programs/${archived.id}`);
  const campaign = App.creates.create_affiliate.operation.inputFields.find(({ key }) => key === 'programId');
  const sent = [];

  const { results, paging_token: next } = await call(campaign.choices.perform, {}, { sent });
  const offered = results.map(({ id }) => id);

  assert.equal(offered.includes(program.id), true);
  assert.equal(offered.includes(archived.id), false);
  assert.equal(next, null);
  assert.deepEqual(results.find(({ id }) => id === program.id), { id: program.id, label: program.name });
});

test('a code is minted from a coupon of the affiliate’s campaign', async () => {
  const { affiliate, coupon, key } = await affiliateWithCoupon();
  const authData = connection({ apiKey: key, signingSecret: undefined });
  const field = App.creates.create_coupon_code.operation.inputFields.find(({ key: name }) => name === 'campaignCouponId');

  assert.deepEqual((await call(field.choices.perform, {}, { authData })).results, []);
  const { results } = await call(field.choices.perform, { affiliateId: affiliate.id }, { authData });
  const input = { affiliateId: affiliate.id, campaignCouponId: results[0].id };
  const code = `ROBIN-${randomUUID().slice(0, 8).toUpperCase()}`;
  const minted = await act('create_coupon_code', { ...input, code }, { authData });
  const again = await act('create_coupon_code', { ...input, code }, { authData });

  assert.deepEqual(results, [{ id: coupon.id, label: 'Partner 15' }]);
  assert.deepEqual([minted.code, minted.affiliateId, again.id], [code, affiliate.id, minted.id]);
  await assert.rejects(act('create_coupon_code', { ...input, code: 'no' }, { authData }), { name: 'AppError' });
  await assert.rejects(act('create_coupon_code', { ...input, code }, { authData, zap: '8' }), { code: 'code_already_taken' });
});
