'use strict';

const assert = require('node:assert/strict');
const test = require('node:test');

const { isSignedWebhook } = require('../common/signing');
const { App, act, call } = require('./support/platform');
const { campaignWithAffiliate, orderNumber, server } = require('../../testing/service');

const { operation } = App.triggers.conversion_created;

/** Switch on a Zap with this trigger. */
function subscribe(trigger, targetUrl) {
  return call(App.triggers[trigger].operation.performSubscribe, {}, { targetUrl });
}

test('a recorded sale triggers the Zap once with the sale’s data', async (t) => {
  const { slug, affiliate } = await campaignWithAffiliate();
  const receiver = await server(t);
  const hook = await subscribe('conversion_created', `${receiver.url}/zap`);
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

test('an event of another type does not trigger the Zap', async () => {
  const none = { id: 'evt_1', type: 'test', createdAt: 'now', organizationId: 'org', data: { message: 'Hello' } };
  assert.deepEqual(await call(operation.perform, {}, { cleanedRequest: none }), []);
  assert.deepEqual(await call(operation.perform, {}, { cleanedRequest: {} }), []);
});

test('a Zap can be switched on and off repeatedly', async (t) => {
  const { url } = await server(t);
  for (const [key, trigger] of Object.entries(App.triggers)) {
    const targetUrl = `${url}/${key}`;
    const first = await subscribe(key, targetUrl);
    const again = await subscribe(key, targetUrl);
    assert.equal(again.id, first.id, key);
    const off = { subscribeData: first };
    await call(trigger.operation.performUnsubscribe, {}, off);
    await call(trigger.operation.performUnsubscribe, {}, off);
    const renewed = await subscribe(key, targetUrl);
    assert.notEqual(renewed.id, first.id, key);
    await call(trigger.operation.performUnsubscribe, {}, { subscribeData: renewed });
  }
});
