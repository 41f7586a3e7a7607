'use strict';

const ACTIONS = require('../../common/actions');
const { CHOICES } = require('../../common/choices');
const { runSearch, SEARCHES } = require('../../common/searches');
const { apiOf, CREDENTIAL } = require('../../lib/http');
const { property } = require('../../lib/properties');

const OPERATIONS = [
  ...ACTIONS.map((action) => ({ ...action, rows: async (api, input) => [await action.run(api, input)] })),
  ...SEARCHES.map((search) => ({ ...search, rows: (api, input) => runSearch(search, api, input) })),
];

/** The nine actions and the four searches. */
class Finderfee {
  description = {
    displayName: 'Finderfee',
    name: 'finderfee',
    icon: 'file:finderfee.svg',
    group: ['transform'],
    version: 1,
    subtitle: '={{$parameter["operation"]}}',
    description: 'Record sales and refunds of affiliates, manage affiliates, and find their conversions and payouts',
    defaults: { name: 'Finderfee' },
    inputs: ['main'],
    outputs: ['main'],
    credentials: [{ name: CREDENTIAL, required: true }],
    properties: [
      {
        displayName: 'Operation',
        name: 'operation',
        type: 'options',
        noDataExpression: true,
        default: OPERATIONS[0].key,
        options: OPERATIONS.map(({ key, label, description }) => ({ name: label, value: key, action: label, description })),
      },
      ...OPERATIONS.flatMap(({ key, fields }) => fields.map((field) => property(key, field))),
    ],
  };

  methods = { loadOptions: Object.fromEntries(Object.keys(CHOICES).map((name) => [name, loader(name)])) };

  async execute() {
    const results = [];
    for (const [item] of this.getInputData().entries()) {
      const pairedItem = { item };
      try {
        results.push(...(await rowsOf(this, item)).map((json) => ({ json, pairedItem })));
      } catch (error) {
        if (!this.continueOnFail()) throw Object.assign(error, { context: { itemIndex: item } });
        results.push({ json: { error: error.message, code: error.code ?? null }, pairedItem });
      }
    }
    return [results];
  }
}

async function rowsOf(context, item) {
  const key = context.getNodeParameter('operation', item);
  const { fields, rows } = OPERATIONS.find((operation) => operation.key === key);
  const input = Object.fromEntries(fields.map((field) => [field.key, context.getNodeParameter(field.key, item, '')]));
  // Two equal items are two requests; only the same item, run again, is skipped.
  return rows(await apiOf(context, { place: `${context.getNode().id ?? ''}-${item}`, input }), input);
}

function loader(name) {
  return async function load() {
    const input = { affiliateId: this.getCurrentNodeParameter('affiliateId') };
    const api = await apiOf(this);
    const options = [];
    let cursor;
    do {
      const page = await CHOICES[name](api, input, cursor);
      options.push(...page.choices.map(({ id, label }) => ({ name: label, value: id })));
      cursor = page.cursor;
    } while (cursor);
    return options;
  };
}

module.exports = { Finderfee };
