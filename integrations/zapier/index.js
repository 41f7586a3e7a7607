'use strict';

const authentication = require('./authentication');
const creates = require('./actions');
const { afterResponse, beforeRequest } = require('./lib/http');
const searches = require('./searches');
const triggers = require('./triggers');
const { dependencies, version } = require('./package.json');

module.exports = {
  version,
  platformVersion: dependencies['zapier-platform-core'],
  authentication,
  beforeRequest: [beforeRequest],
  afterResponse: [afterResponse],
  triggers,
  creates,
  searches,
  searchOrCreates: {
    find_affiliate: {
      key: 'find_affiliate',
      display: { label: 'Find or Create Affiliate', description: 'Finds an affiliate by email or by slug, and creates one if there is none.' },
      search: 'find_affiliate',
      create: 'create_affiliate',
    },
  },
};
