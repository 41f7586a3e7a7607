'use strict';

const { EVENTS, flattened } = require('../../common/events');
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
    const kept = hookOf(this);
    const request = this.getRequestObject();
    const body = await rawBodyOf(request);
    if (!kept || !isSignedWebhook(kept.secret, request.headers['x-service-signature'], body)) {
      // Refused and not dropped: the service tries again, should the secret only not be kept yet.
      this.getResponseObject().status(401).send('This is not signed by the hook that was put up here.').end();
      return { noWebhookResponse: true };
    }
    const envelope = JSON.parse(body);
    return envelope.type === kept.event ? { workflowData: [[{ json: flattened(envelope) }]] } : {};
  }
}

async function checkExists() {
  const kept = hookOf(this);
  if (!kept || kept.event !== this.getNodeParameter('event')) return false;
  try {
    await (await apiOf(this)).get(`/api/v1/webhooks/${kept.id}`);
    return true;
  } catch (error) {
    if (error.status === 404) return false;
    throw error;
  }
}

async function create() {
  const api = await apiOf(this);
  const wanted = { event: this.getNodeParameter('event'), targetUrl: this.getNodeWebhookUrl('default') };
  let hook = await api.postAgain(HOOKS, wanted);
  if (!hook.secret) {
    // It stands from before, and its secret is shown once: only a new one can be verified.
    await api.delete(`${HOOKS}/${hook.id}`);
    hook = await api.postAgain(HOOKS, wanted);
  }
  this.getWorkflowStaticData('node')[wanted.targetUrl] = { id: hook.id, secret: hook.secret, event: wanted.event };
  return true;
}

async function remove() {
  const kept = hookOf(this);
  if (!kept) return true;
  try {
    await (await apiOf(this)).delete(`${HOOKS}/${kept.id}`);
  } catch {
    return false;
  }
  delete this.getWorkflowStaticData('node')[this.getNodeWebhookUrl('default')];
  return true;
}

// By address: the editor's test has another one than the active workflow.
function hookOf(context) {
  return context.getWorkflowStaticData('node')[context.getNodeWebhookUrl('default')];
}

async function rawBodyOf(request) {
  if (request.rawBody === undefined && request.readRawBody) await request.readRawBody();
  return request.rawBody ?? '';
}

module.exports = { FinderfeeTrigger };
