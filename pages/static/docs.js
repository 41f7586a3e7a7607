// The documentation: language of the examples, copy, filter, former anchors, and "Try it", which sends a request with a
// test key to this installation. The key is stored in the tab (sessionStorage), and sent in a header only.
(() => {
  'use strict';
  const LANGUAGE = 'finderfee-docs-language', KEY = 'finderfee-docs-test-key', MAX_SHOWN = 100000;
  const HEADERS = ['content-type', 'x-request-id', 'retry-after', 'www-authenticate', 'link', 'deprecation'];
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const memory = {};
  const read = name => { try { return sessionStorage.getItem(name) || ''; } catch { return memory[name] || ''; } };
  const write = (name, value) => { memory[name] = value; try { sessionStorage.setItem(name, value); } catch { /* kept in memory */ } };

  function make(tag, properties = {}, ...children) {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  }

  function follow() {
    const moved = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (moved && 'moved' in moved.dataset) location.replace(moved.querySelector('a').href);
  }
  addEventListener('hashchange', follow);
  follow();

  function choose(language) {
    for (const input of all(`.code input[value="${language}"]`)) input.checked = true;
  }
  if (read(LANGUAGE)) choose(CSS.escape(read(LANGUAGE)));
  addEventListener('change', event => {
    if (!event.target.matches('.code input')) return;
    write(LANGUAGE, event.target.value);
    const { top } = event.target.getBoundingClientRect();
    choose(event.target.value);
    scrollBy(0, event.target.getBoundingClientRect().top - top);
  });

  const wide = matchMedia('(min-width: 60.01rem)'), menu = document.getElementById('menu');
  const fold = () => { menu.open = wide.matches; };
  wide.addEventListener('change', fold);
  fold();

  if (navigator.clipboard) for (const example of all('.code')) {
    const button = make('button', { type: 'button', className: 'button slim copy', textContent: 'Copy' });
    button.addEventListener('click', async () => {
      const language = example.querySelector(':checked').value;
      await navigator.clipboard.writeText(example.querySelector(`[data-language="${language}"]`).textContent);
      button.textContent = 'Copied';
      setTimeout(() => { button.textContent = 'Copy'; }, 1500);
    });
    example.append(button);
  }

  const words = document.getElementById('words');
  if (words) {
    document.getElementById('filter').hidden = false;
    const show = () => {
      const asked = words.value.toLowerCase().split(/\s+/);
      for (const entry of all('[data-words]')) {
        entry.hidden = !asked.every(word => entry.dataset.words.toLowerCase().includes(word));
      }
      for (const group of all('[data-group]')) group.hidden = !group.querySelector('[data-words]:not([hidden])');
      document.getElementById('none').hidden = Boolean(document.querySelector('[data-words]:not([hidden])'));
    };
    words.addEventListener('input', show);
    addEventListener('keydown', event => {
      if (event.key === '/' && !event.target.closest('input, textarea')) {
        event.preventDefault();
        words.focus();
      } else if (event.key === 'Escape' && event.target === words) {
        words.value = '';
        show();
      }
    });
    show();
  }

  let count = 0;
  function field(label, input) {
    input.id = `try-${count += 1}`;
    return make('div', { className: 'field' }, make('label', { htmlFor: input.id, textContent: label }), input);
  }

  function build(article) {
    const key = make('input', { type: 'password', autocomplete: 'off', spellcheck: false, required: true, value: read(KEY) });
    const inputs = all('tr[data-in="path"], tr[data-in="query"]', article).map(row => ({
      place: row.dataset.in, name: row.dataset.name,
      input: make('input', { type: 'text', autocomplete: 'off', required: 'required' in row.dataset }),
    }));
    const body = article.dataset.body && make('textarea', { rows: 8, spellcheck: false, value: article.dataset.body });
    const output = make('output');
    const form = make('form', { className: 'send' },
      field('Test key (ff_test_…)', key),
      ...inputs.map(({ name, input }) => field(input.required ? `${name} (required)` : name, input)),
      ...(body ? [field('Body', body)] : []),
      make('button', { className: 'button primary', textContent: 'Send request' }),
      output);
    form.addEventListener('submit', event => {
      event.preventDefault();
      const value = key.value.trim();
      if (!/^ff_test_[\x21-\x7e]+$/.test(value)) {
        key.setAttribute('aria-invalid', 'true');
        output.replaceChildren(make('p', { className: 'wrong', textContent: 'Use a test key: it begins with ff_test_. Nothing was sent.' }));
        return;
      }
      key.removeAttribute('aria-invalid');
      write(KEY, value);
      send(article.dataset, inputs, body, value, output);
    });
    return form;
  }

  async function send({ send: method, path }, inputs, body, key, output) {
    const query = new URLSearchParams();
    for (const { place, name, input } of inputs) {
      if (place === 'path') path = path.replace(`{${name}}`, encodeURIComponent(input.value.trim()));
      else if (input.value.trim()) query.set(name, input.value.trim());
    }
    const address = query.size ? `${path}?${query}` : path;
    const headers = { Authorization: `Bearer ${key}`, ...(body ? { 'Content-Type': 'application/json' } : {}) };
    output.replaceChildren('Sending…');
    try {
      const response = await fetch(address, {
        method, headers, body: body ? body.value : undefined,
        mode: 'same-origin', credentials: 'omit', cache: 'no-store', redirect: 'error', referrerPolicy: 'no-referrer',
      });
      show(response, await response.text(), output);
    } catch {
      output.replaceChildren(make('p', { className: 'wrong', textContent: 'There was no response. Check the connection, then send again.' }));
    }
  }

  function show(response, text, output) {
    const kind = response.ok ? 'ok' : response.status < 500 ? 'wait' : 'bad';
    const lines = HEADERS.filter(name => response.headers.has(name)).map(name => `${name}: ${response.headers.get(name)}`);
    let shown = text, help;
    try {
      const content = JSON.parse(text);
      shown = JSON.stringify(content, null, 2);
      if (!response.ok && content.doc_url) help = `/docs/errors#${content.error || 'invalid_request'}`;
    } catch { /* not JSON */ }
    if (!response.ok && !text) help = { 401: '/docs/errors#unauthorized', 429: '/docs/errors#rate_limited' }[response.status];
    output.replaceChildren(
      make('p', {}, 'Status ', make('span', { className: `chip ${kind}`, textContent: `${response.status} ${response.statusText}` })),
      ...(help ? [make('p', {}, make('a', { href: help, textContent: 'What this means and what to do' }))] : []),
      make('pre', { tabIndex: 0, ariaLabel: 'Response headers', textContent: lines.join('\n') }),
      ...(text ? [make('pre', { tabIndex: 0, ariaLabel: 'Response body', textContent: shown.slice(0, MAX_SHOWN) })] : []));
  }

  for (const article of all('[data-send]')) {
    const button = make('button', { type: 'button', className: 'button slim', textContent: 'Try it' });
    button.setAttribute('aria-expanded', 'false');
    button.addEventListener('click', () => {
      const form = article.querySelector('.send') || button.parentNode.insertAdjacentElement('afterend', build(article));
      form.hidden = button.getAttribute('aria-expanded') === 'true';
      button.setAttribute('aria-expanded', String(!form.hidden));
      if (!form.hidden) form.querySelector('input').focus();
    });
    article.querySelector('.code').after(make('p', {}, button));
  }
})();
