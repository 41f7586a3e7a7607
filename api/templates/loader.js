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
  var OURS = 'finderfee_';
  var REF = OURS + 'ref';
  var SUB = OURS + 'sub';
  var LANDING = OURS + 'landing';
  var SENT = OURS + 'sent';
  var VISITOR = OURS + 'visitor';
  var CART = OURS + 'cart';
  var EMAIL = /^[^\s@]{1,64}@[^\s@]+\.[^\s@.]{2,}$/;
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

  function ignore() {}

  function main() {
    var stub = win.Finderfee;
    if (stub && stub.isLoaded) return;
    var tag = doc.currentScript || doc.querySelector('script[src*="/r/loader.js"]');
    var base = tag.src.split('/r/loader.js')[0];
    var program = option('program-id') || undefined;
    var place = location;
    var came = referral(); // by which link the visitor came: the last address that names one
    // What the browser keeps for us; where it refuses, this page remembers it by itself.
    var local = safely(function () { return localStorage; }) || {};
    var session = safely(function () { return sessionStorage; }) || {};
    // A browser that asks for privacy is one without consent, where the tag says that this is respected.
    var isPrivate = option('respect') === 'gpc' && navigator.globalPrivacyControl;
    var isAllowed = !isPrivate && option('consent') !== 'required';
    var isBusy = true;
    var isDenied, hasBegun, hasMoved;
    var kept; // { slug, subId, programId, ts, days }, also where nothing can be stored
    var leads = [];
    var listeners = [];
    var toldCart = session[CART];
    var sent, timer;
    var domain;

    function option(name) {
      return tag.getAttribute('data-' + name) || '';
    }

    // What the browser keeps: each call works or does nothing.

    function store(storage, key, value) {
      safely(function () { storage[key] = value; });
    }

    function writeCookie(name, value, seconds, at) {
      doc.cookie = name + '=' + encodeURIComponent(value) + ';path=/;max-age=' + seconds + ';SameSite=Lax' +
        (place.protocol === 'https:' ? ';Secure' : '') + (at ? ';domain=' + at : '');
    }

    function readCookie(name) {
      return safely(function () {
        return decode(('; ' + doc.cookie).split('; ' + name + '=')[1].split(';')[0]);
      });
    }

    // The widest domain that takes a cookie is the registrable one, or none for a host that stands alone.
    function cookieDomain() {
      var labels = place.hostname.split('.');
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
      kept = kept || read(readCookie(REF)) || read(local[REF]);
      function read(text) {
        return safely(function () {
          var found = JSON.parse(text);
          return readSlug(found.slug) === found.slug && found.ts + found.days * 864e5 > Date.now() && found;
        });
      }
    }

    function keep(answer, subId) {
      if (kept && answer.attributionModel === 'FirstTouch') return;
      kept = {
        slug: answer.slug,
        subId: subId,
        programId: answer.programId,
        ts: Date.now(),
        days: answer.cookieWindowDays || 30
      };
      var text = JSON.stringify(kept);
      var seconds = kept.days * 86400;
      cookie(REF, text, seconds);
      cookie(SUB, subId || '', subId ? seconds : 0);
      store(local, REF, text);
    }

    function forget() {
      kept = null;
      leads = [];
      [REF, SUB, VISITOR, LANDING, SENT, CART].forEach(function (name) {
        if (readCookie(name)) cookie(name, '', 0);
        delete local[name];
        delete session[name];
      });
    }

    // What the address says.

    function decode(text) {
      return safely(function () { return decodeURIComponent(text.replace(/\+/g, ' ')); }) || text;
    }

    // A slug at the beginning of a text, as domain/slugs.py reads it: what no slug can have ends it, invisible characters
    // are left out, and words with a space between them are none. Links are encoded twice and more on their way.
    function readSlug(text) {
      text = decode(decode(text)).replace(/[\xad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g, '').trim();
      var found = /^(?=([a-z\d-]+((\.|_+)[a-z\d-]+)*))\1(?!\s|:\/\/)/i.exec(text);
      if (found && found[1].length < 65) return found[1].toLowerCase();
    }

    // Every slug that the address names, in the order in which they count: the first one that the service knows is it.
    function referral() {
      var found = Object.create(null);
      var slugs = [];
      (place.search + '&' + place.hash).replace(/([^?&#=]+)=([^?&#]*)/g, function (whole, name, value) {
        name = decode(name).toLowerCase().replace(/^(amp;|0*38;)+/, ''); // of `&amp;` and `&#038;`
        found[name] = found[name] || decode(value).trim();
      });
      found['/'] = (/\/via\/([^/?&#]+)/i.exec(place.pathname + place.hash) || '')[1];
      option('custom-params').toLowerCase().split(/\s*,\s*/).concat(PARAMETERS, '/').forEach(function (name) {
        var slug = readSlug(found[name] || '');
        if (slug && slugs.indexOf(slug) < 0) slugs.push(slug);
      });
      return slugs[0] && {
        page: place.href,
        slugs: slugs,
        subId: (found.subid || found.sub_id || '').toLowerCase().replace(/[^a-z\d._-]/g, '').slice(0, 64) || undefined
      };
    }

    // What the service is told. A text needs no leave of the service before it is sent.

    function post(path, body, isLast) {
      var url = base + path;
      var text = JSON.stringify(body);
      if (isLast && safely(function () { return navigator.sendBeacon(url, text); })) return;
      return fetch(url, { method: 'POST', body: text, keepalive: true, credentials: 'omit' });
    }

    function isInside() {
      return !doc.referrer.indexOf(place.origin + '/');
    }

    function start() {
      isBusy = true;
      // That the script runs here, for the person who set it up: once per visit of the site, and nothing about the visitor.
      if (program && !hasMoved && !isInside()) safely(function () {
        fetch(base + '/r/c.gif?script=1&programId=' + program, { credentials: 'omit' }).catch(ignore);
      });
      recall();
      // One click per landing: a reload does not count again, nor does a link within the site that carries the slug on.
      if (!came || session[LANDING] === came.page ||
        ((hasMoved || isInside()) && kept && came.slugs.indexOf(kept.slug) >= 0)) return settle();
      var id = local[VISITOR] || safely(function () {
        return [].join.call(crypto.getRandomValues(new Uint32Array(4)), '-');
      });
      var asked = safely(function () { return tell(came, id, 0); });
      if (asked) asked.then(settle, settle);
      else settle();
    }

    // One slug after the other, until the service knows one.
    function tell(came, id, nth) {
      return post('/track/click', {
        slug: came.slugs[nth],
        programId: program,
        // The name of a parameter tells an advertisement; its value is nobody else's business.
        url: came.page.split('#')[0].replace(/=[^&]*/g, '=1').slice(0, 8000),
        referrer: doc.referrer.slice(0, 8000) || undefined,
        subId: came.subId,
        visitorId: id
      }).then(function (answer) {
        return answer.ok && answer.json();
      }).then(function (answer) {
        if (!answer || isDenied) return;
        if (!answer.clickId && came.slugs[++nth] && nth < 5) return tell(came, id, nth);
        store(session, LANDING, came.page);
        if (!answer.clickId) return;
        keep(answer, came.subId);
        if (id) store(local, VISITOR, id);
      });
    }

    // A page that shows another address without loading one may show one that a link brought.
    function move() {
      safely(function () {
        var next = referral();
        if (!next || (came && came.slugs[0] === next.slugs[0])) return;
        came = next;
        hasMoved = true;
        if (isAllowed && hasBegun) start();
      });
    }

    function watchAddress() {
      ['pushState', 'replaceState'].forEach(function (name) {
        var change = history[name];
        history[name] = function () {
          try {
            return change.apply(this, arguments);
          } finally {
            move();
          }
        };
      });
      addEventListener('popstate', move);
    }

    function settle() {
      isBusy = false;
      // A callback that throws does so on its own, as the page's error.
      listeners.splice(0).forEach(function (listener) { setTimeout(listener, 0); });
      if (isAllowed && option('checkouts') !== 'off') safely(watch);
      if (isAllowed) leads.splice(0).forEach(send);
    }

    // Emails.

    // Waits while it is open whether there is a referral, and whether the visitor consents.
    function lead(who, name) {
      var email = String((who && who.email) || who || '').trim();
      name = (who && who.name) || name;
      if (email.length > 320 || !EMAIL.test(email)) return;
      var found = { email: email, name: typeof name === 'string' ? name.slice(0, 255) : undefined };
      if (!isDenied) leads.push(found);
      if (!isBusy) settle();
    }

    function send(found) {
      if (!kept || isDenied) return;
      var inbox = ' ' + found.email.toLowerCase().replace(/(.)\+.*@/, '$1@') + ' ';
      sent = session[SENT] || sent || '';
      if (sent.indexOf(inbox) >= 0) return;
      store(session, SENT, sent += inbox);
      safely(function () {
        var asked = post('/r/lead/signup', {
          slug: kept.slug,
          email: found.email,
          name: found.name,
          programId: kept.programId || program,
          subId: kept.subId
        }, true);
        if (asked) asked.catch(ignore);
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
        var isMeant = field.form === form && (field.hasAttribute('data-finderfee-email') || (selector && field.matches(selector)));
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
        if (!url.host || !checkout[0].test(url.host + url.pathname) || url.searchParams.has(name) ||
          (name === REFERENCE && /\./.test(slug))) return;
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
      fetch('/cart/update.js', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ attributes: { via: kept.slug } })
      }).then(function () {
        toldCart = cart(); // the answer may have made it
        store(session, CART, toldCart);
      }).catch(ignore);
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
      doc.querySelectorAll(selector).forEach(function (found) {
        safely(function () { work(found); });
      });
    }

    // Also what the page adds later; what a click reaches before that is seen is looked at then.
    function watch() {
      carryAll();
      if (timer) return;
      timer = 1;
      new MutationObserver(function () {
        clearTimeout(timer);
        timer = setTimeout(carryAll, 99);
      }).observe(doc, { childList: true, subtree: true });
      on('click', function (target) { carry(target.closest(LEADING)); });
    }

    // What the page calls.

    var commands = {
      convert: lead,
      identify: lead,
      ready: function (listener) {
        if (typeof listener === 'function') listeners.push(listener);
        if (!isBusy) settle();
      },
      consent: function (isGiven) {
        var wasAllowed = isAllowed;
        isDenied = !isGiven;
        isAllowed = !isDenied;
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
      safely(watchAddress);
      if (isPrivate && !isAllowed) forget();
      if (isAllowed) safely(start);
      else settle();
    }

    // What the page called before this came; then the visit itself, unless one of these calls forbade it.
    ((stub && stub.q) || []).forEach(function (call) { Finderfee.apply(null, call); });
    // A page that is only prepared in case somebody wants it does not count as a visit.
    if (doc.prerendering) doc.addEventListener('prerenderingchange', begin);
    else begin();
  }

  safely(main);
})(window, document);
