'use strict';

const assert = require('node:assert/strict');
const path = require('node:path');
const test = require('node:test');

const { NodeHelpers, Workflow } = require('n8n-workflow');
const { n8n } = require('../../package.json');

/** Load a file as n8n does: the class has the name of the file. */
function loadClass(file) {
  const name = path.basename(file).split('.')[0];
  return new (require(path.join('../..', file))[name])();
}

const [action, trigger] = n8n.nodes.map(loadClass);
const types = { finderfee: action, finderfeeTrigger: trigger };
const nodeTypes = { getByNameAndVersion: (name) => types[name], getByName: (name) => types[name], getKnownTypes: () => ({}) };

function node(type, parameters) {
  return { id: type, name: type, type, typeVersion: 1, position: [0, 0], parameters };
}

test('n8n displays the parameters of each operation and reports missing required ones', () => {
  const { properties } = action.description;
  for (const { value: operation } of properties[0].options) {
    const instance = node('finderfee', { operation });
    const displayed = NodeHelpers.getNodeParameters(properties, instance.parameters, true, false, instance, action.description);
    const expected = properties.filter(({ displayOptions }) => displayOptions?.show.operation[0] === operation);
    assert.deepEqual(Object.keys(displayed), ['operation', ...expected.map(({ name }) => name)], operation);

    const { parameters: missing = {} } = NodeHelpers.getNodeParametersIssues(properties, { ...instance, parameters: displayed }, action.description) ?? {};
    const required = expected.filter((property) => property.required && property.default === '').map(({ name }) => name);
    assert.deepEqual(Object.keys(missing).sort(), required.sort(), operation);
  }
});

test('n8n loads the trigger, its webhook and the credential', () => {
  const start = node('finderfeeTrigger', { event: 'conversion.created' });
  const flow = new Workflow({ id: 'w1', nodes: [start], connections: {}, active: true, nodeTypes });
  assert.deepEqual(flow.getTriggerNodes().concat(flow.queryNodes((type) => Boolean(type.webhook))).map(({ name }) => name), ['finderfeeTrigger']);
  const [{ path: end }] = trigger.description.webhooks;
  assert.match(NodeHelpers.getNodeWebhookUrl('https://n8n.example/webhook', 'w1', start, end, false), /finderfeetrigger\/webhook$/);
  assert.deepEqual(Object.keys(trigger.webhookMethods.default), ['checkExists', 'create', 'delete']);

  const [credential] = n8n.credentials.map(loadClass);
  assert.deepEqual([action, trigger].map(({ description }) => description.credentials[0].name), [credential.name, credential.name]);
});
