'use strict';

const { Api } = require('../common/api');
const { answerOf, refusalOf } = require('../common/refusal');
const { addressOf, headersFor } = require('../common/requests');

const CREDENTIAL = 'finderfeeApi';

/** Return the API for a node. `place` distinguishes calls that the same workflow makes in several places. */
async function apiOf(context, { place = '', input = {} } = {}) {
  const connection = await context.getCredentials(CREDENTIAL);
  const send = (request) => sendRequest(context, connection, request);
  return new Api({ send, owner: `n8n-${context.getWorkflow().id ?? 'unsaved'}-${place}`, input });
}

async function sendRequest(context, connection, { method, path, query, body, key }) {
  const url = addressOf(connection, path, query);
  const response = await context.helpers.httpRequest({
    method,
    url,
    headers: { ...headersFor({ url, body }, connection), ...(key === undefined ? {} : { 'Idempotency-Key': key }) },
    // A buffer is sent unchanged, so its bytes are those that were signed.
    ...(body === undefined ? {} : { body: Buffer.from(body) }),
    json: false,
    returnFullResponse: true,
    ignoreHttpStatusErrors: true,
    disableFollowRedirect: true,
  });
  const text = textOf(response.body);
  const header = (name) => response.headers[name.toLowerCase()] ?? null;
  const refusal = refusalOf({ status: response.statusCode, header, text, url });
  if (refusal) throw refusal;
  return answerOf({ text, url });
}

// n8n may already have parsed a body that looks like JSON.
function textOf(body) {
  if (body === undefined || body === null) return '';
  return typeof body === 'string' || Buffer.isBuffer(body) ? body.toString() : JSON.stringify(body);
}

module.exports = { CREDENTIAL, apiOf };
