'use strict';

const assert = require('node:assert/strict');
const test = require('node:test');

const { Finderfee } = require('../nodes/Finderfee/Finderfee.node');
const { FinderfeeTrigger } = require('../nodes/Finderfee/FinderfeeTrigger.node');
const { contextOf, delivered } = require('./support/context');
const { callService, campaignWithAffiliate, orderNumber, server } = require('../../testing/service');

const node = new FinderfeeTrigger();
const { checkExists, create, delete: remove } = node.webhookMethods.default;

/** Return a workflow with this trigger; as in n8n, its static data persists between calls. */
function workflow(url, event = 'conversion.created') {
  const staticData = {};
  const context = (more) => contextOf({ parameters: { event }, staticData, url, ...more });
  return { staticData, context };
}

test('a sale triggers an active workflow with the sale’s data', async (t) => {
  const { slug } = await campaignWithAffiliate();
  const receiver = await server(t);
  const { context } = workflow(`${receiver.url}/n8n`);
  await create.call(context());
  const externalEventId = orderNumber();
  const sale = { operation: 'record_sale', externalEventId, affiliateSlug: slug, amount: '49.90', currency: 'EUR' };
  const [[recorded]] = await new Finderfee().execute.call(contextOf({ parameters: sale }));

  const { body, headers } = await receiver.next((request) => request.body.includes(externalEventId));
  const signature = headers['x-service-signature'];
  const { workflowData } = await node.webhook.call(context(delivered({ body, signature })));

  assert.equal(workflowData[0].length, 1);
  const { json } = workflowData[0][0];
  assert.deepEqual([json.conversionId, json.amount, json.currency], [recorded.json.conversionId, '49.90', 'EUR']);

  const forged = [
    { body: body.replace('4990', '9990'), signature },
    { body, signature: signature.replace(/v1=./, (match) => (match === 'v1=0' ? 'v1=1' : 'v1=0')) },
    { body, signature: undefined },
  ];
  for (const request of forged) {
    const refused = delivered(request);
    assert.deepEqual(await node.webhook.call(context(refused)), { noWebhookResponse: true });
    assert.equal(refused.response.code, 401);
  }
  const foreign = delivered({ body, signature });
  await node.webhook.call(workflow(`${receiver.url}/other`).context(foreign));
  assert.equal(foreign.response.code, 401);
});

test('a hook can be created and deleted repeatedly, and its existence is checked at the service', async (t) => {
  const { url } = await server(t);
  const { context, staticData } = workflow(`${url}/again`, 'payout.paid');
  assert.equal(await checkExists.call(context()), false);
  await create.call(context());
  const [{ id }] = Object.values(staticData);
  assert.equal(await checkExists.call(context()), true);
  assert.equal(await checkExists.call(context({ parameters: { event: 'payout.failed' } })), false);

  await callService('DELETE', `/api/v1/automation/hooks/${id}`);
  assert.equal(await checkExists.call(context()), false);
  assert.equal(await remove.call(context()), true);
  assert.equal(await remove.call(context()), true);
  assert.deepEqual(staticData, {});
});

test('a hook whose secret was lost is replaced', async (t) => {
  const { url } = await server(t);
  await create.call(workflow(`${url}/lost`).context());
  const { context, staticData } = workflow(`${url}/lost`);
  await create.call(context());
  const [{ secret }] = Object.values(staticData);
  assert.match(secret, /^whsec_/);
  assert.equal(await remove.call(context()), true);
});

test('a hook that cannot be deleted stays stored', async (t) => {
  const { url } = await server(t);
  const { context, staticData } = workflow(`${url}/kept`);
  await create.call(context());
  assert.equal(await remove.call(context({ credentials: { apiKey: 'wrong' } })), false);
  assert.equal(Object.keys(staticData).length, 1);
  await assert.rejects(checkExists.call(context({ credentials: { apiKey: 'wrong' } })), { code: 'unauthorized' });
  assert.equal(await remove.call(context()), true);
});
