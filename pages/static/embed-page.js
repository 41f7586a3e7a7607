// The page in the frame of a brand's site. Its token comes behind the # or in a message, stays in memory, and goes to our
// own origin alone. Messages go to one origin that the token names, and come from there. docs/embed.md has the protocol.
(() => {
  'use strict';
  const $ = id => document.getElementById(id);
  const root = document.documentElement, { origins, exponents, words } = Object.fromEntries(
    Object.entries(document.body.dataset).map(([name, text]) => [name, JSON.parse(text)]));
  const framed = parent !== window, SOURCE = 'finderfee-embed', TOKEN = /^ff_emb_[\w-]{64}$/;
  const FONTS = { system: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif', serif: 'Georgia, "Times New Roman", serif',
    mono: 'ui-monospace, Menlo, Consolas, monospace', rounded: 'ui-rounded, "SF Pro Rounded", system-ui, sans-serif' };
  const above = framed && location.ancestorOrigins ? location.ancestorOrigins[0] : null;
  let told = origins.includes(above) ? above : null;
  let token = null, locale = 'en', accent = null, height = -1, due = false, turn = 0, current = null, shown = null;

  // ---- messages ----

  function tell(type, more) {
    if (framed && told) parent.postMessage({ source: SOURCE, v: 1, type, ...more }, told);
  }

  addEventListener('message', event => {
    const said = event.data;
    if (!framed || event.source !== parent || !origins.includes(event.origin) || (told && told !== event.origin)) return;
    if (!said || typeof said !== 'object' || said.source !== SOURCE || said.v !== 1) return;
    told = event.origin;
    if (said.type === 'hello') {
      root.classList.add('grows');
      height = -1;
      measure();
      if (current) tell(current.type, current.more);
    }
    if (said.type === 'theme') theme(said);
    if (said.type === 'token' && TOKEN.test(said.token)) {
      token = said.token;
      load();
    }
  });

  function state(type, more) {
    current = { type, more };
    tell(type, more);
  }

  function measure() {
    if (due) return;
    due = true;
    requestAnimationFrame(() => {
      due = false;
      const now = Math.min(20000, Math.ceil($('page').getBoundingClientRect().height));
      if (now !== height) tell('height', { height: now });
      if (told) height = now;
    });
  }
  new ResizeObserver(measure).observe($('page'));

  // ---- looks: values of a grammar, set one by one, never text of a style ----

  const parts = color => [1, 3, 5].map(at => parseInt(color.slice(at, at + 2), 16) / 255);
  function light(color) {
    const [r, g, b] = parts(color).map(one => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }
  const contrast = (one, other) => {
    const [more, less] = [light(one), light(other)].sort((a, b) => b - a);
    return (more + 0.05) / (less + 0.05);
  };
  const readable = on => contrast('#16201b', on) >= contrast('#ffffff', on) ? '#16201b' : '#ffffff';
  const color = value => typeof value === 'string' && /^#[0-9a-f]{6}$/i.test(value) ? value.toLowerCase() : null;
  const set = (name, value) => root.style.setProperty(name, value);

  function theme(asked) {
    if (['light', 'dark', 'system'].includes(asked.mode)) root.style.colorScheme = asked.mode === 'system' ? 'light dark' : asked.mode;
    const ground = color(asked.background), ink = color(asked.text);
    if (ground) {
      set('--bg', ground);
      set('--text', ink && contrast(ink, ground) >= 4.5 ? ink : readable(ground));
      set('--wrong', 'var(--text)');
    }
    accent = color(asked.accent) ?? accent;
    paint();
    const radius = Number(asked.radius);
    if (asked.radius !== undefined && asked.radius !== '' && radius >= 0 && radius <= 24) set('--radius', `${radius}px`);
    if (Object.hasOwn(FONTS, asked.font)) set('--font', FONTS[asked.font]);
    if (typeof asked.locale === 'string') {
      try {
        [locale = 'en'] = Intl.getCanonicalLocales(asked.locale);
        if (shown) show(shown);
      } catch { /* no locale that there is */ }
    }
    measure();
  }

  // The accent is a brand's own: it is moved towards the ink until it stands out from the ground.
  function paint() {
    const wanted = accent ?? color(shown?.me.brand.primaryBrandColor);
    if (!wanted) return;
    const hex = rgb => '#' + rgb.map(one => Math.round(one).toString(16).padStart(2, '0')).join('');
    const ground = hex(getComputedStyle(document.body).backgroundColor.match(/[\d.]+/g).slice(0, 3).map(Number)), ink = readable(ground);
    let found = wanted;
    for (let step = 1; contrast(found, ground) < 3 && step <= 10; step += 1)
      found = hex(parts(wanted).map((one, at) => 255 * (one + (parts(ink)[at] - one) * step / 10)));
    set('--accent', found);
    set('--on-accent', readable(found));
  }
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', paint);

  // ---- how values look ----

  function money(minor, currency) {
    const decimals = exponents[currency] ?? 2, number = minor / 10 ** decimals;
    return `${new Intl.NumberFormat(locale, { minimumFractionDigits: decimals, maximumFractionDigits: decimals }).format(number)} ${currency}`;
  }
  const several = sums => Object.entries(sums).filter(([, cents]) => cents).map(([code, cents]) => money(cents, code)).join(' + ') || '–';
  const number = value => new Intl.NumberFormat(locale).format(value);
  const day = (at, zone) => new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: zone }).format(new Date(at));
  const fill = (name, value) => words[name].replace('{}', value);
  const word = name => words[name] ?? name;

  function made(tag, more, ...inside) {
    const one = Object.assign(document.createElement(tag), more);
    one.append(...inside);
    return one;
  }
  const row = (first, ...cells) => made('tr', {}, made('th', { scope: 'row', textContent: first }), ...cells);
  // Rows of a table, each cell with the words of its column for where there is no room for columns.
  function fillTable(name, rows) {
    const heads = [...$(name).closest('table').querySelectorAll('thead th')].map(head => head.textContent);
    for (const one of rows) [...one.cells].forEach((part, at) => { if (at) part.dataset.label = heads[at]; });
    $(name).replaceChildren(...rows);
  }
  const cell = (text, more) => made('td', { textContent: text, ...more });
  const amount = text => cell(text, { className: 'num' });

  // ---- what is asked ----

  class Refusal extends Error {
    constructor(status, body) {
      super(body.message || body.title || '');
      this.status = status;
      this.code = body.error || { 401: 'token_expired', 429: 'rate_limited' }[status] || 'failed';
      this.fields = body.errors;
    }
  }

  async function ask(path, body) {
    const headers = { Authorization: `Bearer ${token}` };
    if (body) headers['Content-Type'] = 'application/json';
    const answer = await fetch(`/api/v1/embed${path}`, { method: body ? 'POST' : 'GET', headers, credentials: 'omit',
      cache: 'no-store', referrerPolicy: 'no-referrer', body: body && JSON.stringify(body) });
    if (!answer.ok) throw new Refusal(answer.status, await answer.json().catch(() => ({})));
    return answer.json();
  }

  function failed(error) {
    if (error.status === 401) {
      token = null;
      $('content').hidden = true;
      $('said').textContent = words.expired;
      return state('token-expired');
    }
    $('said').textContent = error.status === 402 ? words.plan : words.failed;
    state('error', { code: error.code || 'unreachable' });
  }

  async function load() {
    const mine = ++turn;
    try {
      const path = `/me?days=${$('days').value}`;
      const [me, conversions, payouts] = await Promise.all([ask(path), ask('/me/conversions?take=10'), ask('/me/payouts?take=10')]);
      if (mine !== turn) return;
      show({ me, lists: { conversions: [conversions], payouts: [payouts] } });
      $('content').hidden = false;
      $('said').textContent = '';
      state('ready');
    } catch (error) {
      if (mine === turn) failed(error);
    }
  }

  // ---- what is shown ----

  function show(all) {
    shown = all;
    const { me } = all;
    root.lang = 'en';
    $('title').textContent = me.brand.name === me.program.name ? me.brand.name : `${me.brand.name}: ${me.program.name}`;
    $('terms').textContent = me.program.commission;
    paint();
    $('logo').hidden = !me.brand.logoUrl;
    if (me.brand.logoUrl) $('logo').src = new URL(me.brand.logoUrl).pathname;
    links(me);
    balances(me);
    series(me.series);
    list('conversions', one => [
      day(one.occurredAt),
      cell(word(one.type)),
      made('td', {}, word(one.state), ...(one.locked ? [made('small', { textContent: word('locked') })] : []), ...(one.state === 'Held' && one.payableAt ? [made('small', { textContent: fill('from', day(one.payableAt)) })] : [])),
      amount(money(one.commissionCents, one.currency)),
    ]);
    list('payouts', one => [
      day(one.paidAt ?? one.createdAt),
      cell(word(one.voidedAt ? 'Voided' : one.status)),
      amount(money(one.amountCents, one.currency)),
    ]);
  }

  function links(me) {
    $('links').replaceChildren(...me.links.map((link, at) => {
      const id = `link-${at}`, label = `${words.link} ${link.slug}`;
      const copy = made('button', { type: 'button', textContent: words.copy }, made('span', { className: 'unseen', textContent: ` ${label}` }));
      copy.dataset.copy = id;
      return made('li', { className: 'row' }, made('input', { id, value: link.url, readOnly: true, ariaLabel: label }), copy);
    }));
    $('more-links').hidden = me.linksLeft <= 0;
    $('recruit').hidden = !me.recruitingUrl;
    $('recruit-url').value = me.recruitingUrl ?? '';
  }

  function balances(me) {
    fillTable('balances', me.balances.map(one => row(one.currency,
      ...['onHoldCents', 'payableCents', 'onItsWayCents', 'paidCents'].map(name => amount(money(one[name], one.currency))))));
    $('balances').closest('.scroll').hidden = !me.balances.length;
    $('no-balances').hidden = me.balances.length > 0;
    $('minimum').hidden = me.minPayoutCents === null;
    if (me.minPayoutCents !== null) $('minimum').textContent = fill('minimum', money(me.minPayoutCents, me.minPayoutCurrency));
    $('no-account').hidden = me.hasPayoutAccount;
  }

  function series(days) {
    const earned = {};
    for (const one of days) for (const [code, cents] of Object.entries(one.earnedCents)) earned[code] = (earned[code] ?? 0) + cents;
    for (const name of ['clicks', 'leads', 'sales']) $(name).textContent = number(days.reduce((sum, one) => sum + one[name], 0));
    $('earned').textContent = several(earned);
    fillTable('series', days.map(one => row(day(one.date, 'UTC'), amount(number(one.clicks)), amount(number(one.leads)),
      amount(number(one.sales)), amount(several(one.earnedCents)))));
    chart(days);
  }

  function chart(days) {
    const most = Math.max(...days.map(one => one.clicks));
    $('chart').hidden = !most || days.length < 2;
    if ($('chart').hidden) return;
    const drawn = (tag, more) => {
      const one = document.createElementNS('http://www.w3.org/2000/svg', tag);
      for (const [name, value] of Object.entries(more)) one.setAttribute(name, value);
      return one;
    };
    const points = days.map((one, at) => `${6 + at * 588 / (days.length - 1)},${106 - one.clicks * 100 / most}`).join(' ');
    const said = fill('chart', days.filter(one => one.clicks).map(one => `${day(one.date, 'UTC')} ${number(one.clicks)}`).join(', '));
    const picture = drawn('svg', { viewBox: '0 0 600 112', preserveAspectRatio: 'none', role: 'img', 'aria-label': said });
    picture.append(drawn('polyline', { points }));
    $('chart').replaceChildren(picture);
  }

  function list(name, cells) {
    const pages = shown.lists[name], rows = pages.flatMap(page => page.items), last = pages[pages.length - 1];
    fillTable(name, rows.map(one => row(...cells(one))));
    $(name).closest('.scroll').hidden = !rows.length;
    $(`no-${name}`).hidden = rows.length > 0;
    $(`older-${name}`).hidden = !last.hasMore;
  }

  // ---- what somebody does ----

  async function doing(button, act) {
    button.disabled = true;
    try {
      await act();
    } catch (error) {
      failed(error);
    } finally {
      button.disabled = false;
    }
  }

  for (const name of ['conversions', 'payouts']) {
    $(`older-${name}`).addEventListener('click', event => doing(event.currentTarget, async () => {
      const pages = shown.lists[name], { nextCursor } = pages[pages.length - 1];
      pages.push(await ask(`/me/${name}?take=10&cursor=${encodeURIComponent(nextCursor)}`));
      show(shown);
    }));
  }

  $('days').addEventListener('change', event => doing(event.currentTarget, async () => {
    shown.me.series = await ask(`/me/series?days=${$('days').value}`);
    series(shown.me.series);
  }));

  function add() {
    if ($('add').disabled) return;
    $('alias-said').textContent = '';
    doing($('add'), async () => {
      try {
        const link = await ask('/links', { customAlias: $('alias').value.trim().toLowerCase() || null });
        shown.me.links.push(link);
        shown.me.linksLeft -= 1;
        links(shown.me);
        $('alias').value = '';
        $('said').textContent = words.added;
      } catch (error) {
        if (![400, 409].includes(error.status)) throw error;
        $('alias-said').textContent = error.fields?.customAlias?.[0] ?? error.message;
      }
    });
  }
  $('add').addEventListener('click', add);
  $('alias').addEventListener('keydown', event => { if (event.key === 'Enter') add(); });

  $('page').addEventListener('click', async event => {
    const button = event.target.closest('[data-copy]');
    if (!button) return;
    const text = $(button.dataset.copy);
    text.select();
    try {
      await navigator.clipboard.writeText(text.value);
    } catch { // the frame may not, or there is none on plain http
      if (!document.execCommand('copy')) return;
    }
    $('said').textContent = words.copied;
    tell('copied');
  });

  // ---- begin ----

  const sent = new URLSearchParams(location.hash.slice(1));
  if (location.hash) history.replaceState(null, '', location.pathname);
  theme(Object.fromEntries(sent));
  if (TOKEN.test(sent.get('token'))) {
    token = sent.get('token');
    load();
  } else {
    failed({ status: 401 });
  }
  measure();
})();
