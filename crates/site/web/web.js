// Language, theme, copying, and small helpers for drawing. Loaded in <head>, so the language is set before the first paint.
(function () {
  "use strict";
  const root = document.documentElement;
  const SVG = "http://www.w3.org/2000/svg";
  const state = {};

  function hash() {
    return new URLSearchParams(location.hash.slice(1));
  }
  function stored(key) {
    try {
      return localStorage.getItem("whichkernel." + key);
    } catch {
      return null;
    }
  }
  function pick(key, allowed, other) {
    const value = hash().get(key) || stored(key);
    return allowed.includes(value) ? value : other;
  }
  state.lang = pick("lang", ["en", "ja"], /^ja/.test(navigator.language || "") ? "ja" : "en");
  state.theme = pick("theme", ["auto", "light", "dark"], "auto");

  function apply() {
    root.lang = state.lang;
    root.dataset.lang = state.lang;
    if (state.theme === "auto") delete root.dataset.theme;
    else root.dataset.theme = state.theme;
    for (const button of document.querySelectorAll("[data-set]")) {
      const [key, value] = button.dataset.set.split("=");
      button.setAttribute("aria-pressed", String(state[key] === value));
    }
    const title = document.querySelector(`meta[name=title-${state.lang}]`);
    if (title) document.title = title.content;
    for (const input of document.querySelectorAll("[data-ph-en]")) {
      input.placeholder = input.getAttribute("data-ph-" + state.lang);
    }
    // Links between the pages keep what the reader chose.
    for (const link of document.querySelectorAll("a[data-page]")) {
      const to = new URLSearchParams();
      for (const key of ["lang", "theme", "card"]) if (hash().get(key)) to.set(key, hash().get(key));
      link.href = link.dataset.page + (to.size ? "#" + to : "");
    }
  }

  /** Puts a value into the address; null removes it. */
  function put(key, value) {
    const to = hash();
    if (value === null) to.delete(key);
    else to.set(key, value);
    history.replaceState(null, "", "#" + to);
  }

  function copy(text, button) {
    const was = [...button.childNodes];
    function done() {
      button.textContent = t("Copied", "コピーしました");
      setTimeout(() => button.replaceChildren(...was), 1500);
    }
    if (navigator.clipboard && window.isSecureContext) {
      navigator.clipboard.writeText(text).then(done, () => {});
      return;
    }
    const area = el("textarea", {}, []);
    area.value = text;
    document.body.append(area);
    area.select();
    if (document.execCommand("copy")) done();
    area.remove();
  }

  function t(en, ja) {
    return state.lang === "ja" ? ja : en;
  }

  function fill(node, attributes) {
    for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, value);
    return node;
  }
  /** An element. Text from files and answers enters as text nodes only. */
  function el(name, attributes, children) {
    const node = fill(document.createElement(name), attributes);
    for (const child of [].concat(children ?? [])) node.append(child);
    return node;
  }
  function svg(name, attributes, text) {
    const node = fill(document.createElementNS(SVG, name), attributes);
    if (text !== undefined) node.textContent = text;
    return node;
  }
  function hatch() {
    const defs = svg("defs");
    const pattern = svg("pattern", {
      id: "hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)",
    });
    pattern.append(svg("line", { x1: 0, x2: 0, y1: 0, y2: 6, class: "hatch" }));
    defs.append(pattern);
    return defs;
  }

  /** The colour of a path: vector kernels, tile kernels, the vendor's library, not determined. */
  function family(path) {
    if (!path || path === "UNDETERMINED") return "none";
    if (path === "BLAS") return "blas";
    return /^MM(Q|F)$/.test(path) ? "tile" : "vec";
  }

  function number(value) {
    return value.toLocaleString("en-US");
  }
  function bytes(value) {
    for (const [unit, size] of [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]]) {
      if (value >= size) return (value / size).toFixed(value >= 100 * size ? 0 : 1) + " " + unit;
    }
    return value + " B";
  }

  apply();
  document.addEventListener("DOMContentLoaded", () => {
    apply();
    document.addEventListener("click", (event) => {
      const set = event.target.closest("[data-set]");
      const copied = event.target.closest("[data-copy]");
      if (set) {
        const [key, value] = set.dataset.set.split("=");
        state[key] = value;
        try {
          localStorage.setItem("whichkernel." + key, value);
        } catch {
          // A private window keeps nothing.
        }
        put(key, value);
        apply();
        document.dispatchEvent(new Event("wk-lang"));
      }
      if (copied) copy(copied.dataset.copy || copied.parentNode.querySelector("code").textContent, copied);
    });
  });

  window.wk = { state, hash, put, apply, copy, t, el, svg, hatch, family, number, bytes };
  wk.$ = (id) => document.getElementById(id);
  /** One of the two texts of an answer. */
  wk.say = (said) => (said ? said[state.lang] : "");
})();
