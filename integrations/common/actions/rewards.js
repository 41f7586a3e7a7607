'use strict';

const { isBlank, part, text } = require('../input');
const { toMinor, withMajor } = require('../money');

const AFFILIATE = {
  key: 'affiliateId',
  label: 'Affiliate',
  help: 'The affiliate’s id, from a trigger or from Find Affiliate.',
  required: true,
  foundBy: 'find_affiliate.id',
};

const addCommission = {
  key: 'add_commission',
  label: 'Add Commission',
  noun: 'Commission',
  description: 'Credits an affiliate with a sale or a bonus by hand. The commission will be paid.',
  fields: [
    AFFILIATE,
    { key: 'kind', label: 'Kind', required: true, choices: { sale: 'Sale', bonus: 'Bonus' } },
    { key: 'amount', label: 'Sale Amount', help: 'In major units. A bonus has none.' },
    { key: 'commission', label: 'Commission', help: 'In major units. For a sale, empty means the campaign’s rate.' },
    { key: 'currency', label: 'Currency', help: 'Three letters. Your home currency if empty.' },
    {
      key: 'note',
      label: 'Note',
      help: 'The same commission with the same note within an hour is added once.',
      type: 'text',
    },
  ],
  sample: {
    id: '0d8f5d2e-6c1b-4c0e-9a57-3f0c5f1f7a11',
    affiliateId: '7b1f6a3c-52d4-4e8f-8a60-2c9d4e5b6f22',
    programId: 'c4e2a9d0-1f37-45b8-b6c1-8d7e6f5a4b33',
    amountCents: 4900,
    amount: '49.00',
    currency: 'USD',
    commissionCents: 980,
    commission: '9.80',
    status: 'Pending',
    type: 'OneTime',
    note: 'Sold at the fair',
  },

  async run(api, input) {
    const currency = text(input.currency) ?? (await api.get('/api/v1/settings/home-currency')).homeCurrency;
    const [amountCents, commissionCents] = [input.amount, input.commission].map((typed) =>
      isBlank(typed) ? undefined : toMinor(typed, currency),
    );
    const { programId } = await api.get(`/api/v1/affiliates/${part(input.affiliateId)}`);
    const { conversion, note } = await api.post('/api/v1/conversions', {
      programId,
      affiliateId: text(input.affiliateId),
      kind: text(input.kind),
      amountCents,
      commissionCents,
      currency,
      note: text(input.note),
    });
    return withMajor({ ...conversion, note });
  },
};

const createCoupon = {
  key: 'create_coupon_code',
  label: 'Create Coupon Code',
  noun: 'Coupon Code',
  description: 'Creates a discount code that credits one affiliate.',
  fields: [
    AFFILIATE,
    { key: 'campaignCouponId', label: 'Campaign Coupon', required: true, from: 'coupons', dependsOn: 'affiliateId' },
    { key: 'code', label: 'Code', help: '3 to 32 of A-Z, 0-9, hyphen and underscore. Generated if empty.' },
  ],
  sample: {
    id: 'a1c3e5b7-d9f0-4826-b4d6-9e8f7a6b5c66',
    campaignCouponId: '2f6d8b1e-97a3-4c54-8e1f-6b5c4d3e2f55',
    affiliateId: '7b1f6a3c-52d4-4e8f-8a60-2c9d4e5b6f22',
    code: 'ROBIN15',
    status: 'Active',
  },

  run: (api, input) =>
    api.post(`/api/v1/affiliates/${part(input.affiliateId)}/coupons`, {
      campaignCouponId: text(input.campaignCouponId),
      code: text(input.code),
    }),
};

module.exports = [addCommission, createCoupon];
