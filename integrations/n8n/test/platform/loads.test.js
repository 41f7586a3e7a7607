'use strict';

const assert = require('node:assert/strict');
const path = require('node:path');
const test = require('node:test');

const { NodeHelpers, Workflow } = require('n8n-workflow');
const { n8n } = require('../../package.json');

/** Load a file as n8n does: the class has the name of the file. */
function loaded(file) {
  const name = path.basename(file).split('.')[0];
  return new (require(path.join('../..', file))[name])();
}

const [action, trigger] = n8n.nodes.map(loaded);
const types = { finderfee: action, finderfeeTrigger: trigger };
const nodeTypes = { getByNameAndVersion: (name) => types[name], getByName: (name) => types[name], getKnownTypes: () => ({}) };

function node(type, parameters) {
  return { id: type, name: type, type, typeVersion: 1, position: [0, 0], parameters };
}

test('n8n makes a workflow of the nodes, and asks for what each operation needs', () => {
  const { properties } = action.description;
  for (const { value: operation } of properties[0].options) {
    const made = node('finderfee', { operation });
    const shown = NodeHelpers.getNodeParameters(properties, made.parameters, true, false, made, action.description);
    const wanted = properties.filter(({ displayOptions }) => displayOptions?.show.operation[0] === operation);
    assert.deepEqual(Object.keys(shown), ['operation', ...wanted.map(({ name }) => name)], operation);

    const { parameters: missing = {} } = NodeHelpers.getNodeParametersIssues(properties, { ...made, parameters: shown }, action.description) ?? {};
    const required = wanted.filter((property) => property.required && property.default === '').map(({ name }) => name);
    assert.deepEqual(Object.keys(missing).sort(), required.sort(), operation);
  }
});

test('n8n finds the trigger, its webhook and the credential', () => {
  const start = node('finderfeeTrigger', { event: 'conversion.created' });
  const flow = new Workflow({ id: 'w1', nodes: [start], connections: {}, active: true, nodeTypes });
  assert.deepEqual(flow.getTriggerNodes().concat(flow.queryNodes((type) => Boolean(type.webhook))).map(({ name }) => name), ['finderfeeTrigger']);
  const [{ path: end }] = trigger.description.webhooks;
  assert.match(NodeHelpers.getNodeWebhookUrl('https://n8n.example/webhook', 'w1', start, end, false), /finderfeetrigger\/webhook$/);
  assert.deepEqual(Object.keys(trigger.webhookMethods.default), ['checkExists', 'create', 'delete']);

  const [credential] = n8n.credentials.map(loaded);
  assert.deepEqual([action, trigger].map(({ description }) => description.credentials[0].name), [credential.name, credential.name]);
});
