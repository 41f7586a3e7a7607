// Shows an affiliate their account at Finderfee in a brand's own page: makes the frame, lets it grow and shrink, and asks
// the brand's server for a new token when one is over. docs/embed.md says how to use it.
(function () {
  'use strict';
  var SOURCE = 'finderfee-embed', MOST = 20000;

  function embed(place, options) {
    if (typeof place === 'string') place = document.querySelector(place);
    var origin = new URL(options.url).origin, failures = 0, frame = document.createElement('iframe'), fragment = new URLSearchParams();
    var theme = options.theme || {}, early = [];  // until the frame can hear
    fragment.set('token', options.token || '');
    for (var name in theme) fragment.set(name, theme[name]);

    function say(type, more) {
      if (early) early.push([type, more]);
      else if (frame.contentWindow) frame.contentWindow.postMessage(Object.assign({}, more, { source: SOURCE, v: 1, type: type }), origin);
    }
    function give(token) { say('token', { token: token }); }
    function refresh() {
      if (!options.refresh || failures > 1) return;
      failures += 1;
      Promise.resolve(options.refresh()).then(function (found) {
        if (found) give(typeof found === 'string' ? found : found.token);
      }, function () {});
    }
    function hear(event) {
      var said = event.data;
      if (event.origin !== origin || event.source !== frame.contentWindow || !said || said.source !== SOURCE || said.v !== 1) return;
      if (said.type === 'height' && Number.isInteger(said.height) && said.height >= 0 && said.height <= MOST) frame.style.height = said.height + 'px';
      if (said.type === 'ready') failures = 0;
      if (said.type === 'token-expired') refresh();
      if (options.onMessage) options.onMessage(said.type, said);
    }

    addEventListener('message', hear);
    frame.addEventListener('load', function () {
      var before = early || [];
      early = null;
      say('hello');
      before.forEach(function (one) { say.apply(null, one); });
    });
    frame.title = options.title || 'Your affiliate account';
    frame.referrerPolicy = 'no-referrer';
    frame.allow = 'clipboard-write';
    frame.setAttribute('sandbox', 'allow-scripts allow-same-origin allow-popups allow-popups-to-escape-sandbox');
    frame.style.cssText = 'border:0;width:100%;height:' + (options.height || 480) + 'px';
    frame.src = options.url + '#' + fragment;
    place.appendChild(frame);
    return {
      frame: frame,
      theme: function (wanted) { say('theme', wanted); },
      token: give,
      remove: function () { removeEventListener('message', hear); frame.remove(); }
    };
  }

  function read(text) {
    try { return JSON.parse(text); } catch (error) { return null; }
  }

  function found() {
    document.querySelectorAll('[data-finderfee-embed]').forEach(function (place) {
      var said = place.dataset, address = said.refresh;
      if (said.embedded) return;
      said.embedded = 'yes';
      embed(place, { url: said.finderfeeEmbed, token: said.token, title: said.title, theme: said.theme && read(said.theme),
        refresh: address && function () {
          return fetch(address, { credentials: 'same-origin', cache: 'no-store' }).then(function (answer) { return answer.ok ? answer.json() : null; });
        } });
      place.removeAttribute('data-token');
    });
  }

  window.FinderfeeEmbed = embed;
  if (document.readyState === 'loading') addEventListener('DOMContentLoaded', found); else found();
})();
