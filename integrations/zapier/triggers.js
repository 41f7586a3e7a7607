'use strict';

const { EVENTS, flattenEvent, keyOf } = require('./common/events');
const { apiOf } = require('./lib/http');
const SAMPLES = require('./samples.json');

/** The nine triggers: for each, Zapier creates a webhook when a Zap is switched on and deletes it when it is switched off. */
const triggers = EVENTS.map(({ type, label, noun, description, caution }) => ({
  key: keyOf(type),
  noun,
  display: { label, description: `${description} ${caution}` },
  operation: {
    type: 'hook',
    performSubscribe: (z, bundle) =>
      apiOf(z, bundle).postWithoutKey('/api/v1/automation/hooks', { event: type, targetUrl: bundle.targetUrl }),
    performUnsubscribe: async (z, bundle) => {
      await apiOf(z, bundle).delete(`/api/v1/automation/hooks/${encodeURIComponent(bundle.subscribeData.id)}`);
      return {};
    },
    perform: (_z, bundle) => recordsOf(type, [bundle.cleanedRequest]),
    performList: async (z, bundle) =>
      recordsOf(type, await apiOf(z, bundle).get(`/api/v1/automation/events/${type}/samples`, { limit: 3 })),
    sample: flattenEvent(SAMPLES[type]),
  },
}));

// Skip the dashboard's test event, which has another type and reports no real change.
function recordsOf(type, envelopes) {
  return envelopes.filter((envelope) => envelope && envelope.type === type).map(flattenEvent);
}

module.exports = Object.fromEntries(triggers.map((trigger) => [trigger.key, trigger]));
