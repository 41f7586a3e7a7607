'use strict';

const assert = require('node:assert/strict');
const test = require('node:test');

const zapier = require('zapier-platform-core');
const { validateAppDefinition } = require('zapier-platform-schema');

const App = require('../../index');
const { connection } = require('../support/platform');
const { campaignWithAffiliate, orderNumber, server } = require('../../../testing/service');

const run = zapier.createAppTester(App);
const bundle = (inputData = {}, more = {}) => ({ authData: connection(), inputData, meta: { zap: { id: '7' } }, ...more });

test('the platform accepts the definition', () => {
  const marked = JSON.parse(JSON.stringify(App, (_, value) => (typeof value === 'function' ? '$func$2$f$' : value)));
  assert.deepEqual(validateAppDefinition(marked).errors.map(String), []);
  assert.equal(App.platformVersion, zapier.version);
});

test('the platform connects, and a wrong key throws RefreshAuthError', async () => {
  const account = await run(App.authentication.test, bundle());
  assert.equal(account.organizationName, 'Knives & Co.');
  const wrong = { ...bundle(), authData: connection({ apiKey: 'wrong' }) };
  await assert.rejects(run(App.authentication.test, wrong), { name: 'RefreshAuthError' });
});

test('the platform runs a Zap from the sale to the trigger', async (t) => {
  const { slug } = await campaignWithAffiliate();
  const receiver = await server(t);
  const { performSubscribe, performUnsubscribe, perform } = App.triggers.conversion_created.operation;
  const hook = await run(performSubscribe, bundle({}, { targetUrl: `${receiver.url}/platform` }));
  const input = { externalEventId: orderNumber(), affiliateSlug: slug, amount: '49.90' };

  const { operation } = App.creates.record_sale;
  const sale = await run(operation.perform, bundle(input));
  const again = await run(operation.perform, bundle(input, { meta: { zap: { id: '8' } } }));
  const { body } = await receiver.next((request) => request.body.includes(input.externalEventId));
  const [record] = await run(perform, bundle({}, { cleanedRequest: JSON.parse(body) }));

  assert.deepEqual([sale.deduped, again.deduped], [false, true]);
  assert.deepEqual([record.conversionId, record.amount], [sale.conversionId, '49.90']);
  await run(performUnsubscribe, bundle({}, { subscribeData: hook }));
});

test('every trigger has samples, every search returns a list, and a refusal has its code', async () => {
  for (const [key, { operation }] of Object.entries(App.triggers)) {
    const samples = await run(operation.performList, bundle());
    assert.ok(samples.length >= 1, key);
  }
  for (const [key, { operation }] of Object.entries(App.searches)) {
    const [{ key: field }] = operation.inputFields;
    const value = field === 'id' ? '0d8f5d2e-6c1b-4c0e-9a57-3f0c5f1f7a00' : 'unknown@example.com';
    assert.deepEqual(await run(operation.perform, bundle({ [field]: value })), [], key);
  }
  const { perform } = App.creates.record_sale.operation;
  const refused = bundle({ externalEventId: 'x', affiliateSlug: 'unknown-slug', amount: '5' });
  await assert.rejects(run(perform, refused), /affiliate_not_found/);
});

test('the platform waits after a 429, and does not follow a redirect', async (t) => {
  const full = await server(t, { status: 429, headers: { 'Retry-After': '7' } });
  const elsewhere = await server(t, { body: '[]' });
  const moved = await server(t, { status: 307, headers: { Location: `${elsewhere.url}/` } });
  const { perform } = App.searches.find_campaign.operation;
  const at = ({ url }) => ({ ...bundle({ slug: 'x' }), authData: connection({ baseUrl: url }) });
  await assert.rejects(run(perform, at(full)), { name: 'ThrottledError', message: /"delay":7/ });
  await assert.rejects(run(perform, at(moved)), /redirected/);
  assert.deepEqual(elsewhere.requests, []);
});

test('the platform fills a drop-down', async () => {
  const { program } = await campaignWithAffiliate();
  const campaign = App.creates.create_affiliate.operation.inputFields.find(({ key }) => key === 'programId');
  const { results } = await run(campaign.choices.perform, bundle());
  assert.ok(results.some(({ id }) => id === program.id));
});
