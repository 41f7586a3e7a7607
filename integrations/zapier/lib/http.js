'use strict';

const { Api } = require('../common/api');
const { answerOf, Refusal, refusalOf } = require('../common/refusal');
const { addressOf, headersFor } = require('../common/requests');

/** Add the key, and the signature if needed, to a request to our API. */
function beforeRequest(request, z, bundle) {
  const headers = withZapierErrors(z, () => headersFor(request, bundle.authData));
  return { ...request, headers: { ...request.headers, ...headers } };
}

/** Return a successful response; for any other, throw the error that Zapier handles correctly. */
function afterResponse(response, z) {
  const refusal = refusalOf({
    status: response.status,
    header: (name) => response.headers.get(name),
    text: response.content,
    url: response.request.url,
  });
  if (refusal) throw errorOf(z, refusal);
  return response;
}

/** Return the API for a step of a Zap. */
function apiOf(z, bundle) {
  const send = async ({ method, path, query, body, key }) => {
    const url = withZapierErrors(z, () => addressOf(bundle.authData, path, query));
    const headers = key === undefined ? {} : { 'Idempotency-Key': key };
    // A redirect is an error here: it would turn a POST into a GET and send the key to another server.
    const response = await z.request({ method, url, body, headers, redirect: 'manual', skipThrowForStatus: true });
    return withZapierErrors(z, () => answerOf({ text: response.content, url }));
  };
  return new Api({ send, owner: `zap-${bundle.meta?.zap?.id ?? 'editor'}`, input: bundle.inputData });
}

/** Return a `perform` that runs `work(api, input)`. */
function perform(work) {
  return async (z, bundle) => {
    try {
      return await work(apiOf(z, bundle), bundle.inputData);
    } catch (error) {
      throw error instanceof Refusal ? errorOf(z, error) : error;
    }
  };
}

function withZapierErrors(z, work) {
  try {
    return work();
  } catch (error) {
    throw error instanceof Refusal ? errorOf(z, error) : error;
  }
}

function errorOf(z, refusal) {
  if (refusal.status === 401) return new z.errors.RefreshAuthError(refusal.message);
  if (refusal.status === 429) return new z.errors.ThrottledError(refusal.message, refusal.waitS);
  const error = new z.errors.Error(refusal.message, refusal.code, refusal.status);
  return Object.assign(error, { isRepeated: refusal.isRepeated });
}

module.exports = { afterResponse, apiOf, beforeRequest, perform };
