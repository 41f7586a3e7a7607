'use strict';

const { perform } = require('./lib/http');

/** A connection is one installation and one API key of a brand there. */
module.exports = {
  type: 'custom',
  fields: [
    {
      key: 'baseUrl',
      label: 'Base URL',
      type: 'string',
      required: true,
      helpText: 'Where your Finderfee runs.',
      placeholder: 'https://affiliates.example.com',
    },
    {
      key: 'apiKey',
      label: 'API Key',
      type: 'password',
      required: true,
      helpText: 'A key that may read and write, of your organization’s settings.',
    },
    {
      key: 'signingSecret',
      label: 'Signing Secret',
      type: 'password',
      required: false,
      helpText: 'Shown once, together with the key. Record Sale, Record Lead and Refund Sale need it; nothing else does.',
    },
  ],
  test: perform((api) => api.get('/api/v1/automation/connection')),
  connectionLabel: '{{organizationName}} (…{{keyHint}})',
};
