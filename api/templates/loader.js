/*
 * Remembers who sent a visitor to a brand's page, and tells the service of the visit and of the visitor's email.
 *
 * It is plain ES5 without dependencies, runs on other people's pages, and so never throws into them: all that the
 * browser refuses (cookies, storage, requests) is done without. docs/pages.md says how to use it.
 * `make loader` minifies it into loader.min.js; api/clicks/loader.py serves that with its parameters filled in.
 */
(function (win, doc) {
  'use strict';

  // Custom parameters of the organization first, then the service's own; the first one an address carries counts.
  var PARAMETERS = '%PARAMETERS%'.split(',');
  var REF = 'finderfee_ref';
  var SUB = 'finderfee_sub';
  var LANDING = 'finderfee_landing';
  var SENT = 'finderfee_sent';
  var VISITOR = 'finderfee_visitor';
  var CART = 'finderfee_cart';
  var MARK = 'data-finderfee-email';
  var SLUG = /^[\w.-]{1,64}$/;
  var EMAIL = /^[^\s@]{1,64}@[^\s@]+\.[^\s@.]{2,}$/;
  var DAY = 864e5;
  // Hosted checkouts, and the parameter of their addresses in which each takes who sent the buyer. Stripe drops a
  // reference with a dot and says nothing.
  var REFERENCE = 'client_reference_id';
  var ELEMENT_REFERENCE = 'client-reference-id';
  var DATA = 'data-custom-data';
  var CHECKOUTS = [
    [/^buy\.stripe\.com\//, REFERENCE],
    [/^[^/]+\.lemonsqueezy\.com\/(checkout|buy)\//, 'checkout[custom][via]'],
    [/^([^/]+\.)?thrivecart\.com\//, 'passthrough[via]'],
    [/^(([^/]+\.)?gumroad\.com\/l|gum\.co)\//, 'via'],
    [/^[^/]+\.myshopify\.com\/cart\//, 'attributes[via]']
  ];
  var LEADING = 'a[href],form[action]';

  // Runs `work` and returns what it returns; undefined when the browser or the page got in its way.
  function safely(work) {
    try {
      return work();
    } catch (error) {}
  }

  function main() {
    var stub = win.Finderfee;
    if (stub && stub.isLoaded) return;
    var tag = doc.currentScript || doc.querySelector('script[src*="/r/loader.js"]');
    var base = tag.src.split('/r/loader.js')[0];
    var landing = win.location.href;
    // A browser that asks for privacy is one without consent, where the tag says that this is respected.
    var isPrivate = option('respect') === 'gpc' && !!win.navigator.globalPrivacyControl;
    var isAllowed = !isPrivate && option('consent') !== 'required';
    var isDenied = false;
    var isBusy = true;
    var hasBegun = false;
    var kept = null; // { slug, subId, ts, days }, also where nothing can be stored
    var sent = {};
    var leads = [];
    var listeners = [];
    var toldCart = store('session', CART);
    var timer;
    var domain;

    function option(name) {
      return tag.getAttribute('data-' + name) || '';
    }

    // What the browser keeps: each call works or does nothing.

    function store(kind, key, value) {
      return safely(function () {
        var storage = win[kind + 'Storage'];
        if (value === undefined) return storage.getItem(key);
        if (value === null) storage.removeItem(key);
        else storage.setItem(key, value);
      });
    }

    function writeCookie(name, value, seconds, at) {
      doc.cookie = name + '=' + encodeURIComponent(value) + ';path=/;max-age=' + seconds + ';SameSite=Lax' +
        (win.location.protocol === 'https:' ? ';Secure' : '') + (at ? ';domain=' + at : '');
    }

    function readCookie(name) {
      var found = new RegExp('(?:^|; )' + name + '=([^;]*)').exec(doc.cookie);
      return found && decode(found[1]);
    }

    // The widest domain that takes a cookie is the registrable one, or none for a host that stands alone.
    function cookieDomain() {
      var labels = win.location.hostname.split('.');
      for (var n = labels.length - 1; n >= 0; n--) {
        var at = labels.slice(n).join('.');
        writeCookie(LANDING, '1', 9, at);
        if (readCookie(LANDING)) {
          writeCookie(LANDING, '', 0, at);
          return at;
        }
      }
      return '';
    }

    function cookie(name, value, seconds) {
      safely(function () {
        if (domain === undefined) domain = cookieDomain();
        writeCookie(name, value, seconds, domain);
      });
    }

    function recall() {
      var now = Date.now();
      kept = read(safely(function () { return readCookie(REF); })) || read(store('local', REF));
      function read(text) {
        var found = safely(function () { return JSON.parse(text); });
        return found && SLUG.test(found.slug) && found.ts + found.days * DAY > now ? found : null;
      }
    }

    function keep(answer, subId) {
      if (kept && answer.attributionModel === 'FirstTouch') return;
      kept = { slug: answer.slug, subId: subId, ts: Date.now(), days: answer.cookieWindowDays || 30 };
      var text = JSON.stringify(kept);
      cookie(REF, text, kept.days * 86400);
      cookie(SUB, subId || '', subId ? kept.days * 86400 : 0);
      store('local', REF, text);
    }

    function forget() {
      kept = null;
      leads = [];
      [REF, SUB].forEach(function (name) {
        if (safely(function () { return readCookie(name); })) cookie(name, '', 0);
      });
      store('local', REF, null);
      store('local', VISITOR, null);
      store('session', LANDING, null);
      store('session', SENT, null);
      store('session', CART, null);
    }

    // What the address says.

    function decode(text) {
      return safely(function () { return decodeURIComponent(text.replace(/\+/g, ' ')); }) || '';
    }

    function referral() {
      var place = win.location;
      var found = Object.create(null);
      (place.search + '&' + place.hash).replace(/([^?&#=]+)=([^?&#]*)/g, function (whole, name, value) {
        name = decode(name).toLowerCase();
        found[name] = found[name] || decode(value).trim();
      });
      var names = option('custom-params').toLowerCase().split(/\s*,\s*/).concat(PARAMETERS);
      for (var n = 0; n < names.length; n++) {
        if (SLUG.test(found[names[n]] || '')) return { slug: found[names[n]], subId: tidy(found) };
      }
      var path = /\/via\/([^\/]+)/.exec(place.pathname);
      path = path && decode(path[1]);
      return path && SLUG.test(path) ? { slug: path, subId: tidy(found) } : null;
    }

    function tidy(found) {
      var subId = found.subid || found.sub_id || '';
      return subId.toLowerCase().replace(/[^a-z0-9._-]/g, '').slice(0, 64) || undefined;
    }

    // What the service is told. A text needs no leave of the service before it is sent.

    function post(path, body, isLast) {
      var url = base + path;
      var text = JSON.stringify(body);
      if (isLast && safely(function () { return win.navigator.sendBeacon(url, text); })) return;
      return win.fetch(url, { method: 'POST', body: text, keepalive: true, credentials: 'omit' });
    }

    function visitor() {
      var known = store('local', VISITOR);
      return known || safely(function () {
        return [].join.call(win.crypto.getRandomValues(new Uint32Array(4)), '-');
      });
    }

    function isInside() {
      return doc.referrer.indexOf(win.location.origin + '/') === 0;
    }

    // One click per landing: a reload does not count again, nor does a link within the site that carries the parameter on.
    function isKnown(came) {
      return store('session', LANDING) === landing || (isInside() && kept && kept.slug === came.slug);
    }

    // That the script runs here, for the person who set it up: once per visit of the site, and nothing about the visitor.
    function tellSeen() {
      var program = option('program-id');
      if (!program || isInside()) return;
      win.fetch(base + '/r/c.gif?script=1&programId=' + encodeURIComponent(program), { credentials: 'omit' })
        .catch(function () {});
    }

    function start() {
      isBusy = true;
      safely(tellSeen);
      recall();
      var came = referral();
      if (!came || isKnown(came)) return settle();
      var id = visitor();
      var asked = safely(function () {
        return post('/track/click', {
          slug: came.slug,
          programId: option('program-id') || undefined,
          // The name of a parameter tells an advertisement; its value is nobody else's business.
          url: landing.split('#')[0].replace(/=[^&]*/g, '=1').slice(0, 8000),
          referrer: doc.referrer.slice(0, 8000) || undefined,
          subId: came.subId,
          visitorId: id
        });
      });
      if (!asked) return settle();
      asked.then(function (answer) {
        return answer.ok && answer.json();
      }).then(function (answer) {
        if (!answer || isDenied) return;
        store('session', LANDING, landing);
        if (!answer.clickId) return;
        keep(answer, came.subId);
        if (id) store('local', VISITOR, id);
      }).then(settle, settle);
    }

    function settle() {
      isBusy = false;
      listeners.splice(0).forEach(tellReady);
      if (isAllowed && option('checkouts') !== 'off') safely(watch);
      if (isAllowed) leads.splice(0).forEach(send);
    }

    // A callback that throws does so on its own, as the page's error.
    function tellReady(listener) {
      win.setTimeout(listener, 0);
    }

    // Emails.

    // Waits while it is open whether there is a referral, and whether the visitor consents.
    function lead(who, name) {
      var email = String((who && who.email) || who || '').trim();
      name = (who && who.name) || name;
      if (email.length > 320 || !EMAIL.test(email)) return;
      var found = { email: email, name: typeof name === 'string' ? name.slice(0, 255) : undefined };
      if (isBusy || !(isAllowed || isDenied)) leads.push(found);
      else send(found);
    }

    function send(found) {
      if (!kept || isDenied) return;
      var inbox = ' ' + found.email.toLowerCase().replace(/(.)\+.*@/, '$1@') + ' ';
      var before = store('session', SENT) || '';
      if (sent[inbox] || before.indexOf(inbox) >= 0) return;
      sent[inbox] = 1;
      store('session', SENT, before + inbox);
      safely(function () {
        var asked = post('/r/lead/signup', {
          slug: kept.slug,
          email: found.email,
          name: found.name,
          programId: option('program-id') || undefined,
          subId: kept.subId
        }, true);
        if (asked) asked.catch(function () {});
      });
    }

    function mayRead(field) {
      return field.type !== 'password' && !field.closest('[data-finderfee-ignore]');
    }

    // Before the page's own handlers, which may stop the event or empty the form.
    function on(name, handle) {
      doc.addEventListener(name, function (event) {
        safely(function () { handle(event.target); });
      }, true);
    }

    on('submit', function (form) {
      var selector = option('email-selector');
      each('input', function (field) {
        var isMeant = field.form === form && (field.hasAttribute(MARK) || (selector && field.matches(selector)));
        if (isMeant && mayRead(field)) lead(field.value);
      });
    });

    if (option('email-capture') === 'auto') {
      on('change', function (field) {
        if (/^(email|text)$/.test(field.type) && mayRead(field)) lead(field.value);
      });
    }

    // Hosted checkouts: what leads to one says who sent the buyer. What says so already stays as it is, and all else.

    function carry(element) {
      var slug = kept.slug;
      var isForm = element.tagName === 'FORM';
      var url = new URL(element.getAttribute(isForm ? 'action' : 'href'), doc.baseURI);
      CHECKOUTS.forEach(function (checkout) {
        var name = checkout[1];
        // An address that runs something has no host.
        if (!url.host || !checkout[0].test(url.host + url.pathname) || url.searchParams.has(name)) return;
        if (name === REFERENCE && /\./.test(slug)) return;
        if (!isForm) {
          url.search += (url.search ? '&' : '') + encodeURIComponent(name) + '=' + slug;
          element.href = url.href;
        } else if (!element.querySelector('[name="' + name + '"]')) {
          // The fields of a form take the place of the query of its address.
          element.insertAdjacentHTML('beforeend', '<input type=hidden name="' + name + '" value=' + slug + '>');
        }
      });
    }

    // Elements that are checkouts themselves.
    function carryInside(element) {
      var slug = kept.slug;
      var data;
      if (element.tagName.indexOf('STRIPE')) {
        data = JSON.parse(element.getAttribute(DATA) || '{}');
        data.via = data.via || slug;
        element.setAttribute(DATA, JSON.stringify(data));
      } else if (!/\./.test(slug) && !element.hasAttribute(ELEMENT_REFERENCE)) {
        element.setAttribute(ELEMENT_REFERENCE, slug);
      }
    }

    // A shop at Shopify keeps it with the cart, of which a cookie says which one it is.
    function carryInCart() {
      if (!win.Shopify || toldCart === cart()) return;
      toldCart = cart();
      win.fetch('/cart/update.js', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ attributes: { via: kept.slug } })
      }).then(function () {
        toldCart = cart(); // the answer may have made it
        store('session', CART, toldCart);
      }).catch(function () {});
    }

    function cart() {
      return kept.slug + ' ' + readCookie('cart');
    }

    function carryAll() {
      if (!kept) return;
      each(LEADING, carry);
      each('stripe-buy-button,stripe-pricing-table,.paddle_button', carryInside);
      safely(carryInCart);
    }

    function each(selector, work) {
      [].forEach.call(doc.querySelectorAll(selector), function (found) {
        safely(function () { work(found); });
      });
    }

    // Also what the page adds later; what a click reaches before that is seen is looked at then.
    function watch() {
      carryAll();
      if (timer) return;
      timer = 1;
      new win.MutationObserver(function () {
        win.clearTimeout(timer);
        timer = win.setTimeout(carryAll, 99);
      }).observe(doc, { childList: true, subtree: true });
      on('click', function (target) { carry(target.closest(LEADING)); });
    }

    // What the page calls.

    var commands = {
      convert: lead,
      identify: lead,
      ready: function (listener) {
        if (typeof listener !== 'function') return;
        if (isBusy) listeners.push(listener);
        else tellReady(listener);
      },
      consent: function (isGiven) {
        var wasAllowed = isAllowed;
        isAllowed = !!isGiven;
        isDenied = !isGiven;
        if (isDenied) forget();
        else if (!wasAllowed && hasBegun) start();
      },
      slug: function () { return kept ? kept.slug : null; },
      subId: function () { return (kept && kept.subId) || null; }
    };

    function Finderfee(name) {
      var more = arguments;
      return safely(function () {
        if (commands.hasOwnProperty(name)) return commands[name].apply(null, [].slice.call(more, 1));
        return lead.apply(null, more);
      });
    }

    Object.keys(commands).forEach(function (name) {
      Finderfee[name] = Finderfee.bind(null, name);
    });
    Finderfee.isLoaded = true;
    win.Finderfee = Finderfee;

    function begin() {
      hasBegun = true;
      if (isPrivate && !isAllowed) forget();
      if (isAllowed) safely(start);
      else settle();
    }

    // What the page called before this came; then the visit itself, unless one of these calls forbade it.
    [].forEach.call((stub && stub.q) || [], function (call) { Finderfee.apply(null, call); });
    // A page that is only prepared in case somebody wants it does not count as a visit.
    if (doc.prerendering) doc.addEventListener('prerenderingchange', begin);
    else begin();
  }

  safely(main);
})(window, document);
