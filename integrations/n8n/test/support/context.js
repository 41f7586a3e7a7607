'use strict';

/** Return n8n's `this` of a node, as far as our nodes use it. `sent` collects its requests. */
function contextOf({ parameters = {}, items = [{}], credentials = {}, staticData = {}, url, ...more } = {}) {
  const sent = [];
  const { FF_URL: baseUrl, FF_KEY: apiKey, FF_SECRET: signingSecret } = process.env;
  return {
    sent,
    getCredentials: async () => ({ baseUrl, apiKey, signingSecret, ...credentials }),
    getWorkflow: () => ({ id: 'w1' }),
    getNode: () => ({ id: 'n1' }),
    getInputData: () => items.map((json) => ({ json })),
    // An item's own values represent expressions.
    getNodeParameter: (name, item = 0, fallback = undefined) => items[item]?.[name] ?? parameters[name] ?? fallback,
    getCurrentNodeParameter: (name) => parameters[name],
    getWorkflowStaticData: () => staticData,
    getNodeWebhookUrl: () => url,
    continueOnFail: () => false,
    helpers: { httpRequest: (options) => sendRequest(options, sent) },
    ...more,
  };
}

async function sendRequest(options, sent) {
  sent.push(options);
  const { method, url, headers, body, disableFollowRedirect } = options;
  const answer = await fetch(url, { method, headers, body, redirect: disableFollowRedirect ? 'manual' : 'follow' });
  const text = await answer.text();
  const isJson = (answer.headers.get('content-type') ?? '').includes('json');
  return {
    statusCode: answer.status,
    headers: Object.fromEntries(answer.headers),
    // n8n's client parses JSON responses regardless of the `json` option.
    body: isJson && text ? JSON.parse(text) : text,
  };
}

/** Return a webhook request as n8n passes it, and the response to it. */
function delivered({ body, signature }) {
  const response = { status: (code) => Object.assign(response, { code }), send: () => response, end: () => response };
  const request = {
    headers: { 'x-service-signature': signature },
    readRawBody: async () => Object.assign(request, { rawBody: Buffer.from(body) }),
  };
  return { response, getRequestObject: () => request, getResponseObject: () => response };
}

module.exports = { contextOf, delivered };
