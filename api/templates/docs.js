(function () {
  "use strict";
  var box = document.getElementById("filter");
  if (!box) { return; }
  var none = document.getElementById("none");
  var entries = [].slice.call(document.querySelectorAll("[data-words]"));
  var groups = [].slice.call(document.querySelectorAll("[data-group]"));
  function show() {
    var words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    var matches = 0;
    entries.forEach(function (entry) {
      var text = (entry.getAttribute("data-words") || entry.textContent).toLowerCase();
      var fits = words.every(function (word) { return text.indexOf(word) >= 0; });
      entry.hidden = !fits;
      if (fits) { matches += 1; }
    });
    groups.forEach(function (group) {
      group.hidden = words.length > 0 && !group.querySelector("[data-words]:not([hidden])");
      if (group.tagName === "DETAILS" && words.length > 0) { group.open = true; }
    });
    none.hidden = matches > 0;
  }
  box.parentNode.hidden = false;
  box.addEventListener("input", show);
  document.addEventListener("keydown", function (event) {
    if (event.key === "/" && !/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName)) {
      event.preventDefault();
      box.focus();
    } else if (event.key === "Escape" && document.activeElement === box) {
      box.value = "";
      show();
      box.blur();
    }
  });
  var wide = window.matchMedia("(min-width: 60rem)");
  var menu = document.getElementById("menu");
  function fold() { if (menu) { menu.open = wide.matches; } }
  wide.addEventListener("change", fold);
  fold();
  if (menu) {
    menu.addEventListener("click", function (event) {
      if (event.target.closest("a") && !wide.matches) { menu.open = false; }
    });
  }
  [].forEach.call(document.querySelectorAll("pre.command"), function (pre) {
    var button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", function () {
      if (!navigator.clipboard) { return; }
      navigator.clipboard.writeText(pre.querySelector("code").textContent).then(function () {
        button.textContent = "Copied";
        setTimeout(function () { button.textContent = "Copy"; }, 1500);
      });
    });
    pre.appendChild(button);
  });
  if (box.value) { show(); }
}());
