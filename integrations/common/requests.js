'use strict';

const { Refusal } = require('./refusal');
const { freeSecond, requestSignature } = require('./signing');

const SIGNED = '/api/tracking/';

/** Return where the API is, without a slash at the end, as the connection says. Throws Refusal. */
function baseOf({ baseUrl }) {
  const text = String(baseUrl ?? '').trim().replace(/\/+$/, '');
  if (!/^https?:\/\/[^\s/?#@\\]+(\/[^\s?#\\]*)?$/i.test(text)) {
    throw new Refusal('The base URL is an https address, such as https://affiliates.example.com.', { code: 'base_url_invalid' });
  }
  return text;
}

/** Return the address of a path of the API; a query's empty values are left out. */
function addressOf(connection, path, query = {}) {
  const said = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const asked = new URLSearchParams(said.map(([name, value]) => [name, String(value)])).toString();
  return baseOf(connection) + path + (asked && `?${asked}`);
}

/**
 * Return the headers that a request of this connection carries, `{}` for an address that is not the API's: the key is
 * told to nobody else. Sales, leads and refunds are signed over `body`, the text that is sent. Throws Refusal.
 */
function headersFor({ url, body }, connection) {
  const base = baseOf(connection);
  if (!url.startsWith(`${base}/`)) return {};
  const headers = { Accept: 'application/json', Authorization: `Bearer ${String(connection.apiKey ?? '').trim()}` };
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  if (!url.startsWith(base + SIGNED)) return headers;
  const secret = String(connection.signingSecret ?? '').trim();
  if (!secret) {
    const message = 'Sales, leads and refunds are signed: put the signing secret of the API key into the connection.';
    throw new Refusal(message, { code: 'signing_secret_missing' });
  }
  return { ...headers, 'X-Service-Signature': requestSignature(secret, freeSecond(body), body) };
}

module.exports = { addressOf, baseOf, headersFor };
