'use strict';

const assert = require('node:assert/strict');
const { randomUUID } = require('node:crypto');
const test = require('node:test');

const { Finderfee } = require('../nodes/Finderfee/Finderfee.node');
const { contextOf } = require('./support/context');
const { callService, campaignWithAffiliate, orderNumber, server } = require('../../testing/service');

const node = new Finderfee();

/** Run the node once and return its rows. */
async function run(operation, items, { sent = [], ...options } = {}) {
  const context = contextOf({ parameters: { operation }, items: [].concat(items), ...options });
  const [rows] = await node.execute.call(context);
  sent.push(...context.sent);
  return rows;
}

const records = async (...args) => (await run(...args)).map(({ json }) => json);

test('the node has nine actions and four searches', () => {
  const [operation] = node.description.properties;
  assert.deepEqual(operation.options.map(({ value }) => value), [
    'record_sale',
    'record_lead',
    'refund_sale',
    'create_affiliate',
    'update_affiliate',
    'approve_or_reject_affiliate',
    'invite_affiliate',
    'add_commission',
    'create_coupon_code',
    'find_affiliate',
    'find_campaign',
    'find_conversion',
    'find_payout',
  ]);
});

test('each item records a sale, signed over the sent bytes', async () => {
  const { slug } = await campaignWithAffiliate();
  const items = ['49.90', 7, '0.01'].map((amount) => ({ externalEventId: orderNumber(), affiliateSlug: slug, amount }));
  const sent = [];

  const rows = await run('record_sale', items, { sent });

  assert.deepEqual(rows.map(({ pairedItem }) => pairedItem.item), [0, 1, 2]);
  const sales = await Promise.all(rows.map(({ json }) => callService('GET', `/api/v1/conversions/${json.conversionId}`)));
  assert.deepEqual(sales.map(({ amountCents }) => amountCents), [4990, 700, 1]);
  assert.ok(sent.every(({ body, headers }) => Buffer.isBuffer(body) && headers['X-Service-Signature']));
  assert.match(sent[1].headers['Idempotency-Key'], /^n8n-w1-n1-1-[0-9a-f]{64}$/);
});

test('two equal items make two refunds, and repeating the run makes none', async () => {
  const { slug } = await campaignWithAffiliate();
  const externalEventId = orderNumber();
  await run('record_sale', { externalEventId, affiliateSlug: slug, amount: '1000', currency: 'JPY' });
  const refund = { externalEventId, refundAmount: '100' };

  const first = await records('refund_sale', [refund, refund]);
  const again = await records('refund_sale', [refund, refund]);

  assert.deepEqual(first.map((refund) => refund.cumulativeRefundedAmount), ['100', '200']);
  assert.deepEqual(again, first);
  const [rest] = await records('refund_sale', { externalEventId, refundAmount: '' });
  assert.deepEqual([rest.refundedAmount, rest.isFullRefund], ['800', true]);
});

test('the other actions return their results', async () => {
  const { program, affiliate, slug } = await campaignWithAffiliate();
  const programId = program.id;
  const [lead] = await records('record_lead', { affiliateSlug: slug, email: `${randomUUID()}@example.com` });
  assert.equal(lead.deduped, false);
  const [created] = await records('create_affiliate', { programId, email: `${randomUUID()}@example.com`, status: 'Pending' });
  const [approved] = await records('approve_or_reject_affiliate', { affiliateId: created.id, decision: 'approve' });
  assert.equal(approved.status, 'Approved');
  const [changed] = await records('update_affiliate', { affiliateId: created.id, tags: 'gold, vip,' });
  assert.deepEqual(changed.tags, ['gold', 'vip']);
  const [invited] = await records('invite_affiliate', { programId, email: `${randomUUID()}@example.com` });
  assert.match(invited.acceptUrl, /^http/);
  const [bonus] = await records('add_commission', { affiliateId: affiliate.id, kind: 'bonus', commission: '2.5' });
  assert.deepEqual([bonus.commissionCents, bonus.commission], [250, '2.50']);
});

test('a search returns one row per match', async () => {
  const { affiliate } = await campaignWithAffiliate();
  const rows = await run('find_affiliate', [{ email: affiliate.email }, { email: `${randomUUID()}@example.com` }, { email: affiliate.email }]);
  assert.deepEqual(rows.map(({ json, pairedItem }) => [json.id, pairedItem.item]), [[affiliate.id, 0], [affiliate.id, 2]]);
});

test('a refusal stops the node, or becomes a row if continueOnFail is set', async () => {
  const { slug } = await campaignWithAffiliate();
  const good = { externalEventId: orderNumber(), affiliateSlug: slug, amount: '5' };
  const bad = { ...good, externalEventId: orderNumber(), affiliateSlug: 'unknown-slug' };
  const fine = { ...good, externalEventId: orderNumber(), amount: '4.999' };

  await assert.rejects(run('record_sale', [good, bad]), { code: 'affiliate_not_found', context: { itemIndex: 1 } });
  const rows = await records('record_sale', [good, bad, fine], { continueOnFail: () => true });

  assert.deepEqual(rows.map(({ code, deduped }) => code ?? deduped), [false, 'affiliate_not_found', 'amount_too_fine']);
  assert.match(rows[1].error, /.{10}/);
});

test('a wrong key, a wrong secret, a 429 and a redirect each have their code', async (t) => {
  const sale = { externalEventId: orderNumber(), affiliateSlug: 'x', amount: '5' };
  const full = await server(t, { status: 429 });
  const moved = await server(t, { status: 301, headers: { Location: 'https://example.com/' } });
  const wrong = [
    [{ apiKey: 'wrong' }, 'unauthorized'],
    [{ signingSecret: 'wrong' }, 'unauthorized'],
    [{ signingSecret: '' }, 'signing_secret_missing'],
    [{ apiKey: process.env.FF_KEY_READ }, 'unauthorized'],
    [{ baseUrl: 'affiliates.example.com' }, 'base_url_invalid'],
    [{ baseUrl: full.url }, 'rate_limited'],
    [{ baseUrl: moved.url }, 'redirected'],
  ];
  for (const [credentials, code] of wrong) {
    await assert.rejects(run('record_sale', sale, { credentials }), { code }, JSON.stringify(credentials));
  }
});

test('the drop-downs list campaigns and coupons', async () => {
  const { program, affiliate } = await campaignWithAffiliate();
  const { campaigns, coupons } = node.methods.loadOptions;
  const offered = await campaigns.call(contextOf());
  assert.deepEqual(offered.find(({ value }) => value === program.id), { name: program.name, value: program.id });
  assert.deepEqual(await coupons.call(contextOf({ parameters: { affiliateId: affiliate.id } })), []);
});
