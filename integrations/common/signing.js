'use strict';

const { createHmac, timingSafeEqual } = require('node:crypto');

const TOLERANCE_S = 300;
const used = new Map();

/** Return the header that signs a body for the API at a unix second. The signed bytes must be the bytes that are sent. */
function requestSignature(secret, second, body) {
  return `t=${second},sig=${digest(secret, second, body)}`;
}

/**
 * Return a second at which this process has not signed this body yet: now, or the next free one.
 * The API processes a signature only once, so two equal refunds within a second need two signatures.
 */
function freeSecond(body, now = Math.floor(Date.now() / 1000)) {
  for (const [other, second] of used) if (second < now) used.delete(other);
  const second = Math.max(now, (used.get(body) ?? 0) + 1);
  used.set(body, second);
  return second;
}

/** Return whether a webhook's header, `t=<unix seconds>,v1=<hex>`, signs its raw body, at most five minutes from now. */
function isSignedWebhook(secret, header, rawBody, now = Math.floor(Date.now() / 1000)) {
  const match = /^t=([0-9]{1,12}),v1=([0-9a-f]{64})$/.exec(header || '');
  if (!match || Math.abs(now - Number(match[1])) > TOLERANCE_S) return false;
  return timingSafeEqual(Buffer.from(match[2], 'hex'), Buffer.from(digest(secret, match[1], rawBody), 'hex'));
}

function digest(secret, second, body) {
  return createHmac('sha256', secret).update(`${second}.`).update(body).digest('hex');
}

module.exports = { freeSecond, isSignedWebhook, requestSignature };
