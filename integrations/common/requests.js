'use strict';

const { Refusal } = require('./refusal');
const { freeSecond, requestSignature } = require('./signing');

const SIGNED = '/api/tracking/';

/** Return the base URL of the connection without a trailing slash. Throws Refusal. */
function baseOf({ baseUrl }) {
  const text = String(baseUrl ?? '').trim().replace(/\/+$/, '');
  if (!/^https?:\/\/[^\s/?#@\\]+(\/[^\s?#\\]*)?$/i.test(text)) {
    throw new Refusal('The base URL must be an https address, such as https://affiliates.example.com.', { code: 'base_url_invalid' });
  }
  return text;
}

/** Return the URL of a path of the API; empty values of the query are left out. */
function addressOf(connection, path, query = {}) {
  const params = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const encoded = new URLSearchParams(params.map(([name, value]) => [name, String(value)])).toString();
  return baseOf(connection) + path + (encoded && `?${encoded}`);
}

/**
 * Return the headers of a request of this connection; `{}` for a URL outside the API, so that the key is never sent to
 * another server. Sales, leads and refunds are signed over `body`, the text that is sent. Throws Refusal.
 */
function headersFor({ url, body }, connection) {
  const base = baseOf(connection);
  if (!url.startsWith(`${base}/`)) return {};
  const headers = { Accept: 'application/json', Authorization: `Bearer ${String(connection.apiKey ?? '').trim()}` };
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  if (!url.startsWith(base + SIGNED)) return headers;
  const secret = String(connection.signingSecret ?? '').trim();
  if (!secret) {
    const message = 'Sales, leads and refunds must be signed: enter the signing secret of the API key in the connection.';
    throw new Refusal(message, { code: 'signing_secret_missing' });
  }
  return { ...headers, 'X-Service-Signature': requestSignature(secret, freeSecond(body), body) };
}

module.exports = { addressOf, baseOf, headersFor };
