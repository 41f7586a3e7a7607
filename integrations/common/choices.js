'use strict';

const { isBlank, part } = require('./input');

const TAKE = 100;

/** One page of `{ id, label }` and the cursor of the next page or null, of each list that a field can offer. */
const CHOICES = {
  async campaigns(api, _input, cursor) {
    return listed(await api.get('/api/v1/programs', { take: TAKE, cursor }));
  },

  async coupons(api, input, cursor) {
    if (isBlank(input.affiliateId)) return { choices: [], cursor: null };
    const { programId } = await api.get(`/api/v1/affiliates/${part(input.affiliateId)}`);
    const page = await api.get(`/api/v1/campaigns/${part(programId)}/coupons`, { take: TAKE, cursor });
    return listed(page, (coupon) => coupon.isActive);
  },
};

function listed({ items, nextCursor }, isOffered = () => true) {
  const choices = items.filter(isOffered).map(({ id, name }) => ({ id, label: name }));
  return { choices, cursor: nextCursor ?? null };
}

module.exports = { CHOICES };
