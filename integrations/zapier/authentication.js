'use strict';

const { perform } = require('./lib/http');

/** A connection: one installation and one API key of a brand there. */
module.exports = {
  type: 'custom',
  fields: [
    {
      key: 'baseUrl',
      label: 'Base URL',
      type: 'string',
      required: true,
      helpText: 'The URL of your Finderfee.',
      placeholder: 'https://affiliates.example.com',
    },
    {
      key: 'apiKey',
      label: 'API Key',
      type: 'password',
      required: true,
      helpText: 'A key with read and write permission, from your organization’s settings.',
    },
    {
      key: 'signingSecret',
      label: 'Signing Secret',
      type: 'password',
      required: false,
      helpText: 'Shown once, together with the key. Only Record Sale, Record Lead and Refund Sale need it.',
    },
  ],
  test: perform((api) => api.get('/api/v1/automation/connection')),
  connectionLabel: '{{organizationName}} (…{{keyHint}})',
};
