'use strict';

const { EVENTS, flattenEvent } = require('../../common/events');
const { isSignedWebhook } = require('../../common/signing');
const { apiOf, CREDENTIAL } = require('../../lib/http');

const HOOKS = '/api/v1/automation/hooks';

/** Starts a workflow on one of nine events, which the service posts to a hook while the workflow is active. */
class FinderfeeTrigger {
  description = {
    displayName: 'Finderfee Trigger',
    name: 'finderfeeTrigger',
    icon: 'file:finderfee.svg',
    group: ['trigger'],
    version: 1,
    subtitle: '={{$parameter["event"]}}',
    description: 'Starts when something happens in your affiliate program',
    defaults: { name: 'Finderfee Trigger' },
    inputs: [],
    outputs: ['main'],
    credentials: [{ name: CREDENTIAL, required: true }],
    webhooks: [{ name: 'default', httpMethod: 'POST', responseMode: 'onReceived', path: 'webhook' }],
    properties: [
      {
        displayName: 'Event',
        name: 'event',
        type: 'options',
        required: true,
        default: EVENTS[0].type,
        options: EVENTS.map(({ type, label, description, caution }) => ({
          name: label,
          value: type,
          description: `${description} ${caution}`,
        })),
      },
    ],
  };

  webhookMethods = { default: { checkExists, create, delete: remove } };

  async webhook() {
    const stored = hookOf(this);
    const request = this.getRequestObject();
    const body = await rawBodyOf(request);
    if (!stored || !isSignedWebhook(stored.secret, request.headers['x-service-signature'], body)) {
      // Refuse it instead of dropping it, so that the service retries in case the secret is not stored yet.
      this.getResponseObject().status(401).send('The signature is not that of the webhook created by this workflow.').end();
      return { noWebhookResponse: true };
    }
    const envelope = JSON.parse(body);
    return envelope.type === stored.event ? { workflowData: [[{ json: flattenEvent(envelope) }]] } : {};
  }
}

async function checkExists() {
  const stored = hookOf(this);
  if (!stored || stored.event !== this.getNodeParameter('event')) return false;
  try {
    await (await apiOf(this)).get(`/api/v1/webhooks/${stored.id}`);
    return true;
  } catch (error) {
    if (error.status === 404) return false;
    throw error;
  }
}

async function create() {
  const api = await apiOf(this);
  const target = { event: this.getNodeParameter('event'), targetUrl: this.getNodeWebhookUrl('default') };
  let hook = await api.postWithoutKey(HOOKS, target);
  if (!hook.secret) {
    // The hook existed before, and its secret is shown only once: only a new hook can be verified.
    await api.delete(`${HOOKS}/${hook.id}`);
    hook = await api.postWithoutKey(HOOKS, target);
  }
  this.getWorkflowStaticData('node')[target.targetUrl] = { id: hook.id, secret: hook.secret, event: target.event };
  return true;
}

async function remove() {
  const stored = hookOf(this);
  if (!stored) return true;
  try {
    await (await apiOf(this)).delete(`${HOOKS}/${stored.id}`);
  } catch {
    return false;
  }
  delete this.getWorkflowStaticData('node')[this.getNodeWebhookUrl('default')];
  return true;
}

// Stored by URL, since the editor's test uses another URL than the active workflow.
function hookOf(context) {
  return context.getWorkflowStaticData('node')[context.getNodeWebhookUrl('default')];
}

async function rawBodyOf(request) {
  if (request.rawBody === undefined && request.readRawBody) await request.readRawBody();
  return request.rawBody ?? '';
}

module.exports = { FinderfeeTrigger };
