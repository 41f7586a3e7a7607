'use strict';

const assert = require('node:assert/strict');
const test = require('node:test');

const { isSignedWebhook } = require('../common/signing');
const { App, act, call } = require('./support/platform');
const { campaignWithAffiliate, orderNumber, server } = require('../../testing/service');

const { operation } = App.triggers.conversion_created;

/** Switch a Zap on that begins with an event. */
function subscribed(trigger, targetUrl) {
  return call(App.triggers[trigger].operation.performSubscribe, {}, { targetUrl });
}

test('a sale that is posted starts the Zap, once, with the sale in it', async (t) => {
  const { slug, affiliate } = await campaignWithAffiliate();
  const receiver = await server(t);
  const hook = await subscribed('conversion_created', `${receiver.url}/zap`);
  const externalEventId = orderNumber();

  const sale = await act('record_sale', { externalEventId, affiliateSlug: slug, amount: '1234', currency: 'JPY' });
  const delivery = await receiver.next(({ body }) => body.includes(externalEventId));
  const records = await call(operation.perform, {}, { cleanedRequest: JSON.parse(delivery.body) });

  assert.equal(records.length, 1);
  const [record] = records;
  assert.match(record.id, /^evt_/);
  assert.deepEqual(
    [record.conversionId, record.affiliateId, record.amountCents, record.amount, record.commission, record.currency],
    [sale.conversionId, affiliate.id, 1234, '1234', '247', 'JPY'],
  );
  assert.equal(isSignedWebhook(hook.secret, delivery.headers['x-service-signature'], delivery.body), true);
  const [newest] = await call(operation.performList);
  assert.deepEqual(Object.keys(newest).sort(), Object.keys(record).sort());
});

test('what is of another type starts nothing', async () => {
  const none = { id: 'evt_1', type: 'test', createdAt: 'now', organizationId: 'org', data: { message: 'Hello' } };
  assert.deepEqual(await call(operation.perform, {}, { cleanedRequest: none }), []);
  assert.deepEqual(await call(operation.perform, {}, { cleanedRequest: {} }), []);
});

test('a Zap is switched on and off any number of times', async (t) => {
  const { url } = await server(t);
  for (const [key, trigger] of Object.entries(App.triggers)) {
    const targetUrl = `${url}/${key}`;
    const first = await subscribed(key, targetUrl);
    const again = await subscribed(key, targetUrl);
    assert.equal(again.id, first.id, key);
    const off = { subscribeData: first };
    await call(trigger.operation.performUnsubscribe, {}, off);
    await call(trigger.operation.performUnsubscribe, {}, off);
    const anew = await subscribed(key, targetUrl);
    assert.notEqual(anew.id, first.id, key);
    await call(trigger.operation.performUnsubscribe, {}, { subscribeData: anew });
  }
});
