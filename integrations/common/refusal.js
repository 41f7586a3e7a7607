'use strict';

/** A request that the API refused, or that this package refused before sending it. `code` is stable, `message` is for people. */
class Refusal extends Error {
  /**
  * `status` is 0 if nothing was sent; `isRepeated` is true for a response that the API stored for an earlier request;
   * `waitS` is the number of seconds to wait after a 429.
   */
  constructor(message, { code = 'refused', status = 0, isRepeated = false, waitS = null } = {}) {
    super(message);
    this.name = 'Refusal';
    Object.assign(this, { code, status, isRepeated, waitS });
  }
}

const WAIT_S = 60;

/** Return the response as a Refusal, null if it is a success. `header(name)` returns a header or null; `text` is the body. */
function refusalOf({ status, header, text, url }) {
  if (status >= 200 && status < 300) return null;
  const isRepeated = header('Idempotency-Replayed') === 'true';
  if (status >= 300 && status < 400) {
    const message = `${url} redirects to ${header('Location') || 'another address'}. Enter the final address in the connection.`;
    return new Refusal(message, { code: 'redirected', status });
  }
  if (status === 401) {
    const message = 'The API key is invalid or was revoked, or the signing secret belongs to another key.';
    return new Refusal(message, { code: 'unauthorized', status });
  }
  if (status === 429) {
    const retryAfter = header('Retry-After') || '';
    const waitS = /^[1-9][0-9]{0,3}$/.test(retryAfter) ? Number(retryAfter) : WAIT_S;
    return new Refusal(`Too many requests; try again in ${waitS} seconds.`, { code: 'rate_limited', status, waitS });
  }
  const body = parseBody(text);
  return new Refusal(messageOf(body, status), { code: body.error || codeOf(status), status, isRepeated });
}

/** Return the parsed response, null for an empty one. Throws Refusal if it is not a response of the API. */
function answerOf({ text, url }) {
  if (!text) return null;
  try {
    return JSON.parse(text);
  } catch {
    const message = `The response of ${url} is not from the API. Check that the base URL is that of your Finderfee.`;
    throw new Refusal(message, { code: 'not_the_api', status: 502 });
  }
}

function messageOf(body, status) {
  if (typeof body.message === 'string' && body.message) return body.field ? `${body.message} (${body.field})` : body.message;
  const fields = body.errors && typeof body.errors === 'object' ? Object.entries(body.errors) : [];
  if (fields.length) return fields.map(([field, messages]) => `${field}: ${[].concat(messages).join(' ')}`).join(' · ');
  if (status === 404) return 'It does not exist, or it belongs to another organization.';
  return body.title || `The API responded with status ${status}.`;
}

function codeOf(status) {
  if (status === 404) return 'not_found';
  return status === 400 ? 'invalid_request' : `status_${status}`;
}

function parseBody(text) {
  try {
    const body = JSON.parse(text);
    return body && typeof body === 'object' ? body : {};
  } catch {
    return {};
  }
}

module.exports = { answerOf, Refusal, refusalOf };
