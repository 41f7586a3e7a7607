'use strict';

const App = require('../../index');

/** The errors that Zapier provides, as far as our app throws them. */
class AppError extends Error {
  constructor(message, code, status) {
    super(message);
    Object.assign(this, { name: 'AppError', code, status });
  }
}
class RefreshAuthError extends Error {}
class ThrottledError extends Error {
  constructor(message, delay) {
    super(message);
    this.delay = delay;
  }
}

/** Zapier's `z` object: requests that pass the app's middlewares, and errors. `sent` collects the requests. */
function zOf(bundle, sent = []) {
  const z = { errors: { Error: AppError, RefreshAuthError, ThrottledError }, sent };
  z.request = async (options) => {
    const request = App.beforeRequest.reduce((value, middleware) => middleware(value, z, bundle), {
      ...options,
      headers: { ...options.headers },
    });
    sent.push(request);
    const { url, method, headers, body, redirect } = request;
    const answer = await fetch(url, { method, headers, body, redirect });
    const response = { status: answer.status, headers: answer.headers, content: await answer.text(), request };
    return App.afterResponse.reduce((value, middleware) => middleware(value, z, bundle), response);
  };
  return z;
}

/** Return the connection of the tests; `changes` replace parts of it. */
function connection(changes = {}) {
  const { FF_URL: baseUrl, FF_KEY: apiKey, FF_SECRET: signingSecret } = process.env;
  return { baseUrl, apiKey, signingSecret, ...changes };
}

/** Call a function of the app as Zapier would in a step of a Zap. `sent` collects the requests. */
function call(work, inputData = {}, { authData = connection(), zap = '7', sent, ...more } = {}) {
  const bundle = { authData, inputData, meta: { zap: { id: zap } }, ...more };
  return work(zOf(bundle, sent), bundle);
}

/** Run an action or a search by its key. */
function act(key, inputData, options) {
  const { operation } = App.creates[key] ?? App.searches[key];
  return call(operation.perform, inputData, options);
}

module.exports = { App, AppError, RefreshAuthError, ThrottledError, act, call, connection };
