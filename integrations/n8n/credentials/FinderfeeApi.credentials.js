'use strict';

/** One installation, and one API key of a brand there. */
class FinderfeeApi {
  name = 'finderfeeApi';

  displayName = 'Finderfee API';

  icon = 'file:finderfee.svg';

  properties = [
    {
      displayName: 'Base URL',
      name: 'baseUrl',
      type: 'string',
      default: '',
      required: true,
      placeholder: 'https://affiliates.example.com',
      description: 'The URL of your Finderfee',
    },
    {
      displayName: 'API Key',
      name: 'apiKey',
      type: 'string',
      typeOptions: { password: true },
      default: '',
      required: true,
      description: 'A key with read and write permission, from your organization’s settings',
    },
    {
      displayName: 'Signing Secret',
      name: 'signingSecret',
      type: 'string',
      typeOptions: { password: true },
      default: '',
      description: 'Shown once, together with the key. Record Sale, Record Lead and Refund Sale need it.',
    },
  ];

  authenticate = { type: 'generic', properties: { headers: { Authorization: '=Bearer {{$credentials.apiKey}}' } } };

  test = {
    request: { baseURL: '={{$credentials.baseUrl.replace(/\\/+$/, "")}}', url: '/api/v1/automation/connection' },
  };
}

module.exports = { FinderfeeApi };
