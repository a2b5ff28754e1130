// The picture of all releases: one fluid SVG per card, one keyboard stop for the whole grid. Draws `atlas-data.js`.
document.addEventListener("DOMContentLoaded", () => {
  "use strict";
  const { t, el, svg, $ } = wk;
  const data = window.whichkernelAtlas;
  const line = data.releases.map((it, i) => i).filter((i) => data.releases[i].source === "llama.cpp" && data.releases[i].date);
  const ollama = data.releases.findIndex((it) => it.source === "ollama");
  const address = wk.hash();
  const choice = (value, allowed, other) => (allowed.includes(value) ? value : other);
  const names = data.releases.map((it) => it.name);
  const COUNTS = [1, 8, 64, 290, 512];
  const picked = {
    type: choice(address.get("type"), data.types, data.types.includes("Q4_K") ? "Q4_K" : data.types[0]),
    count: choice(Number(address.get("tokens")), COUNTS, 290),
    row: Math.max(0, data.cards.findIndex((it) => it.target === (address.get("gpu") || "gfx1201"))),
    column: line.length - 1,
    from: choice(address.get("from"), names, names[line[Math.floor(line.length / 2)]]),
    to: choice(address.get("to"), names, names[line.at(-1)]),
  };
  const start = Date.parse(data.releases[line[0]].date);
  const end = Date.parse(data.releases[line.at(-1)].date);
  // The last release gets some room of its own.
  const x = (i) => ((Date.parse(data.releases[line[i]].date) - start) / Math.max(1, end - start)) * 98;
  const edge = (i) => (i + 1 < line.length ? x(i + 1) : 100);

  /** The ranges of token counts of a cell in a release: the last entry at or before it. */
  function plan(target, type, release) {
    const turns = (data.cells[target] || {})[type] || [];
    let found = null;
    for (const [at, index] of turns) if (at <= release) found = index;
    return found === null ? [] : data.plans[found];
  }
  function pathIn(spans, count) {
    const span = spans.find(([from, to]) => from <= count && count <= to);
    return span && span[2] !== "UNDETERMINED" ? span[2] : null;
  }
  const path = (row, release) => pathIn(plan(data.cards[row].target, picked.type, release), picked.count);
  const word = (it) => it || "?";
  const tokens = (count) => t(count === 1 ? "1 token" : `${count} tokens`, `${count} トークン`);

  /** The last change in the picked row is the most interesting cell of it. */
  function lastChange() {
    for (let i = line.length - 1; i > 0; i--) if (path(picked.row, line[i]) !== path(picked.row, line[i - 1])) return i;
    return line.length - 1;
  }

  function mark() {
    for (const old of document.querySelectorAll(".sel")) old.remove();
    const row = document.querySelectorAll("#a-rows svg.row")[picked.row];
    const i = picked.column;
    const release = data.releases[line[i]];
    const card = data.cards[picked.row];
    const now = path(picked.row, line[i]);
    const before = i ? path(picked.row, line[i - 1]) : now;
    const last = i ? data.releases[line[i - 1]].name : "";
    row.append(svg("rect", { class: "sel", x: x(i) + "%", y: 1, width: edge(i) - x(i) + "%", height: 20 }));
    const what = el("div", {}, [
      el("span", { class: "pill p-" + wk.family(now) }, word(now)), " ", el("b", {}, card.title), ` · ${picked.type} · ${tokens(picked.count)} · `,
      el("b", {}, release.name), ` (${release.date})`, el("br"),
      el("span", { class: "quiet small" }, before !== now
        ? data.exact
          ? t(`Changed from ${word(before)} in this release.`, `このリリースで ${word(before)} から変わりました。`)
          : t(`Changed from ${word(before)} after ${last}, at this release or before it.`, `${last} より後、このリリースまでの間に ${word(before)} から変わりました。`)
        : i ? t(`No change since ${last}.`, `${last} から変更はありません。`) : t("The first release in the table.", "表にある最初のリリースです。")),
    ]);
    const commit = release.commit;
    const links = el("div", {}, [
      el("span", { class: "small faint" }, t("commit ", "コミット ")),
      el("a", { href: "https://github.com/ggml-org/llama.cpp/commit/" + commit, class: "mono", rel: "noreferrer" }, commit.slice(0, 12)), " ",
      el("button", { type: "button", class: "copy", "data-copy": commit }, t("Copy", "コピー")),
    ]);
    for (const [text, step, label] of [["‹", -1, t("Earlier release", "前のリリース")], ["›", 1, t("Later release", "次のリリース")]]) {
      const button = el("button", { type: "button", class: "copy", "aria-label": label }, text);
      button.onclick = () => {
        move(0, step);
        $("tip").querySelectorAll("button")[step < 0 ? 1 : 2].focus();
      };
      links.append(" ", button);
    }
    $("tip").replaceChildren(what, links);
    $("a-rows").setAttribute("aria-label", `${card.title}, ${release.name}: ${word(now)}`);
  }
  function move(rows, columns) {
    picked.row = Math.max(0, Math.min(data.cards.length - 1, picked.row + rows));
    picked.column = Math.max(0, Math.min(line.length - 1, picked.column + columns));
    mark();
  }

  function axis(pixels) {
    const node = svg("svg", { class: "fluid", height: 34, "aria-hidden": "true" });
    const span = (date) => ((Date.parse(date) - start) / Math.max(1, end - start)) * 98;
    for (let year = new Date(start).getUTCFullYear(); year <= new Date(end).getUTCFullYear(); year++) {
      const at = span(year + "-01-01");
      if (at >= -2) node.append(svg("text", { x: Math.max(0, at) + "%", y: 12, class: "q" }, year));
    }
    let last = -9;
    line.forEach((release, i) => {
      node.append(svg("line", { x1: x(i) + "%", x2: x(i) + "%", y1: 30, y2: 34, class: "hair" }));
      if ((x(i) - last) * pixels > 56 && x(i) < 95) {
        last = x(i);
        node.append(svg("text", { x: x(i) + "%", y: 27, class: "minor" }, data.releases[release].name));
      }
    });
    return node;
  }

  function strip(row, pixels) {
    const node = svg("svg", { class: "fluid row", height: 22, "aria-hidden": "true" });
    if (!row) node.append(wk.hatch());
    const paths = line.map((release) => path(row, release));
    let first = 0;
    let changes = 0;
    line.forEach((_, i) => {
      const last = i === line.length - 1;
      if (!last && paths[i + 1] === paths[first]) return;
      const family = wk.family(paths[first]);
      const from = x(first);
      // With every release in the table, a choice lasts until the release that changes it.
      const to = Math.max(last ? 100 : data.exact ? x(i + 1) : x(i), from + 0.5);
      node.append(svg("rect", { x: from + "%", y: 1, width: to - from + "%", height: 20, class: family }));
      if ((to - from) * pixels > 44) node.append(svg("text", { x: from + "%", dx: 6, y: 15, class: family }, word(paths[first])));
      if (!last) {
        changes++;
        if (!data.exact) node.append(svg("rect", { x: to + "%", y: 1, width: Math.max(0, x(i + 1) - to) + "%", height: 20, fill: "url(#hatch)" }));
      }
      first = i + 1;
    });
    line.forEach((_, i) => {
      const hit = svg("rect", { class: "hit", x: x(i) + "%", y: 1, width: edge(i) - x(i) + "%", height: 20 });
      hit.onmouseenter = hit.onclick = () => {
        [picked.row, picked.column] = [row, i];
        mark();
      };
      node.append(hit);
    });
    return [node, changes];
  }

  function draw() {
    const width = $("a-rows").clientWidth;
    const pixels = Math.max(80, width - (width < 600 ? 9.3 : 17.5) * 16) / 100;
    $("a-n").replaceChildren(...COUNTS.map((count) => {
      const button = el("button", { type: "button", "aria-pressed": String(picked.count === count) }, String(count));
      button.onclick = () => {
        picked.count = count;
        wk.put("tokens", count);
        draw();
      };
      return button;
    }));
    const box = $("a-rows");
    box.replaceChildren();
    box.tabIndex = 0;
    box.setAttribute("role", "application");
    box.append(el("div", { class: "arow" }, [el("span"), axis(pixels), el("span", { class: "ol faint" }, ollama >= 0 ? "Ollama" : "")]));
    let group = null;
    let changes = 0;
    data.cards.forEach((card, row) => {
      const name = card.target.startsWith("sm_") ? "NVIDIA" : card.generation.replace(/ \(.*/, "").replace(/^(CDNA|GCN) .*/, "$1");
      if (name !== group) {
        group = name;
        box.append(el("div", { class: "agroup" }, group));
      }
      const [bars, changed] = strip(row, pixels);
      changes += changed;
      const title = card.page ? el("a", { href: card.page }, card.title) : card.title;
      const own = ollama >= 0 ? path(row, ollama) : null;
      box.append(el("div", { class: "arow" }, [
        el("span", { class: "lbl" }, [title, el("code", {}, card.target)]), bars,
        ollama >= 0 ? el("span", { class: "ol p-" + wk.family(own) }, word(own)) : el("span"),
      ]));
    });
    const [first, last] = [data.releases[line[0]], data.releases[line.at(-1)]];
    const of = ollama >= 0 ? data.releases[ollama] : null;
    $("a-cap").replaceChildren(el("b", {}, t(`${picked.type}, ${tokens(picked.count)}: `, `${picked.type}、${tokens(picked.count)}: `)),
      t(`${changes} changes on ${data.cards.length} targets between ${first.date} and ${last.date}.`,
        `${first.date} から ${last.date} までに、${data.cards.length} ターゲットで ${changes} 回の変更がありました。`),
      of ? t(` Ollama is commit ${of.name} of ${of.date}.`, ` Ollama の列は ${of.date} のコミット ${of.name} です。`) : "");
    mark();
    differences();
  }

  function differences() {
    const [a, b] = [names.indexOf(picked.from), names.indexOf(picked.to)];
    const groups = new Map();
    let same = 0;
    for (const card of data.cards) {
      const [before, after] = [plan(card.target, picked.type, a), plan(card.target, picked.type, b)];
      const cuts = [...new Set([...before, ...after].map(([from]) => from))].sort((p, q) => p - q);
      const found = [];
      cuts.forEach((from, i) => {
        const to = i + 1 < cuts.length ? cuts[i + 1] - 1 : data.columns;
        const [p, q] = [pathIn(before, from), pathIn(after, from)];
        if (p === q) return;
        const last = found.at(-1);
        if (last && last[1] === from - 1 && last[2] === p && last[3] === q) last[1] = to;
        else found.push([from, to, p, q]);
      });
      if (!found.length) {
        same++;
        continue;
      }
      const key = JSON.stringify(found);
      groups.set(key, [...(groups.get(key) || []), card.title]);
    }
    const count = data.cards.length - same;
    $("d-say").textContent = count
      ? t(`${picked.type} differs on ${count} of ${data.cards.length} targets.`, `${picked.type} は ${data.cards.length} ターゲットのうち ${count} ターゲットで異なります。`)
      : t(`No difference for ${picked.type} on any of the ${data.cards.length} targets.`, `${picked.type} では ${data.cards.length} ターゲットすべてで同じです。`);
    const table = $("d-table");
    table.replaceChildren();
    if (count) {
      const heads = [t("Cards", "カード"), t("Tokens", "トークン数"), picked.from, picked.to];
      table.append(el("thead", {}, el("tr", {}, heads.map((it) => el("th", { scope: "col" }, it)))));
      const body = el("tbody");
      for (const [key, cards] of groups) {
        JSON.parse(key).forEach(([from, to, p, q], i, all) => {
          const row = el("tr");
          if (!i) row.append(el("th", { scope: "rowgroup", rowspan: all.length }, cards.join(", ")));
          row.append(el("td", { class: "nowrap" }, from === to ? String(from) : `${from}–${to}`));
          for (const it of [p, q]) row.append(el("td", {}, el("span", { class: "pill p-" + wk.family(it) }, word(it))));
          body.append(row);
        });
      }
      table.append(body);
    }
    $("d-same").textContent = count && same
      ? t(`The same on the other ${same} targets, at every count from 1 to ${data.columns}.`, `残りの ${same} ターゲットでは、1〜${data.columns} トークンのすべてで同じです。`) : "";
  }

  $("lede-en").textContent = data.exact ? "Every tagged release was evaluated." : "A hatched stretch means that the choice changed somewhere in it.";
  $("lede-ja").textContent = data.exact ? "タグ付きの全リリースを評価しています。" : "斜線の期間のどこかで選択が変わっています。";
  function more() {
    $("a-more").textContent = data.exact
      ? t(`${data.evaluated} releases were evaluated; those at which a path changed are drawn.`, `${data.evaluated} 個のリリースを評価し、経路が変わったリリースを図に示しています。`)
      : t(`The picture has ${line.length} releases of llama.cpp. \`whichkernel atlas\` evaluates every tagged release and writes this site with them.`,
        `この図にあるのは llama.cpp の ${line.length} リリースです。\`whichkernel atlas\` を使うと、タグ付きの全リリースを評価してこのサイトを作れます。`);
  }
  $("a-type").append(...data.types.map((type) => el("option", {}, type)));
  $("a-type").value = picked.type;
  $("a-type").onchange = () => {
    picked.type = $("a-type").value;
    wk.put("type", picked.type);
    draw();
  };
  for (const [id, key] of [["va", "from"], ["vb", "to"]]) {
    const select = $(id);
    for (const it of data.releases) {
      select.append(el("option", { value: it.name }, (it.source === "ollama" ? "Ollama " : "") + it.name + (it.date ? ` (${it.date})` : "")));
    }
    select.value = picked[key];
    select.onchange = () => {
      picked[key] = select.value;
      wk.put(key, select.value);
      differences();
    };
  }
  $("swap").onclick = () => {
    [picked.from, picked.to] = [picked.to, picked.from];
    [$("va").value, $("vb").value] = [picked.from, picked.to];
    wk.put("from", picked.from);
    wk.put("to", picked.to);
    differences();
  };
  $("a-rows").addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (!step) return;
    event.preventDefault();
    move(...step);
  });
  document.addEventListener("wk-lang", () => {
    more();
    draw();
  });
  let wait = null;
  window.addEventListener("resize", () => {
    clearTimeout(wait);
    wait = setTimeout(draw, 120);
  });
  more();
  picked.column = lastChange();
  draw();
});
