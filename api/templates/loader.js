/*
 * Stores the affiliate who referred a visitor to a brand's page, and sends the visit and the visitor's email to the
 * service.
 *
 * It is plain ES5 without dependencies, runs on other people's pages, and never throws into them: it works without
 * everything that the browser refuses (cookies, storage, requests). docs/pages.md explains how to use it.
 * `make loader` minifies it into loader.min.js; api/clicks/loader.py serves that with its parameters filled in.
 */
(function (win, doc) {
  'use strict';

  // Custom parameters of the organization first, then the service's own; the first one in an address counts.
  var PARAMETERS = '%PARAMETERS%'.split(',');
  var OURS = 'finderfee_';
  var REF = OURS + 'ref';
  var SUB = OURS + 'sub';
  var LANDING = OURS + 'landing';
  var SENT = OURS + 'sent';
  var VISITOR = OURS + 'visitor';
  var CART = OURS + 'cart';
  var EMAIL = /^[^\s@]{1,64}@[^\s@]+\.[^\s@.]{2,}$/;
  // Hosted checkouts, each with the parameter of its address for the referral. Stripe silently drops a reference with a
  // dot.
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

  // Runs `work` and returns its result; undefined if the browser or the page made it fail.
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
    var came = referral(); // the link of the visitor: the last address with a slug
    // The browser's storage; if the browser refuses it, the page stores the values in memory.
    var local = safely(function () { return localStorage; }) || {};
    var session = safely(function () { return sessionStorage; }) || {};
    // A browser that requests privacy counts as without consent if the tag respects that.
    var isPrivate = option('respect') === 'gpc' && navigator.globalPrivacyControl;
    var isAllowed = !isPrivate && option('consent') !== 'required';
    var isBusy = true;
    var isDenied, hasBegun, hasMoved;
    var stored; // { slug, subId, programId, ts, days }, also if the browser stores nothing
    var leads = [];
    var listeners = [];
    var reportedCart = session[CART];
    var sentEmails, timer;
    var domain;

    function option(name) {
      return tag.getAttribute('data-' + name) || '';
    }

    // The browser's storage: each call works or does nothing.

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

    // The widest domain that accepts a cookie is the registrable one; none for a host without a domain.
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
      stored = stored || read(readCookie(REF)) || read(local[REF]);
      function read(text) {
        return safely(function () {
          var referral = JSON.parse(text);
          return /^[a-z\d._-]{1,64}$/.test(referral.slug) && referral.ts + referral.days * 864e5 > Date.now() && referral;
        });
      }
    }

    function keep(answer, subId) {
      if (stored && answer.attributionModel === 'FirstTouch') return;
      stored = {
        slug: answer.slug,
        subId: subId,
        programId: answer.programId,
        ts: Date.now(),
        days: answer.cookieWindowDays || 30
      };
      var text = JSON.stringify(stored);
      var seconds = stored.days * 86400;
      cookie(REF, text, seconds);
      cookie(SUB, subId || '', subId ? seconds : 0);
      store(local, REF, text);
    }

    function forget() {
      stored = null;
      leads = [];
      [REF, SUB, VISITOR, LANDING, SENT, CART].forEach(function (name) {
        if (readCookie(name)) cookie(name, '', 0);
        delete local[name];
        delete session[name];
      });
    }

    // The referral in the address.

    function decode(text) {
      return safely(function () { return decodeURIComponent(text.replace(/\+/g, ' ')); }) || text;
    }

    // All texts in the address that may begin with a slug or be a token of a former system, in order of precedence: the
    // first one that the service knows counts (domain/slugs.py reads them). URLs and longer texts are neither.
    function referral() {
      var values = Object.create(null);
      var slugs = [];
      (place.search + '&' + place.hash).replace(/([^?&#=]+)=([^?&#]*)/g, function (whole, name, value) {
        name = decode(name).toLowerCase().replace(/^(amp;|0*38;)+/, ''); // of `&amp;` and `&#038;`
        values[name] = values[name] || decode(value).trim();
      });
      values['/'] = (/\/via\/([^/?&#]+)/i.exec(place.pathname + place.hash) || '')[1];
      option('custom-params').toLowerCase().split(/\s*,\s*/).concat(PARAMETERS, '/').forEach(function (name) {
        var slug = (values[name] || '').toLowerCase();
        if (slug && !/:\/|.{199}/.test(slug) && slugs.indexOf(slug) < 0) slugs.push(slug);
      });
      return slugs[0] && {
        page: place.href,
        slugs: slugs,
        subId: (values.subid || values.sub_id || '').toLowerCase().replace(/[^a-z\d._-]/g, '').slice(0, 64) || undefined
      };
    }

    // Requests to the service. Plain text is sent without a preflight request.

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
      // Reports that the script runs, for the person who installed it: once per visit, without any data of the visitor.
      if (program && !hasMoved && !isInside()) safely(function () {
        fetch(base + '/r/c.gif?script=1&programId=' + program, { credentials: 'omit' }).catch(ignore);
      });
      recall();
      // One click per landing: a reload does not count again, nor does a link within the site with the same slug.
      if (!came || session[LANDING] === came.page ||
        ((hasMoved || isInside()) && stored && came.slugs.indexOf(stored.slug) >= 0)) return settle();
      var id = local[VISITOR] || safely(function () {
        return [].join.call(crypto.getRandomValues(new Uint32Array(4)), '-');
      });
      var request = safely(function () { return report(came, id, 0); });
      if (request) request.then(settle, settle);
      else settle();
    }

    // Tries one slug after the other, until the service knows one.
    function report(came, id, nth) {
      return post('/track/click', {
        slug: came.slugs[nth],
        programId: program,
        // The name of a parameter identifies an advertisement; its value may be private.
        url: came.page.split('#')[0].replace(/=[^&]*/g, '=1').slice(0, 8000),
        referrer: doc.referrer.slice(0, 8000) || undefined,
        subId: came.subId,
        visitorId: id
      }).then(function (answer) {
        return answer.ok && answer.json();
      }).then(function (answer) {
        if (!answer || isDenied) return;
        if (!answer.clickId && came.slugs[++nth] && nth < 5) return report(came, id, nth);
        store(session, LANDING, came.page);
        if (!answer.clickId) return;
        keep(answer, came.subId);
        if (id) store(local, VISITOR, id);
      });
    }

    // A page that changes its address without loading may show the address of a link.
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
      // A callback that throws is reported as an error of the page.
      listeners.splice(0).forEach(function (listener) { setTimeout(listener, 0); });
      if (isAllowed && option('checkouts') !== 'off') safely(watch);
      if (isAllowed) leads.splice(0).forEach(send);
    }

    // Emails.

    // Waits until it is known whether there is a referral, and whether the visitor consents.
    function lead(who, name) {
      var email = String((who && who.email) || who || '').trim();
      name = (who && who.name) || name;
      if (email.length > 320 || !EMAIL.test(email)) return;
      var lead = { email: email, name: typeof name === 'string' ? name.slice(0, 255) : undefined };
      if (!isDenied) leads.push(lead);
      if (!isBusy) settle();
    }

    function send(lead) {
      if (!stored || isDenied) return;
      var inbox = ' ' + lead.email.toLowerCase().replace(/(.)\+.*@/, '$1@') + ' ';
      sentEmails = session[SENT] || sentEmails || '';
      if (sentEmails.indexOf(inbox) >= 0) return;
      store(session, SENT, sentEmails += inbox);
      safely(function () {
        var request = post('/r/lead/signup', {
          slug: stored.slug,
          email: lead.email,
          name: lead.name,
          programId: stored.programId || program,
          subId: stored.subId
        }, true);
        if (request) request.catch(ignore);
      });
    }

    function mayRead(field) {
      return field.type !== 'password' && !field.closest('[data-finderfee-ignore]');
    }

    // Runs before the page's own handlers, which may stop the event or empty the form.
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

    // Hosted checkouts: adds the referral to links and forms that lead to one. An existing referral is not changed.

    function carry(element) {
      var slug = stored.slug;
      var isForm = element.tagName === 'FORM';
      var url = new URL(element.getAttribute(isForm ? 'action' : 'href'), doc.baseURI);
      CHECKOUTS.forEach(function (checkout) {
        var name = checkout[1];
        // An address that runs code (javascript:) has no host.
        if (!url.host || !checkout[0].test(url.host + url.pathname) || url.searchParams.has(name) ||
          (name === REFERENCE && /\./.test(slug))) return;
        if (!isForm) {
          url.search += (url.search ? '&' : '') + encodeURIComponent(name) + '=' + slug;
          element.href = url.href;
        } else if (!element.querySelector('[name="' + name + '"]')) {
          // The fields of a form replace the query of its address.
          element.insertAdjacentHTML('beforeend', '<input type=hidden name="' + name + '" value=' + slug + '>');
        }
      });
    }

    // Elements that are checkouts themselves.
    function carryInside(element) {
      var slug = stored.slug;
      var data;
      if (element.tagName.indexOf('STRIPE')) {
        data = JSON.parse(element.getAttribute(DATA) || '{}');
        data.via = data.via || slug;
        element.setAttribute(DATA, JSON.stringify(data));
      } else if (!/\./.test(slug) && !element.hasAttribute(ELEMENT_REFERENCE)) {
        element.setAttribute(ELEMENT_REFERENCE, slug);
      }
    }

    // A Shopify shop stores the referral with the cart, which a cookie identifies.
    function carryInCart() {
      if (!win.Shopify || reportedCart === cart()) return;
      reportedCart = cart();
      fetch('/cart/update.js', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ attributes: { via: stored.slug } })
      }).then(function () {
        reportedCart = cart(); // the response may have created it
        store(session, CART, reportedCart);
      }).catch(ignore);
    }

    function cart() {
      return stored.slug + ' ' + readCookie('cart');
    }

    function carryAll() {
      if (!stored) return;
      each(LEADING, carry);
      each('stripe-buy-button,stripe-pricing-table,.paddle_button', carryInside);
      safely(carryInCart);
    }

    function each(selector, work) {
      doc.querySelectorAll(selector).forEach(function (element) {
        safely(function () { work(element); });
      });
    }

    // Includes elements that the page adds later; an element that is clicked before that is handled on the click.
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

    // The functions that the page can call.

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
      slug: function () { return stored ? stored.slug : null; },
      subId: function () { return (stored && stored.subId) || null; }
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

    // Calls of the page before the script was loaded; then the visit itself, unless one of these calls denied consent.
    ((stub && stub.q) || []).forEach(function (call) { Finderfee.apply(null, call); });
    // A prerendered page does not count as a visit until it is shown.
    if (doc.prerendering) doc.addEventListener('prerenderingchange', begin);
    else begin();
  }

  safely(main);
})(window, document);
