'use strict';

const assert = require('node:assert/strict');
const test = require('node:test');

const { freeSecond, isSignedWebhook, requestSignature } = require('../common/signing');

const BODY = '{"externalEventId":"ü-1"}';

test('a request signature covers the second and the bytes', () => {
  // printf '1700000000.{"a":1}' | openssl dgst -sha256 -hmac secret
  const digest = '49f24e537407743fa4a0242bb63b94b9a47ee99cbbe071ccd8a22550ae411686';
  assert.equal(requestSignature('secret', 1_700_000_000, '{"a":1}'), `t=1700000000,sig=${digest}`);
});

test('two signatures of the same body have different seconds', () => {
  const seconds = [freeSecond(BODY, 100), freeSecond(BODY, 100), freeSecond('{}', 100), freeSecond(BODY, 101)];
  assert.deepEqual(seconds, [100, 101, 100, 102]);
  assert.equal(freeSecond(BODY, 500), 500);
});

test('a webhook is accepted only with the right secret, bytes and time', () => {
  const header = requestSignature('whsec', 1000, BODY).replace('sig=', 'v1=');
  assert.equal(isSignedWebhook('whsec', header, BODY, 1300), true);
  assert.equal(isSignedWebhook('whsec', header, Buffer.from(BODY), 700), true);
  const wrong = [
    ['other', header, BODY, 1000],
    ['whsec', header, `${BODY} `, 1000],
    ['whsec', header, BODY, 1301],
    ['whsec', header, BODY, 699],
    ['whsec', header.replace('t=1000', 't=1001'), BODY, 1000],
    ['whsec', header.replace('v1=', 'sig='), BODY, 1000],
    ['whsec', `${header},v1=00`, BODY, 1000],
    ['whsec', '', BODY, 1000],
    ['whsec', undefined, BODY, 1000],
  ];
  for (const [secret, value, body, now] of wrong) assert.equal(isSignedWebhook(secret, value, body, now), false, value);
});
