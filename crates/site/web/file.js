// A file: verdict for a card, targets, instructions, kernels. Every statement comes from the module; this file draws it.
document.addEventListener("DOMContentLoaded", () => {
  "use strict";
  const { t, el, svg, $, say, number, bytes } = wk;
  // Rows in the table at a time: more make scrolling slow, and the search finds the rest.
  const ROWS = 500;
  let file = null;
  let shown = null;
  let rows = [];
  let counted = null;
  let turn = 0;

  function show(name) {
    for (const id of ["empty", "reading", "result"]) $("p-" + id).hidden = id !== name;
    $("filebar").hidden = name === "empty";
    $("broken").hidden = true;
  }
  function broken(error) {
    if (!error) return;
    $("p-reading").hidden = true;
    $("broken").hidden = false;
    $("broken-why").textContent = error.message || error;
  }
  /** Something that is not one file: what was shown before goes away. */
  function refuse(name, why) {
    turn++;
    wk.stop();
    shown = null;
    $("fname").textContent = name;
    $("fsize").textContent = "";
    $("fstate").textContent = t("not read", "読み取りなし");
    show("none");
    broken(why);
  }
  function progress({ read, size }) {
    // The code is read first, then the whole file once more for its hash.
    const share = Math.min(99, Math.round((read / (2 * size)) * 100));
    $("done").setAttribute("width", share + "%");
    $("bar").setAttribute("aria-valuenow", share);
    $("reading").textContent = t(`Reading ${bytes(size)}: ${share} %`, `${bytes(size)} を読み取り中: ${share} %`);
  }

  async function open(chosen) {
    const mine = ++turn;
    wk.stop();
    file = chosen;
    [shown, rows, counted] = [null, [], null];
    $("fname").textContent = file.name;
    $("fsize").textContent = number(file.size) + " " + t("bytes", "バイト");
    $("fstate").textContent = t("reading", "読み取り中");
    show("reading");
    progress({ read: 0, size: file.size || 1 });
    const begun = performance.now();
    try {
      const found = await wk.ask({ ask: "open", name: file.name, gpu: $("card").value || null }, file, progress);
      if (mine !== turn) return;
      if (found.error) throw new Error(say(found.error));
      document.body.dataset.milliseconds = String(Math.round(performance.now() - begun));
      document.body.dataset.memory = String(found.memory);
      result(found);
      await kernels(mine);
    } catch (error) {
      if (mine === turn) broken(error);
    }
  }
  function result(found) {
    shown = found;
    shown.answer = found.json ? JSON.parse(found.json) : null;
    show("result");
    draw();
    document.body.dataset.shown = String(turn);
  }

  /** The kernels come after the verdict: the file is read a second time for them. */
  async function kernels(mine) {
    rows = [];
    const target = shown.list;
    $("s-kernels").hidden = !target;
    if (!target) return;
    list();
    const found = await wk.ask({ ask: "kernels", target });
    if (mine !== turn || found.error) return;
    shown.kernels = found.json;
    rows = JSON.parse(found.json).kernels;
    list();
    document.body.dataset.listed = String(turn);
  }

  async function count() {
    const mine = turn;
    const target = shown.list;
    $("count").disabled = true;
    $("count").textContent = t("Counting …", "集計中…");
    try {
      const found = await wk.ask({ ask: "census", target });
      if (mine !== turn) return;
      counted = found.error ? { error: found.error } : { target, json: found.json, answer: JSON.parse(found.json), whole: found.completeness };
      census();
      document.body.dataset.counted = String(turn);
    } catch (error) {
      broken(error);
    }
  }

  function bar(share, kind) {
    const node = svg("svg", { class: "bar", "aria-hidden": "true" });
    node.append(svg("rect", { class: "bg", width: "100%", height: 10 }));
    node.append(svg("rect", { class: kind, width: Math.max(0.6, share * 100) + "%", height: 10 }));
    return node;
  }

  function draw() {
    if (!shown) return;
    const whole = shown.kind === "file";
    const word = shown.word;
    const mark = { yes: ["v-yes", "g-confirmed"], no: ["v-no", "g-refuted"], "not-known": ["v-unknown", "g-unresolved"] }[word];
    $("mark").toggleAttribute("hidden", !mark);
    if (mark) {
      $("mark").setAttribute("class", "mark " + mark[1]);
      $("mark").firstElementChild.setAttribute("href", "#" + mark[0]);
    }
    $("verdict").textContent = say(shown.verdict);
    $("detail").textContent = say(shown.detail);
    $("copy-cmd").dataset.copy = shown.command;
    $("fsize").textContent = number(file.size) + " " + t("bytes", "バイト");
    $("fstate").textContent = shown.kind === "model" ? t("header only", "ヘッダーのみ読み取り")
      : shown.kind === "package" ? t("not read", "読み取りなし")
        : shown.complete || shown.kind === "catalog" ? t("read in full", "すべて読み取り済み") : t("not read in full", "一部のみ読み取り済み");
    $("save").hidden = !shown.json;
    $("s-advice").hidden = !(shown.advice || []).length;
    $("advice").replaceChildren(...(shown.advice || []).map((it) => el("li", {}, say(it))));
    $("s-types").hidden = shown.kind !== "model";
    $("s-catalog").hidden = shown.kind !== "catalog";
    $("s-targets").hidden = !whole || !shown.targets.length;
    $("s-coverage").hidden = !whole || !(shown.bytes.scanned || shown.bytes.not_understood);
    if (!whole) $("s-kernels").hidden = true;
    if (shown.kind === "model") return types();
    if (shown.kind === "catalog") return catalog();
    if (!whole) return;
    targets();
    coverage();
    census();
    list();
  }

  function targets() {
    const most = Math.max(1, ...shown.targets.map((it) => it.bytes));
    const body = $("targets");
    body.replaceChildren();
    if (shown.card && !shown.targets.some((it) => it.mine)) {
      body.append(el("tr", { class: "mine" }, [
        el("th", { scope: "row" }, [shown.card + " ", el("code", { class: "faint" }, shown.target)]),
        el("td", { class: "num" }, "0"), el("td", { class: "num hide-narrow" }, "–"), el("td", { class: "num" }, "–"), el("td", { class: "hide-narrow" }),
      ]));
    }
    const order = [...shown.targets].sort((a, b) => b.mine - a.mine);
    for (const it of order) {
      const name = it.mine && shown.card ? shown.card : it.title;
      body.append(el("tr", it.mine ? { class: "mine" } : {}, [
        el("th", { scope: "row" }, [name ? name + " " : "", el("code", { class: "faint" }, it.target)]),
        el("td", { class: "num" }, number(it.kernels)), el("td", { class: "num hide-narrow" }, number(it.stubs)),
        el("td", { class: "num" }, bytes(it.bytes)), el("td", { class: "barcell hide-narrow" }, bar(it.bytes / most, it.mine ? "m" : "f")),
      ]));
    }
  }

  function coverage() {
    const { scanned, padding, not_understood: lost } = shown.bytes;
    $("cov-say").textContent = t(
      `${number(scanned)} bytes of AMD device code understood, ${number(padding)} zero padding, ${number(lost)} not understood.`,
      `AMD のデバイスコードのうち ${number(scanned)} バイトは解釈済み、${number(padding)} バイトはゼロパディング、${number(lost)} バイトは解釈不能です。`);
    const all = Math.max(1, scanned + padding + lost);
    const from = (scanned + padding) / all * 100;
    $("cov").replaceChildren(wk.hatch(), svg("rect", { class: "track", width: "100%", height: 14 }),
      svg("rect", { class: "meas", width: scanned / all * 100 + "%", height: 14 }),
      svg("rect", { x: from + "%", width: lost / all * 100 + "%", height: 14, fill: "url(#hatch)" }));
    $("completeness").textContent = say(shown.completeness);
  }

  function census() {
    const target = shown.list;
    $("s-census").hidden = !shown.census;
    $("count").disabled = false;
    const done = counted && (counted.error || counted.target === target);
    $("count").hidden = Boolean(done);
    $("count").textContent = t(`Count the instructions for ${target}`, `${target} 用の命令を集計`);
    $("census-table").hidden = !(done && counted.answer);
    if (!done) {
      $("census-say").textContent = t("Every instruction is decoded and counted. This reads the file again.", "すべての命令を逆アセンブルして数えます。ファイルをもう一度読み取ります。");
      return;
    }
    if (counted.error) {
      $("census-say").textContent = say(counted.error);
      return;
    }
    const families = {};
    let instructions = 0;
    for (const group of counted.answer.groups) {
      instructions += group.instructions;
      for (const [name, value] of Object.entries(group.families)) families[name] = (families[name] || 0) + value;
    }
    const matrix = ["wmma", "swmmac", "mfma", "smfmac"];
    const sorted = Object.entries(families).sort((a, b) => b[1] - a[1]);
    const shownOnes = sorted.filter(([name], i) => i < 13 || matrix.includes(name));
    const most = sorted.length ? sorted[0][1] : 1;
    $("census-say").textContent = t(`${number(instructions)} instructions for ${target}.`, `${target} 用の命令は ${number(instructions)} 個です。`) + " " + say(counted.whole);
    $("census").replaceChildren(...shownOnes.map(([name, value]) => el("tr", {}, [
      el("th", { scope: "row" }, name), el("td", { class: "num" }, number(value)),
      el("td", { class: "barcell" }, bar(value / most, matrix.includes(name) ? "meas" : "f")),
    ])));
  }

  function list() {
    const target = shown.list;
    if (!target) return;
    $("kernels-h").textContent = t(`Kernels for ${target}`, `${target} 用のカーネル`);
    const flat = (text) => text.toLowerCase().replace(/\s+/g, "");
    const wanted = flat($("kq").value);
    const found = rows.filter((it) => !($("kstub").checked && it.stub) && (!wanted || flat(it.name).includes(wanted) || flat(it.mangled).includes(wanted)));
    const cell = (value) => (value === null || value === undefined ? "–" : number(value));
    $("ktable").replaceChildren(...found.slice(0, ROWS).map((it) => el("tr", it.stub ? { class: "faint" } : {}, [
      el("th", { scope: "row", class: "mono" }, it.name), el("td", { class: "num" }, cell(it.vgpr ?? it.registers)),
      el("td", { class: "num hide-narrow" }, cell(it.sgpr)), el("td", { class: "num hide-narrow" }, cell(it.scratch)),
      el("td", { class: "num hide-narrow" }, cell(it.lds)), el("td", { class: "num" }, cell(it.code_size)),
      el("td", { class: "num" }, it.stub ? t("stub", "スタブ") : ""),
    ])));
    $("kcount").textContent = !rows.length && !shown.kernels
      ? t("reading the kernels …", "カーネルを読み取り中…")
      : found.length > ROWS
        ? t(`${number(found.length)} of ${number(rows.length)} match; the first ${ROWS} are shown.`, `${number(rows.length)} 件中 ${number(found.length)} 件が一致します。先頭の ${ROWS} 件を表示しています。`)
        : t(`${number(found.length)} of ${number(rows.length)} shown.`, `${number(rows.length)} 件中 ${number(found.length)} 件を表示しています。`);
  }

  /** The solutions of a catalog: by target, and those whose kernel matches the search. */
  function catalog() {
    const { answer } = shown;
    const any = t("any GPU", "すべての GPU");
    $("ctargets").replaceChildren(...answer.targets.map((it) => el("tr", answer.asked && it.target === answer.asked.target ? { class: "mine" } : {}, [
      el("th", { scope: "row" }, el("code", {}, it.target || any)), el("td", { class: "num" }, number(it.solutions)), el("td", { class: "num" }, number(it.kernels)),
    ])));
    const wanted = $("cq").value.toLowerCase().replace(/\s+/g, "");
    const found = answer.rows.filter((it) => !wanted || it.kernel.toLowerCase().includes(wanted));
    $("csolutions").replaceChildren(...found.slice(0, ROWS).map((it) => el("tr", {}, [
      el("th", { scope: "row", class: "mono" }, it.kernel), el("td", {}, el("code", {}, it.target || any)),
      el("td", { class: "hide-narrow" }, it.macro_tile.join("×")), el("td", { class: "num hide-narrow" }, number(it.depth_u)), el("td", { class: "hide-narrow" }, it.types.join(" ")),
    ])));
    $("ccount").textContent = found.length > ROWS
      ? t(`${number(found.length)} of ${number(answer.solutions)} match; the first ${ROWS} are shown.`, `${number(answer.solutions)} 件中 ${number(found.length)} 件が一致します。先頭の ${ROWS} 件を表示しています。`)
      : t(`${number(found.length)} of ${number(answer.solutions)} shown.`, `${number(answer.solutions)} 件中 ${number(found.length)} 件を表示しています。`);
  }

  function types() {
    const { answer } = shown;
    const role = {
      matrix: t("weight matrix", "重み行列"), embedding: t("token embedding", "トークン埋め込み"),
      experts: t("experts", "エキスパート"), vector: t("vector", "ベクトル"),
    };
    $("types").replaceChildren(...answer.types.map((it) => {
      const cell = el("td");
      for (const span of it.by_columns) {
        cell.append(el("span", { class: "pill p-" + wk.family(span.path) }, `${span.from}–${span.to ?? 1024} ${span.path}`), " ");
      }
      if (!it.by_columns.length) {
        cell.append(el("span", { class: "quiet" }, it.role === "vector" ? t("no matrix product", "行列積なし")
          : answer.rules ? t("not in the tables", "表になし") : t("choose a card", "カードを選んでください")));
      }
      return el("tr", {}, [
        el("th", { scope: "row" }, el("code", {}, it.type)), el("td", { class: "hide-narrow" }, role[it.role]),
        el("td", { class: "num" }, number(it.tensors)), el("td", { class: "num hide-narrow" }, it.bytes === null ? "–" : bytes(it.bytes)), cell,
      ]);
    }));
    const to = new URLSearchParams(wk.hash());
    if (shown.main_type) to.set("model", shown.main_type);
    $("ask-model").href = "index.html#" + to;
  }

  async function cardChanged() {
    wk.put("card", $("card").value || null);
    wk.apply();
    if (!shown) return;
    const mine = ++turn;
    // Only the report of a library is kept; a header, a catalog or the name of a package is read again.
    const afresh = shown.kind !== "file";
    const again = { ask: afresh ? "open" : "serves", name: file.name, gpu: $("card").value || null };
    const before = shown.list;
    try {
      const found = await wk.ask(again, afresh ? file : undefined);
      if (mine !== turn || found.error) return;
      const kept = shown.kernels;
      result(found);
      if (found.list === before && kept) shown.kernels = kept;
      else await kernels(mine);
      draw();
    } catch (error) {
      broken(error);
    }
  }

  $("choose").addEventListener("change", () => $("choose").files[0] && open($("choose").files[0]));
  for (const name of ["dragover", "dragenter"]) {
    document.addEventListener(name, (event) => {
      event.preventDefault();
      $("drop").classList.add("over");
    });
  }
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) $("drop").classList.remove("over");
  });
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    $("drop").classList.remove("over");
    // A browser gives a directory as a file that can't be read.
    const item = event.dataTransfer.items[0];
    const entry = item && item.webkitGetAsEntry && item.webkitGetAsEntry();
    const dropped = event.dataTransfer.files;
    if (entry && entry.isDirectory) refuse(entry.name, t("This is a directory. Drop one file of it.", "フォルダーです。中のファイルを 1 つドロップしてください。"));
    else if (dropped.length > 1) refuse(dropped[0].name + " …", t("These are several files. Drop one at a time.", "ファイルが複数あります。1 つずつドロップしてください。"));
    else if (dropped.length) open(dropped[0]);
  });
  const reset = () => {
    turn++;
    wk.stop();
    shown = null;
    $("choose").value = "";
    show("empty");
  };
  $("cancel").onclick = reset;
  $("another").onclick = reset;
  $("count").onclick = count;
  $("save").onclick = () => {
    const link = el("a", { download: file.name + ".json", href: URL.createObjectURL(new Blob([shown.json], { type: "application/json" })) });
    link.click();
    URL.revokeObjectURL(link.href);
  };
  $("kq").addEventListener("input", list);
  $("cq").addEventListener("input", catalog);
  $("kstub").addEventListener("change", list);
  $("card").addEventListener("change", cardChanged);
  document.addEventListener("wk-lang", draw);

  wk.ask({ ask: "choices" }).then((choices) => {
    const wanted = (wk.hash().get("card") || "RX 9070 XT").toLowerCase().replace(/[^a-z0-9]/g, "");
    const plain = (text) => text.toLowerCase().replace(/[^a-z0-9]/g, "");
    $("card").append(el("option", { value: "" }, "–"));
    let group = null;
    let into = null;
    for (const it of [...choices.cards].reverse()) {
      const name = it.generation || it.target;
      if (name !== group) {
        group = name;
        into = el("optgroup", { label: name });
        $("card").append(into);
      }
      into.append(el("option", { value: it.name }, it.title));
      if (plain(it.name) === wanted || plain(it.title) === wanted || plain(it.target) === wanted) $("card").value = it.name;
    }
    document.body.dataset.ready = "1";
  }, broken);
});
