'use strict';

const http = require('node:http');
const { randomUUID } = require('node:crypto');

/** Call the service directly, without the tested code; as the brand of the tests, or with another key. */
async function callService(method, path, body, key = process.env.FF_KEY) {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const answer = await fetch(process.env.FF_URL + path, { method, headers, body: body && JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return text ? JSON.parse(text) : null;
}

/** Create a campaign that pays 20 %, and an affiliate in it with a link slug. */
async function campaignWithAffiliate(key) {
  const name = `Campaign ${randomUUID()}`;
  const terms = { name, defaultCommissionType: 'Percentage', defaultCommissionValue: 20 };
  const program = await callService('POST', '/api/v1/programs', terms, key);
  const person = { programId: program.id, email: `${randomUUID()}@example.com`, fullName: 'Robin Vale' };
  const affiliate = await callService('POST', '/api/v1/affiliates', person, key);
  return { program, affiliate, slug: affiliate.links[0].slug };
}

/** Connect the shop's gateway, and create an affiliate of the shop and a coupon whose codes can be minted. */
async function affiliateWithCoupon() {
  const { FF_SHOP_KEY: key, FF_SHOP_OWNER: owner, FF_SHOP_CONNECTION: connection } = process.env;
  await callService('POST', '/api/v1/connections', JSON.parse(connection), owner);
  const { program, affiliate } = await campaignWithAffiliate(key);
  const discount = { name: 'Partner 15', discountType: 'PercentOff', discountValue: 15, duration: 'Once' };
  const coupon = await callService('POST', `/api/v1/campaigns/${program.id}/coupons`, discount, key);
  return { affiliate, coupon, key };
}

/** Return a unique order number. */
const orderNumber = () => `order-${randomUUID()}`;

/** Start a server that gives every request the same response; `requests` stores them. Stops with the test. */
async function server(test, { status = 200, headers = {}, body = '' } = {}) {
  const requests = [];
  const waiting = [];
  const listener = http.createServer((request, response) => {
    const parts = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', () => {
      requests.push({ url: request.url, headers: request.headers, body: Buffer.concat(parts).toString() });
      response.writeHead(status, headers).end(body);
      waiting.splice(0).forEach((look) => look());
    });
  });
  await new Promise((ready) => listener.listen(0, '127.0.0.1', ready));
  test.after(() => listener.close());
  // Wait for a request for which `matches` returns true; earlier requests count too.
  const next = async (matches) => {
    for (;;) {
      const match = requests.find(matches);
      if (match) return match;
      await new Promise((look) => waiting.push(look));
    }
  };
  return { url: `${process.env.FF_HOOK}:${listener.address().port}`, requests, next };
}

module.exports = { affiliateWithCoupon, callService, campaignWithAffiliate, orderNumber, server };
