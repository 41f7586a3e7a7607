'use strict';

const { EVENTS, flattened, keyOf } = require('./common/events');
const { apiOf } = require('./lib/http');
const SAMPLES = require('./samples.json');

/** The nine triggers, each a webhook that Zapier puts up when a Zap is switched on and takes down when it is off. */
const triggers = EVENTS.map(({ type, label, noun, description, caution }) => ({
  key: keyOf(type),
  noun,
  display: { label, description: `${description} ${caution}` },
  operation: {
    type: 'hook',
    performSubscribe: (z, bundle) =>
      apiOf(z, bundle).postAgain('/api/v1/automation/hooks', { event: type, targetUrl: bundle.targetUrl }),
    performUnsubscribe: async (z, bundle) => {
      await apiOf(z, bundle).delete(`/api/v1/automation/hooks/${encodeURIComponent(bundle.subscribeData.id)}`);
      return {};
    },
    perform: (_z, bundle) => recordsOf(type, [bundle.cleanedRequest]),
    performList: async (z, bundle) =>
      recordsOf(type, await apiOf(z, bundle).get(`/api/v1/automation/events/${type}/samples`, { limit: 3 })),
    sample: flattened(SAMPLES[type]),
  },
}));

// The dashboard's Test sends an event of another type to an endpoint: nothing has happened.
function recordsOf(type, envelopes) {
  return envelopes.filter((envelope) => envelope && envelope.type === type).map(flattened);
}

module.exports = Object.fromEntries(triggers.map((trigger) => [trigger.key, trigger]));
