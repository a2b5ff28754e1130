// The question and its answer. Every statement comes from the module; this file draws it.
document.addEventListener("DOMContentLoaded", () => {
  "use strict";
  const { t, el, svg, $, say } = wk;
  const FIELDS = { gpu: "card", type: "model", tokens: "tokens", version: "version" };
  const typed = { gpu: "RX 9070 XT", type: "Q4_K_M", tokens: "290", version: "newest" };
  let asked = 0;
  let shown = null;

  function fromAddress() {
    for (const [field, key] of Object.entries(FIELDS)) typed[field] = wk.hash().get(key) || typed[field];
  }

  function what(path) {
    return {
      MMQ: t("llama.cpp’s tile kernel for quantized weights", "量子化された重み用の、llama.cpp のタイルカーネル"),
      MMVQ: t("llama.cpp’s vector kernel for quantized weights", "量子化された重み用の、llama.cpp のベクトルカーネル"),
      MMVF: t("llama.cpp’s vector kernel for unquantized weights", "量子化されていない重み用の、llama.cpp のベクトルカーネル"),
      MMF: t("llama.cpp’s tile kernel for unquantized weights", "量子化されていない重み用の、llama.cpp のタイルカーネル"),
      BLAS: t("a call into the vendor’s matrix library", "GPU ベンダーの行列ライブラリの呼び出し"),
    }[path] || t("an older vector kernel of llama.cpp", "llama.cpp の旧世代のベクトルカーネル");
  }

  /** Token counts from 1 to 1024 on a logarithmic axis. */
  function tokensBar(spans, count) {
    const X = (value) => Math.log2(value) * 10;
    const label = spans.map((it) => `${it.from}–${it.to}: ${it.path}`).join("; ");
    const bar = svg("svg", { class: "fluid", height: 50, role: "img", "aria-label": label });
    spans.forEach((span, i) => {
      const from = X(span.from);
      const to = i + 1 < spans.length ? X(spans[i + 1].from) : 100;
      const family = wk.family(span.path);
      bar.append(svg("rect", { x: from + "%", y: 20, width: to - from + "%", height: 26, class: family }));
      if (i) bar.append(svg("line", { x1: from + "%", x2: from + "%", y1: 20, y2: 46, class: "hair" }));
      if (to - from > 9) bar.append(svg("text", { x: from + "%", dx: 7, y: 37, class: family }, word(span.path)));
      if (i && Math.abs(X(count) - from) > 7) {
        bar.append(svg("text", { x: from + "%", y: 13, "text-anchor": "middle" }, span.from));
      }
    });
    const x = X(count);
    const anchor = x < 4 ? "start" : x > 95 ? "end" : "middle";
    if (x > 6 && !(spans.length > 1 && X(spans[1].from) < 6)) bar.append(svg("text", { x: 0, y: 13 }, "1"));
    if (x < 88) bar.append(svg("text", { x: "100%", y: 13, "text-anchor": "end" }, "1024"));
    bar.append(svg("line", { x1: x + "%", x2: x + "%", y1: 16, y2: 50, class: "needle" }));
    bar.append(svg("text", { x: x + "%", y: 13, class: "q", "text-anchor": anchor }, count));
    return bar;
  }
  function word(path) {
    return !path || path === "UNDETERMINED" ? "?" : path;
  }
  function spans(byColumns) {
    return byColumns.map((it) => ({ from: it.from, to: it.to ?? 1024, path: it.path }));
  }

  /** Releases with a date, in order: those with a table, and the exact ones at which the path changed. */
  function dated(found) {
    const line = found.versions.filter((it) => it.source === "llama.cpp" && it.date);
    const build = (it) => Number(it.version.slice(1));
    const known = found.answer.changes;
    const none = (path) => (path === "UNDETERMINED" ? null : path);
    for (const it of known ? known.changes : []) {
      if (!line.some((other) => other.version === it.version)) line.push({ ...it, path: none(it.after) });
      // The release before it has no name here, but its choice is known up to that day.
      line.push({ version: "b" + (build(it) - 0.5), date: it.date, path: none(it.before), until: it });
    }
    return line.sort((a, b) => build(a) - build(b));
  }

  /** Releases over time. A stretch between two releases that differ is hatched, unless the exact commit is known. */
  function versionBar(found, marked) {
    const line = dated(found);
    const last = found.versions.find((it) => it.source === "llama.cpp" && !it.date);
    const WIDTH = last ? 86 : 100;
    const [first, end] = [Date.parse(line[0].date), Date.parse(line.at(-1).date)];
    const X = (date) => ((Date.parse(date) - first) / (end - first)) * (WIDTH - 2) + 1;
    const bar = svg("svg", { class: "fluid", height: 62, role: "img" });
    bar.append(wk.hatch());
    const changes = [];
    let hatched = false;
    let start = 0;
    line.forEach((it, i) => {
      const next = line[i + 1];
      if (next && next.path === line[start].path) return;
      const path = line[start].path;
      const family = wk.family(path);
      const [a, b] = [X(line[start].date), Math.max(X(it.date), X(line[start].date) + 0.8)];
      bar.append(svg("rect", { x: a + "%", y: 4, width: b - a + "%", height: 26, class: family }));
      if (b - a > 9) bar.append(svg("text", { x: a + "%", dx: 7, y: 21, class: family }, word(path)));
      if (next) {
        const c = X(next.date);
        const exact = it.until && it.until.version === next.version;
        if (!exact) {
          bar.append(svg("rect", { x: b + "%", y: 4, width: Math.max(0, c - b) + "%", height: 26, fill: "url(#hatch)" }));
          hatched = true;
        }
        changes.push([path, it, next.path, next, exact]);
      }
      start = i + 1;
    });
    for (const it of line.filter((known) => !known.until)) {
      bar.append(svg("line", { x1: X(it.date) + "%", x2: X(it.date) + "%", y1: 32, y2: 36, class: "hair" }));
    }
    for (let year = new Date(first).getUTCFullYear() + 1; year <= new Date(end).getUTCFullYear(); year++) {
      bar.append(svg("text", { x: X(year + "-01-01") + "%", y: 52, "text-anchor": "middle" }, year));
    }
    bar.append(svg("text", { x: 0, y: 52, class: "minor" }, line[0].date.slice(0, 7)));
    if (last) {
      const family = wk.family(last.path);
      bar.append(svg("rect", { x: "89%", y: 4, width: "11%", height: 26, class: family }));
      bar.append(svg("text", { x: "94.5%", y: 21, class: family, "text-anchor": "middle" }, word(last.path)));
      bar.append(svg("text", { x: "100%", y: 52, "text-anchor": "end" }, t("newest", "最新")));
    }
    for (const name of marked) {
      const it = found.versions.find((known) => known.version === name);
      if (!it || it.source !== "llama.cpp") continue;
      const holder = svg("svg", { x: (it.date ? X(it.date) : 94.5) + "%", y: 40, overflow: "visible" });
      holder.append(svg("path", { d: "M-5 0h10L0 -7z", class: "dot" }));
      bar.append(holder);
    }
    const name = (it) => `${it.version} (${it.date})`;
    const none = t("not determined", "未確定");
    const text = changes.length
      ? changes.map(([before, from, after, to, exact]) => exact
        ? t(`${before || none} before ${name(to)}, ${after || none} since then.`, `${name(to)} より前は ${before || none}、それ以降は ${after || none}。`)
        : t(`${before || none} through ${name(from)}, ${after || none} from ${name(to)}.`, `${name(from)} までは ${before || none}、${name(to)} からは ${after || none}。`)).join(" ")
      : t(`The same in all ${line.length} releases since ${line[0].date}.`,
        `${line[0].date} 以降の ${line.length} リリースすべてで同じです。`);
    bar.setAttribute("aria-label", text);
    return { bar, text, hatched, commits: changes.filter((it) => it[4]).map((it) => it[3]) };
  }

  function gpuList(found, mine) {
    const list = el("dl", { class: "gpus" });
    let group = null;
    let cell = null;
    for (const gpu of found.gpus) {
      const name = gpu.target.startsWith("sm_") ? "NVIDIA" : gpu.generation.replace(/ \(.*/, "").replace(/^(CDNA|GCN) .*/, "$1");
      if (name !== group) {
        group = name;
        cell = el("dd");
        list.append(el("dt", {}, group), cell);
      }
      const path = gpu.path;
      // Colour is never alone: a card that differs names its path.
      const text = gpu.title.replace(/ \(.*/, "") + (path === mine ? "" : " · " + word(path));
      const button = el("button", {
        type: "button", class: "chip p-" + wk.family(path), "aria-pressed": String(gpu.target === found.answer.target),
        "aria-label": gpu.title + ": " + (path || t("not determined", "未確定")),
      }, text);
      button.onclick = () => change({ gpu: gpu.title.replace(/ \(.*/, "") });
      cell.append(button);
    }
    return list;
  }

  function lines(found) {
    const list = $("rule");
    list.replaceChildren();
    const answer = found.answer;
    const parts = answer.path || answer.undetermined || !answer.neighbours.length
      ? [[null, answer.rule]]
      : answer.neighbours.map((it) => [it.version, it.rule]);
    for (const [version, rules] of parts) {
      if (version) list.append(el("li", {}, el("b", { class: "mono" }, version)));
      for (const rule of rules) {
        const place = rule.file.split("/").pop() + ":" + rule.line;
        const where = rule.url ? el("a", { href: rule.url, rel: "noreferrer" }, place) : place;
        const values = rule.values.map(([name, value]) => `${name} = ${value}`).join(", ");
        list.append(el("li", {}, [
          el("span", { class: "mono" }, where), el("code", {}, rule.condition),
          el("span", { class: "out" }, "→ " + rule.outcome + (values ? "  ·  " + values : "")),
        ]));
      }
    }
    $("norule").hidden = list.childElementCount > 0;
  }

  function sure(found) {
    const { answer } = found;
    const open = !answer.path;
    const inferred = answer.asked_version && !open;
    $("sure-h").textContent = open
      ? t("How sure is this? Unknown.", "確かさ: 不明")
      : t("How sure is this? Declared, not observed.", "確かさ: ソースの宣言（実行は未観測）");
    $("sure-0").textContent = open
      ? t("The source code: no answer", "ソースコードの規則: 答えが定まりません")
      : t("The source code says so", "ソースコードの規則");
    // Without an answer, the sentence above has the reason.
    $("sure-1").textContent = open
      ? found.between
        ? t("The nearest releases with a table differ.", "表のある前後のリリースで異なります。")
        : t("The rules do not decide.", "規則では決まりません。")
      : found.between ? say(found.between) : t("The rule in the source, for dense 4096 × 4096 weights.", "4096 × 4096 の密な重みに対する、ソース上の規則です。");
    const grade = open ? "g-unresolved" : inferred ? "g-inferred" : "g-confirmed";
    $("sure-g").setAttribute("class", "g " + grade);
    $("sure-g").firstElementChild.setAttribute("href", "#" + grade);
  }

  function draw() {
    const found = shown;
    if (!found) return;
    for (const field of Object.keys(FIELDS)) {
      const said = found.fields[field];
      const bad = Boolean(said.error);
      $("as-" + field).textContent = say(said.error) || say(said.means);
      $("as-" + field).className = "as" + (bad ? " bad" : "");
      $("f-" + field).setAttribute("aria-invalid", String(bad));
      if (document.activeElement !== $("f-" + field)) {
        const newest = field === "version" && typed.version === "newest";
        $("f-" + field).value = newest ? t("newest", "最新") : typed[field];
      }
    }
    $("loading").hidden = true;
    $("result").hidden = !found.answer;
    $("nothing").hidden = Boolean(found.answer);
    if (!found.answer) {
      $("lines").hidden = true;
      return;
    }
    const { answer } = found;
    const path = answer.path;
    const split = !path && !answer.undetermined && answer.neighbours.length > 1;
    const head = $("path");
    head.replaceChildren();
    if (path) {
      const detail = el("span");
      if (found.kernel) detail.append(el("code", {}, found.kernel), el("br"));
      detail.append(what(path));
      head.append(el("b", { class: "p-" + wk.family(path) }, path), detail);
    } else {
      const either = [...new Set(answer.neighbours.map((it) => word(it.path)))].join(" / ");
      head.append(el("b", { class: "p-none" }, split ? either : "?"), el("span", {}, split
        ? t("unknown for this release", "このリリースでは未確定") : t("not determined", "未確定")));
    }
    $("why").textContent = say(found.reason) || say(found.between);
    sure(found);
    const bars = $("by-tokens");
    bars.replaceChildren();
    const own = spans(answer.by_columns);
    if (own.length) bars.append(tokensBar(own, answer.columns));
    else for (const it of answer.neighbours) bars.append(el("p", { class: "small mono quiet" }, it.version), tokensBar(spans(it.by_columns), answer.columns));
    $("cap-tokens").textContent = !own.length
      ? t("The two nearest releases differ.", "前後のリリースで異なります。")
      : own.length > 1
        ? t("The path changes at ", "経路が変わるのは ") + own.slice(1).map((it) => it.from).join(t(" and ", " と "))
          + t(" tokens.", " トークンです。")
        : path ? t("The same at every count.", "どのトークン数でも同じです。") : t("Not determined.", "未確定です。");
    const versions = versionBar(found, answer.version ? [answer.version] : answer.neighbours.map((it) => it.version));
    $("by-version").replaceChildren(versions.bar);
    $("cap-version").replaceChildren(versions.text, ...versions.commits.flatMap((it) => [" ",
      el("a", { href: "https://github.com/ggml-org/llama.cpp/commit/" + it.commit, class: "mono", rel: "noreferrer" }, it.commit.slice(0, 10))]));
    $("hatchkey").hidden = !versions.hatched;
    $("by-gpu").replaceChildren(gpuList(found, path));
    const same = found.gpus.filter((it) => it.path === path).length;
    const all = found.gpus.length;
    $("cap-gpu").textContent = path
      ? t(`${same} of ${all} GPU targets take ${path} here.`, `${all} ターゲットのうち ${same} 種では ${path} が選ばれます。`)
      : t(`Not determined on ${same} of ${all} GPU targets.`, `${all} ターゲットのうち ${same} 種が未確定です。`);
    $("cmd").textContent = found.command;
    $("copy-cmd").dataset.copy = found.command;
    $("copy-link").dataset.copy = location.href.replace(/#.*/, "") + "#" + address();
    const ollama = /ollama/i.test(typed.version);
    $("watch-cmd").textContent = "whichkernel watch --name " + (ollama ? "ollama" : "llama-server");
    lines(found);
  }

  function address() {
    const to = new URLSearchParams();
    for (const [field, key] of Object.entries(FIELDS)) to.set(key, typed[field]);
    return to;
  }

  function broken(error) {
    $("loading").hidden = true;
    $("broken").hidden = false;
    $("broken-why").textContent = error.message;
    const version = typed.version === "newest" ? "" : " " + typed.version.toLowerCase().replace(" ", "@");
    const quoted = typed.gpu.toLowerCase().replace(/[^a-z0-9]+/g, "-");
    $("broken-cmd").textContent = `whichkernel explain ${quoted} ${typed.type} ${typed.tokens}${version}`;
  }

  async function run() {
    const turn = ++asked;
    try {
      const found = await wk.ask({ ask: "explain", gpu: typed.gpu, type: typed.type, tokens: typed.tokens, version: typed.version });
      if (turn !== asked) return;
      if (found.json) found.answer = JSON.parse(found.json);
      shown = found;
      draw();
      document.body.dataset.answered = String(turn);
      if (turn === 1) document.body.dataset.milliseconds = String(Math.round(performance.now()));
    } catch (error) {
      if (error) broken(error);
    }
  }
  function change(values) {
    Object.assign(typed, values);
    for (const [field, key] of Object.entries(FIELDS)) wk.put(key, typed[field]);
    wk.apply();
    for (const field of Object.keys(FIELDS)) if (document.activeElement !== $("f-" + field)) $("f-" + field).value = typed[field];
    run();
  }

  function lists(choices) {
    const option = (value, label) => el("option", label ? { value, label } : { value });
    const cards = choices.cards.filter((it) => it.in_tables).reverse();
    $("l-gpu").append(...cards.map((it) => option(it.title.replace(/ \(.*/, ""), it.generation)));
    $("l-type").append(...choices.types.map((it) => option(it.name)));
    const ollama = [...choices.ollama].reverse().slice(0, 40).map((it) => option("Ollama " + it.release, it.date));
    const builds = choices.versions.filter((it) => it.date && it.source === "llama.cpp").reverse();
    $("l-version").append(option("newest"), ...builds.map((it) => option(it.version, it.date)), ...ollama);
  }

  fromAddress();
  for (const field of Object.keys(FIELDS)) {
    const input = $("f-" + field);
    input.value = typed[field];
    input.addEventListener("change", () => {
      change({ [field]: /^(最新|)$/.test(input.value.trim()) && field === "version" ? "newest" : input.value });
    });
    input.addEventListener("focus", () => input.select());
  }
  $("ask").addEventListener("submit", (event) => event.preventDefault());
  for (const button of document.querySelectorAll("[data-try]")) {
    button.onclick = () => {
      const [gpu, type, tokens, version] = button.dataset.try.split("|");
      change({ gpu, type, tokens, version });
    };
  }
  async function model(file) {
    if (!file) return;
    try {
      // Only a model is read: a library may have gigabytes.
      const is = (await file.slice(0, 4).text()) === "GGUF";
      const found = is ? await wk.ask({ ask: "open", name: file.name, gpu: null }, file) : {};
      if (!found.main_type) {
        $("as-type").textContent = (found.error && say(found.error)) || t("This is not a model file.", "モデルファイルではありません。");
        $("as-type").className = "as bad";
        return;
      }
      change({ type: found.main_type });
    } catch (error) {
      if (error) broken(error);
    }
  }
  $("gguf").addEventListener("change", () => model($("gguf").files[0]));
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    model(event.dataTransfer.files[0]);
  });
  $("see").onclick = () => {
    const open = $("lines").hidden;
    $("lines").hidden = !open;
    $("see").setAttribute("aria-expanded", String(open));
    wk.put("lines", open ? "1" : null);
    if (open) $("lines").scrollIntoView({ block: "nearest" });
  };
  document.addEventListener("wk-lang", draw);
  window.addEventListener("hashchange", () => {
    fromAddress();
    run();
  });
  run().then(() => {
    if (wk.hash().get("lines") && shown && shown.answer) $("see").click();
    return wk.ask({ ask: "choices" });
  }).then(lists, () => {});
});
