'use strict';

const http = require('node:http');
const { randomUUID } = require('node:crypto');

/** Ask the service itself, beside what is tested; as the brand of the tests, or with another key. */
async function ask(method, path, body, key = process.env.FF_KEY) {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const answer = await fetch(process.env.FF_URL + path, { method, headers, body: body && JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return text ? JSON.parse(text) : null;
}

/** Make a campaign that pays 20 %, and an affiliate in it whom a slug leads to. */
async function campaignWithAffiliate(key) {
  const name = `Campaign ${randomUUID()}`;
  const terms = { name, defaultCommissionType: 'Percentage', defaultCommissionValue: 20 };
  const program = await ask('POST', '/api/v1/programs', terms, key);
  const person = { programId: program.id, email: `${randomUUID()}@example.com`, fullName: 'Robin Vale' };
  const affiliate = await ask('POST', '/api/v1/affiliates', person, key);
  return { program, affiliate, slug: affiliate.links[0].slug };
}

/** Connect the shop's gateway, and make an affiliate of the shop with a coupon that codes can be minted of. */
async function affiliateWithCoupon() {
  const { FF_SHOP_KEY: key, FF_SHOP_OWNER: owner, FF_SHOP_CONNECTION: connection } = process.env;
  await ask('POST', '/api/v1/connections', JSON.parse(connection), owner);
  const { program, affiliate } = await campaignWithAffiliate(key);
  const discount = { name: 'Partner 15', discountType: 'PercentOff', discountValue: 15, duration: 'Once' };
  const coupon = await ask('POST', `/api/v1/campaigns/${program.id}/coupons`, discount, key);
  return { affiliate, coupon, key };
}

/** A number of an order that nobody else has. */
const orderNumber = () => `order-${randomUUID()}`;

/** A server that answers everything in one way; `asked` keeps what came. Ends with the test. */
async function server(test, { status = 200, headers = {}, body = '' } = {}) {
  const asked = [];
  const waiting = [];
  const made = http.createServer((request, response) => {
    const parts = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', () => {
      asked.push({ url: request.url, headers: request.headers, body: Buffer.concat(parts).toString() });
      response.writeHead(status, headers).end(body);
      waiting.splice(0).forEach((look) => look());
    });
  });
  await new Promise((ready) => made.listen(0, '127.0.0.1', ready));
  test.after(() => made.close());
  // The next request that `isWanted`, also one that came before.
  const next = async (isWanted) => {
    for (;;) {
      const found = asked.find(isWanted);
      if (found) return found;
      await new Promise((look) => waiting.push(look));
    }
  };
  return { url: `${process.env.FF_HOOK}:${made.address().port}`, asked, next };
}

module.exports = { affiliateWithCoupon, ask, campaignWithAffiliate, orderNumber, server };
