// Live parts stand still while nobody looks or somebody asks them to, and say when they are not live; texts are copied;
// keys go through a queue while the focus is in it, "/" goes to the search; an open menu closes; a cookie names the browser's time zone, in which affiliates see times.
(() => {
  'use strict';
  const root = document.documentElement;
  const state = document.getElementById('live-state');
  let failures = 0, next = 0, since = null;

  const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (here) {
    const secure = location.protocol === 'https:' ? ';secure' : '';
    document.cookie = `finderfee-zone=${encodeURIComponent(here)};path=/;max-age=31536000;samesite=lax${secure}`;
  }

  addEventListener('htmx:before:request', event => {
    if (!event.target.closest('[data-live]')) return;
    if (document.hidden || root.dataset.held || Date.now() < next) event.preventDefault();
  });
  addEventListener('htmx:after:request', event => told(event.detail.ctx.response.status < 400));
  addEventListener('htmx:error', () => told(false));

  function told(well) {
    failures = well ? 0 : failures + 1;
    next = well ? 0 : Date.now() + Math.min(2 ** failures, 30) * 1000;
    since = well ? null : since || new Date();
    if (state) state.textContent = since ? `${state.dataset.words} ${clock(since)}` : '';
  }

  function clock(at) {
    const { zone } = state.dataset;
    try {
      return `${at.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: zone })} ${zone}`;
    } catch { // the browser does not know the zone
      return `${at.toISOString().slice(11, 16)} UTC`;
    }
  }

  for (const part of document.querySelectorAll('[data-hold], [data-copy], [data-pick-all]')) part.hidden = false;
  for (const button of document.querySelectorAll('[data-share]')) button.hidden = !navigator.share;
  addEventListener('change', event => {
    const all = event.target.closest('[data-pick-all]');
    if (all) for (const box of document.querySelectorAll(`[name=ids][form="${all.dataset.pickAll}"]`)) box.checked = event.target.checked;
  });
  addEventListener('click', event => {
    const share = event.target.closest('[data-share]');
    if (share) navigator.share({ url: share.dataset.share }).catch(() => {}); // the person cancelled
    const hold = event.target.closest('[data-hold]'), copy = event.target.closest('[data-copy]');
    if (hold) {
      root.dataset.held = root.dataset.held ? '' : '1';
      hold.setAttribute('aria-pressed', String(Boolean(root.dataset.held)));
    }
    if (copy) {
      const text = document.getElementById(copy.dataset.copy);
      text.select();
      const done = () => { copy.querySelector('[role=status]').textContent = copy.dataset.done; };
      if (navigator.clipboard) navigator.clipboard.writeText(text.value).then(done, () => document.execCommand('copy') && done());
      else if (document.execCommand('copy')) done();
    }
  });

  // An open menu is over the page: it closes when the focus leaves it, by a click elsewhere and by Escape.
  function close(event, to) {
    for (const menu of document.querySelectorAll('[data-menu][open]')) {
      if (event.type !== 'keydown' && menu.contains(event.target)) continue;
      menu.open = false;
      if (to && menu.contains(document.activeElement)) menu.querySelector('summary').focus();
    }
  }
  addEventListener('focusin', event => close(event));
  addEventListener('click', event => close(event));

  addEventListener('keydown', event => {
    const find = document.getElementById('find');
    if (event.key === 'Escape') close(event, true);
    if (event.key === '/' && find && !event.ctrlKey && !event.metaKey && !event.altKey && !event.target.closest('input, select, textarea, [contenteditable]')) {
      event.preventDefault();
      find.focus();
      if (!find.offsetParent) find.form.submit();
    }
  });

  addEventListener('keydown', event => {
    const list = event.target.closest('[data-keys]'), { key } = event;
    if (!list || event.altKey || event.ctrlKey || event.metaKey || event.target.closest('input, select, textarea')) return;
    const items = [...list.querySelectorAll('[data-item]')], at = items.indexOf(event.target.closest('[data-item]'));
    if (key === 'j' || key === 'k') items[at + (key === 'j' ? 1 : -1)]?.focus();
    else items[at]?.querySelector(`[data-key="${CSS.escape(key)}"]`)?.click();
  });
})();
