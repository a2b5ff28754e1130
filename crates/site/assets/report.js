// The report's script: language, theme, tabs, copy, virtual tables.
// A classic script, because modules and fetch do not work from file://. Without it, the page is in English.
(function () {
  "use strict";
  var root = document.documentElement;

  // --- language and theme: address first (survives navigation from disk), then storage, then the system
  function stored(key) { try { return localStorage.getItem("whichkernel." + key); } catch (e) { return null; } }
  function store(key, value) { try { localStorage.setItem("whichkernel." + key, value); } catch (e) { /* private window */ } }
  function hash() { return new URLSearchParams(location.hash.slice(1)); }
  var state = {};
  function pick(key, allowed, otherwise) {
    var value = hash().get(key) || stored(key);
    return allowed.indexOf(value) >= 0 ? value : otherwise;
  }
  state.lang = pick("lang", ["en", "ja"], /^ja/.test(navigator.language || "") ? "ja" : "en");
  state.theme = pick("theme", ["auto", "light", "dark"], "auto");

  function apply() {
    root.lang = state.lang;
    root.dataset.lang = state.lang;
    if (state.theme === "auto") delete root.dataset.theme; else root.dataset.theme = state.theme;
    document.querySelectorAll("[data-set]").forEach(function (b) {
      var kv = b.dataset.set.split("=");
      b.setAttribute("aria-pressed", String(state[kv[0]] === kv[1]));
    });
    var title = document.querySelector("meta[name=title-" + state.lang + "]");
    if (title) document.title = title.content;
  }
  function set(key, value) {
    state[key] = value;
    store(key, value);
    var h = hash(); h.set(key, value);
    try { history.replaceState(null, "", "#" + h); } catch (e) { /* some file:// contexts */ }
    apply();
    document.dispatchEvent(new Event("whichkernel-lang"));
  }
  apply(); // before the first paint, because this script is in <head>

  function t(text) { return text && typeof text === "object" ? text[state.lang] || text.en : text || ""; }
  function el(name, attributes, children) {
    var node = document.createElement(name);
    Object.keys(attributes || {}).forEach(function (k) { node.setAttribute(k, attributes[k]); });
    (children || []).forEach(function (c) { node.append(c); }); // inserted as text, so that names cannot become markup
    return node;
  }
  function grade(name) {
    var ns = "http://www.w3.org/2000/svg", svg = document.createElementNS(ns, "svg"), use = document.createElementNS(ns, "use");
    svg.setAttribute("class", "g g-" + (name === "conflict" ? "unresolved" : name)); svg.setAttribute("role", "img"); svg.setAttribute("aria-label", name === "conflict" ? words("why", name) : words("grades", name));
    use.setAttribute("href", "#g-" + name); svg.append(use);
    return svg;
  }
  // Words come from the page's data, so that the program's messages are the only list.
  function data(id) { var e = document.getElementById(id); try { return e ? JSON.parse(e.textContent) : null; } catch (x) { return null; } }
  var lists = null;
  function words(list, key) { lists = lists || data("words") || {}; return t((lists[list] || {})[key]) || key || ""; }

  function copyText(text, done) {
    if (navigator.clipboard && window.isSecureContext) { navigator.clipboard.writeText(text).then(done, old); } else { old(); }
    function old() {
      var area = el("textarea", { "aria-hidden": "true" }); area.value = text; document.body.append(area); area.select();
      try { if (document.execCommand("copy")) done(); } finally { area.remove(); }
    }
  }

  // --- virtual table: fixed row height; only visible rows are in the document.
  // spec: count, match(words, only) -> array of row numbers, cells(i) -> nodes, key(i), detail(i) -> nodes, order(a, b, key), find(key), csv(rows) -> lines
  function virtual(box, spec) {
    var H = 33, all = spec.match([], null), view = all, order = { key: null, up: true }, only = null, chosen = -1, printing = false;
    var input = box.querySelector("input"), port = box.querySelector(".vt"), body = box.querySelector("tbody");
    var count = box.querySelector(".vt-count"), detail = box.querySelector(".vt-detail"), table = box.querySelector("table");
    function filter() {
      view = spec.match(input.value.toLowerCase().split(/\s+/).filter(Boolean), only);
      if (order.key) { view = view.slice().sort(function (a, b) { return spec.order(a, b, order.key) * (order.up ? 1 : -1) || a - b; }); }
      port.scrollTop = 0; draw();
    }
    // A row may represent several identical ones; `counted` caches sums that do not change while scrolling.
    var counted = { of: null, sum: 0 }, whole = null;
    function sum(list) { return spec.weight ? list.reduce(function (n, i) { return n + spec.weight(i); }, 0) : list.length; }
    function total(list) {
      if (list === all) { if (whole === null) whole = sum(all); return whole; }
      if (counted.of !== list) counted = { of: list, sum: sum(list) };
      return counted.sum;
    }
    function draw() {
      var first = printing ? 0 : Math.max(0, Math.floor(port.scrollTop / H) - 6);
      var last = printing ? Math.min(view.length, 2000) : Math.min(view.length, first + Math.ceil(port.clientHeight / H) + 12);
      var focused = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.at : null;
      body.textContent = ""; body.append(pad(first));
      for (var i = first; i < last; i++) body.append(line(view[i], i));
      body.append(pad(printing ? 0 : view.length - last));
      table.setAttribute("aria-rowcount", view.length + 1);
      var n = total(view), of = total(all);
      count.textContent = view.length === all.length ? of.toLocaleString("en") : n.toLocaleString("en") + " / " + of.toLocaleString("en");
      if (focused) { var again = body.querySelector('[data-at="' + focused + '"]'); if (again) again.focus({ preventScroll: true }); }
    }
    function pad(n) { var tr = el("tr", { "class": "pad", "aria-hidden": "true" }, [el("td")]); tr.firstChild.style.height = n * H + "px"; return tr; }
    function line(r, i) {
      var tr = el("tr", { "aria-rowindex": i + 2, "class": chosen === r ? "sel" : "" });
      spec.cells(r).forEach(function (c) {
        if (c.main === undefined) { tr.append(el("td", c.cls ? { "class": c.cls } : {}, [c.text === undefined ? c : c.text])); return; }
        var b = el("button", { type: "button", "class": "row", "data-at": r }, [c.main]);
        b.addEventListener("click", function () { choose(r); });
        tr.append(el("td", c.cls ? { "class": c.cls } : {}, [b]));
      });
      return tr;
    }
    function choose(r) { chosen = r; draw(); show(); }
    function show() {
      if (chosen < 0 || !detail) return;
      detail.textContent = "";
      spec.detail(chosen).forEach(function (n) { detail.append(n); });
    }
    input.addEventListener("input", filter);
    var saver = box.querySelector("[data-csv]");
    if (saver) saver.addEventListener("click", function () { save(saver.dataset.csv, spec.csv(view)); });
    port.addEventListener("scroll", draw, { passive: true });
    port.addEventListener("keydown", function (e) { // arrow keys move through the rows, also beyond the drawn ones
      var at = e.target.dataset && e.target.dataset.at; if (at === undefined || (e.key !== "ArrowDown" && e.key !== "ArrowUp")) return;
      var i = view.indexOf(Number(at)) + (e.key === "ArrowDown" ? 1 : -1);
      if (i < 0 || i >= view.length) return;
      e.preventDefault();
      if (i * H < port.scrollTop) port.scrollTop = i * H; else if ((i + 2) * H > port.scrollTop + port.clientHeight) port.scrollTop = (i + 2) * H - port.clientHeight;
      draw(); var next = body.querySelector('[data-at="' + view[i] + '"]'); if (next) next.focus({ preventScroll: true });
    });
    box.querySelectorAll("[data-only]").forEach(function (b) {
      b.addEventListener("click", function () {
        only = only === b.dataset.only ? null : b.dataset.only;
        box.querySelectorAll("[data-only]").forEach(function (o) { o.setAttribute("aria-pressed", String(o.dataset.only === only)); });
        filter();
      });
    });
    box.querySelectorAll("[data-sort]").forEach(function (b) {
      b.addEventListener("click", function () {
        order = { key: b.dataset.sort, up: order.key === b.dataset.sort ? !order.up : true };
        box.querySelectorAll("th").forEach(function (th) { th.removeAttribute("aria-sort"); });
        b.closest("th").setAttribute("aria-sort", order.up ? "ascending" : "descending");
        filter();
      });
    });
    addEventListener("beforeprint", function () { printing = true; draw(); });
    addEventListener("afterprint", function () { printing = false; draw(); });
    document.addEventListener("whichkernel-lang", function () { draw(); show(); });
    document.addEventListener("whichkernel-page", draw);
    box.dispatchEvent(new Event("ready"));
    draw();
    return function (key) { // from a link: scrolls to the row and opens it
      var r = spec.find ? spec.find(key) : -1; if (r < 0) return false;
      input.value = ""; filter();
      port.scrollTop = Math.max(0, view.indexOf(r) * H - 3 * H); choose(r); return true;
    };
  }
  function compare(x, y) { return x < y ? -1 : x > y ? 1 : 0; }
  function range(n) { var a = new Array(n); for (var i = 0; i < n; i++) a[i] = i; return a; }
  function command(text) { return el("div", { "class": "cmd" }, [el("code", {}, [text]), el("button", { type: "button", "class": "copy" }, [words("labels", "copy")])]); }
  function seen(id) { return el("a", { "class": "mono faint", href: "observations.html#o-" + id }, [id]); }

  function claims(box) {
    var rows = data(box.dataset.source) || [];
    var hay = rows.map(function (r) { return [r.id, r.text.en, r.text.ja, r.rung, "phase " + r.phase, r.grade, r.why, r.topic].join(" ").toLowerCase(); });
    return virtual(box, {
      match: function (ws, only) {
        return range(rows.length).filter(function (i) { return (!only || rows[i].grade === only || (only === "unresolved" && rows[i].grade === "conflict")) && ws.every(function (w) { return hay[i].indexOf(w) >= 0; }); });
      },
      order: function (a, b, k) { var f = function (r) { return k === "text" ? t(r.text) : r[k] || ""; }; return compare(f(rows[a]), f(rows[b])); },
      cells: function (i) { var r = rows[i]; return [{ text: grade(r.grade) }, { text: r.phase }, { text: words("rungs", r.rung) }, { main: t(r.text) }, { text: r.why ? words("why", r.why) : "" }]; },
      detail: function (i) {
        var r = rows[i], out = [el("p", {}, [grade(r.grade), " " + (r.grade === "conflict" ? words("why", "conflict") : words("grades", r.grade)) + " · " + words("rungs", r.rung) + " · ", el("code", {}, [r.id])]), el("p", {}, [t(r.text)])];
        out.push(el("p", { "class": "quiet" }, [words("labels", "expected") + ": ", el("code", {}, [r.topic + " " + r.expected]), " · " + words("labels", "subject") + ": " + r.subject]));
        var ul = el("ul", { "class": "reasons" }); r.reasons.forEach(function (x) { ul.append(el("li", {}, [t(x), " ", x.obs ? seen(x.obs) : ""])); });
        if (r.reasons.length) out.push(ul);
        ["shows", "cannot"].forEach(function (k) { if (r[k]) out.push(el("p", { "class": "quiet" }, [words("labels", k) + ": " + t(r[k])])); });
        if (r.grade === "unresolved" || r.grade === "conflict") out.push(command(r.closes));
        return out;
      },
      find: function (key) { return rows.findIndex(function (r) { return "c-" + r.id === key; }); }
    });
  }

  // Rows as arrays, with each text stored once: [id, rung, observer, saw, subject, time, trust, raw]
  function observations(box) {
    var d = data(box.dataset.table) || { rows: [], texts: [] }, R = d.rows, T = d.texts;
    var low = T.map(function (x) { return (x.en ? x.en + " " + x.ja : x).toLowerCase(); });
    return virtual(box, {
      match: function (ws) {
        if (!ws.length) return range(R.length);
        var hits = ws.map(function (w) { return low.map(function (x) { return x.indexOf(w) >= 0; }); });
        return range(R.length).filter(function (i) { var r = R[i]; return ws.every(function (w, k) { return hits[k][r[2]] || hits[k][r[3]] || hits[k][r[4]] || r[0].indexOf(w) === 0 || r[1] === w; }); });
      },
      order: function () { return 0; },
      cells: function (i) { var r = R[i]; return [{ text: r[0], cls: "mono" }, { text: words("rungs", r[1]) }, { text: T[r[2]] }, { main: t(T[r[3]]) }, { text: T[r[4]] }]; },
      detail: function (i) {
        var r = R[i], raw = JSON.parse(T[r[7]]), out = [el("p", {}, [el("code", {}, [r[0]]), " · " + words("rungs", r[1]) + " · " + T[r[2]] + " · " + T[r[5]]]), el("p", {}, [el("code", {}, [t(T[r[3]])])]), el("p", { "class": "quiet" }, [T[r[4]]]), el("p", { "class": "quiet" }, [t(T[r[6]])])];
        raw.forEach(function (x) { out.push(el("p", { "class": "small" }, [x[1] ? el("a", { "class": "mono", href: x[1] }, [x[0]]) : el("span", { "class": "mono" }, [x[0]]), " " + x[2] + ", " + x[3].toLocaleString("en") + " B"])); });
        out.push(command("whichkernel ledger show " + r[0] + (raw.length ? " --raw" : "")));
        return out;
      },
      find: function (key) { return R.findIndex(function (r) { return "o-" + r[0] === key; }); }
    });
  }

  // Kernels, packed (packed.rs): a name is its difference from the previous one; a row is the distances of its name and bundle from
  // those of the last row, and the index of its set of seven numbers (SGPR, VGPR, LDS, scratch, wave, stub, count).
  function kernels(box) {
    var d = data(box.dataset.kernels) || { names: [], numbers: [], groups: [] }, S = d.numbers, G = d.groups, N = [], before = "";
    for (var j = 0; j < d.names.length; j += 3) { before = before.slice(0, d.names[j]) + d.names[j + 1] + before.slice(before.length - d.names[j + 2]); N.push(before); }
    var low = N.map(function (x) { return x.toLowerCase(); });
    var size = G.reduce(function (n, g) { return n + g.rows.length / 3; }, 0), at = 0;
    var name = new Int32Array(size), bundle = new Int32Array(size), set = new Int32Array(size), group = new Int32Array(size);
    G.forEach(function (g, k) {
      for (var i = 0, n = 0, b = 0; i < g.rows.length; i += 3, at++) { n += g.rows[i]; b += g.rows[i + 1]; name[at] = n; bundle[at] = b; set[at] = g.rows[i + 2] * 7; group[at] = k; }
      g.rows = null;
    });
    var keys = { sgpr: 0, vgpr: 1, lds: 2, scratch: 3, wave: 4, stub: 5, count: 6 };
    function v(i, k) { return S[set[i] + keys[k]]; }
    function shown(x) { return x < 0 ? "–" : x; }
    // Texts are sorted once; after that, their ranks are compared.
    var ranks = {};
    function rank(of, texts) {
      if (!ranks[of]) { ranks[of] = new Int32Array(texts.length); range(texts.length).sort(function (a, b) { return compare(texts[a], texts[b]); }).forEach(function (x, i, all) { ranks[of][x] = i && texts[all[i - 1]] === texts[x] ? ranks[of][all[i - 1]] : i; }); }
      return ranks[of];
    }
    function targets() { return G.map(function (g) { return g.target; }); }
    return virtual(box, {
      match: function (ws, only) {
        if (!ws.length && !only) return range(size);
        var hits = ws.map(function (w) { return low.map(function (x) { return x.indexOf(w) >= 0; }); });
        var groups = ws.map(function (w) { return G.map(function (g) { return g.target === w || g.file.toLowerCase().indexOf(w) >= 0; }); });
        var out = [];
        for (var i = 0; i < size; i++) {
          var ok = !only || G[group[i]].target === only;
          for (var k = 0; ok && k < ws.length; k++) ok = hits[k][name[i]] || groups[k][group[i]];
          if (ok) out.push(i);
        }
        return out;
      },
      order: function (a, b, k) {
        if (k === "target") { var t = rank("target", targets()); return t[group[a]] - t[group[b]]; }
        if (k === "name") { var n = rank("name", N); return n[name[a]] - n[name[b]]; }
        return k === "bundle" ? bundle[a] - bundle[b] : v(a, k) - v(b, k);
      },
      weight: function (i) { return v(i, "count"); },
      cells: function (i) {
        var number = function (x) { return { text: String(shown(x)), cls: "num" }; };
        return [{ main: N[name[i]] + (v(i, "count") > 1 ? " ×" + v(i, "count") : ""), cls: "mono" }, { text: G[group[i]].target, cls: "mono" }, number(bundle[i]), number(v(i, "sgpr")), number(v(i, "vgpr")), number(v(i, "lds"))];
      },
      detail: function (i) {
        var g = G[group[i]], line = ["bundle " + shown(bundle[i]), "SGPR " + shown(v(i, "sgpr")), "VGPR " + shown(v(i, "vgpr")), "LDS " + shown(v(i, "lds")), "scratch " + shown(v(i, "scratch")), "wave " + shown(v(i, "wave"))].join(" · ");
        return [el("p", {}, [el("code", {}, [N[name[i]]])]), el("p", { "class": "quiet" }, [g.file + " · " + g.target + " · " + line + (v(i, "stub") ? " · " + words("labels", "stub") : "")]), el("p", { "class": "quiet" }, [words("labels", "shipped-only")])];
      },
      csv: function (list) {
        var lines = ["file,target,kernel,bundle,sgpr,vgpr,lds,scratch,wavefront,stub,kernels\n"], known = function (x) { return x < 0 ? "" : x; };
        list.forEach(function (i) { var g = G[group[i]]; lines.push([cell(g.file), cell(g.target), cell(N[name[i]]), known(bundle[i])].concat(S.slice(set[i], set[i] + 7).map(known)).join(",") + "\n"); });
        return lines;
      }
    });
  }
  // Like csv.rs: a cell that a spreadsheet would run as a formula is quoted, so that a hostile name stays text.
  function cell(text) {
    if (/^[=+\-@\t\r]/.test(text)) text = "'" + text;
    return /[",\r\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
  }
  function save(name, lines) {
    var url = URL.createObjectURL(new Blob(lines, { type: "text/csv" })), a = el("a", { href: url, download: name });
    document.body.append(a); a.click(); a.remove();
    setTimeout(function () { URL.revokeObjectURL(url); }, 60000);
  }

  // --- tabs: every panel is in the page; arrow keys select a tab and show its panel
  function tabs(list) {
    var all = Array.prototype.slice.call(list.querySelectorAll("[role=tab]"));
    function choose(tab, focus) {
      all.forEach(function (o) {
        var on = o === tab; o.setAttribute("aria-selected", String(on)); o.tabIndex = on ? 0 : -1;
        document.getElementById(o.getAttribute("aria-controls")).hidden = !on;
      });
      if (focus) tab.focus();
    }
    all.forEach(function (tab, i) {
      tab.addEventListener("click", function () { choose(tab); });
      tab.addEventListener("keydown", function (e) {
        var d = { ArrowRight: 1, ArrowLeft: -1 }[e.key]; if (!d) return;
        e.preventDefault(); choose(all[(i + d + all.length) % all.length], true);
      });
    });
    choose(all.filter(function (o) { return o.getAttribute("aria-selected") === "true"; })[0] || all[0]);
  }

  // --- all pages in one file: the address selects the page to show
  function single() { return document.querySelector("main[data-single]"); }
  function turn(name, at) {
    var main = single(), all = Array.prototype.slice.call(main.querySelectorAll("article"));
    var page = all.filter(function (a) { return a.dataset.page === name; })[0] || all[0];
    all.forEach(function (a) { a.hidden = a !== page; });
    document.querySelectorAll(".side nav a").forEach(function (a) {
      if (a.dataset.to === page.dataset.page + ".html") a.setAttribute("aria-current", "page"); else a.removeAttribute("aria-current");
    });
    document.title = page.dataset[state.lang] || document.title;
    document.dispatchEvent(new Event("whichkernel-page"));
    if (!go(at)) scrollTo(0, 0);
  }
  var openers = [];
  function go(at) {
    if (!at) return false;
    if (openers.some(function (open) { return open(at); })) { document.querySelector(".vt-detail").closest("section").scrollIntoView(); return true; }
    var main = single(), target = (main && main.querySelector("article:not([hidden]) [id='" + CSS.escape(at) + "']")) || document.getElementById(at);
    if (target && target.tagName === "DETAILS") target.open = true;
    if (target) target.scrollIntoView();
    return Boolean(target);
  }

  document.addEventListener("DOMContentLoaded", function () {
    root.classList.add("js");
    document.querySelectorAll("a[href]").forEach(function (a) { a.dataset.to = a.getAttribute("href"); });
    apply();
    document.querySelectorAll("[role=tablist]").forEach(tabs);
    document.querySelectorAll("[data-source]").forEach(function (b) { openers.push(claims(b)); });
    document.querySelectorAll("[data-table]").forEach(function (b) { openers.push(observations(b)); });
    document.querySelectorAll("[data-kernels]").forEach(function (b) { openers.push(kernels(b)); });
    document.addEventListener("click", function (e) {
      var b = e.target.closest("[data-set]"); if (b) { var kv = b.dataset.set.split("="); set(kv[0], kv[1]); return; }
      var c = e.target.closest(".copy");
      if (c) {
        copyText(c.parentNode.querySelector("code").textContent, function () {
          var before = Array.prototype.slice.call(c.childNodes);
          c.replaceChildren(state.lang === "ja" ? "コピー済み" : "Copied");
          setTimeout(function () { c.replaceChildren.apply(c, before); }, 1200);
        });
        return;
      }
      var a = e.target.closest("a[href]"); // the link keeps language and theme
      if (!a) return;
      var to = a.dataset.to || a.getAttribute("href");
      if (/^[^:#?]+\.html(#.*)?$/.test(to)) {
        var parts = to.split("#"), h = new URLSearchParams(), page = parts[0].replace(/\.html$/, "");
        h.set("lang", state.lang); if (state.theme !== "auto") h.set("theme", state.theme); if (parts[1]) h.set("at", parts[1]);
        if (single()) { e.preventDefault(); h.set("page", page); location.hash = String(h); return; }
        a.href = parts[0] + "#" + h;
      } else if (/^#./.test(to)) {
        e.preventDefault();
        if (single() && /^#raw-/.test(to)) { turn("raw", to.slice(1)); return; }
        go(to.slice(1)); if (to === "#main") { var m = document.getElementById("main"); m.tabIndex = -1; m.focus(); }
      }
    });
    function follow() { // also when going back
      var h = hash(); ["lang", "theme"].forEach(function (k) { if (h.get(k)) state[k] = h.get(k); }); apply();
      if (single()) turn(h.get("page") || "index", h.get("at")); else go(h.get("at"));
    }
    addEventListener("hashchange", follow);
    follow();
    live();
  });

  // --- served by `report --serve`: the page polls its own server for changes
  function live() {
    var mark = document.querySelector("meta[name=live]"); if (!mark || !/^http/.test(location.protocol)) return;
    var known = mark.content, bar = el("p", { "class": "under-way", role: "status" }), main = document.querySelector("main");
    // Work in progress that is not recorded yet: not evidence, and labelled accordingly.
    function now() {
      fetch("under-way.json", { cache: "no-store" }).then(function (r) { return r.ok ? r.json() : []; }).then(function (all) {
        bar.textContent = all.map(function (one) { return mark.getAttribute("data-" + document.documentElement.lang) + " whichkernel " + one.verb + ", " + one.seconds + " s" + (one.line ? ": " + one.line : ""); }).join("\n");
        if (!all.length) bar.remove(); else if (!bar.isConnected && main) main.prepend(bar);
      }, function () { bar.remove(); });
    }
    now(); setInterval(now, 1000);
    setInterval(function () {
      fetch("version", { cache: "no-store" }).then(function (r) { return r.ok ? r.text() : known; }).then(function (now) { if (now !== known) location.reload(); }, function () { /* the server has ended: the page stays */ });
    }, 2000);
  }
})();
