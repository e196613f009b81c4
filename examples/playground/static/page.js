"use strict";
// The page shows what the scheduler says and tells it what was clicked. It decides
// nothing: see examples/playground/internal/page.

const $ = (id) => document.getElementById(id);
const areas = ["nodes", "pods", "config"];
let view = null; // the last one
const marks = { nodes: [], pods: [], config: [] }; // problems with a line

// make makes an element. Properties that begin with "on" are listeners; others are
// attributes, left out if they are null or false.
function make(tag, properties, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(properties || {})) {
    if (name.startsWith("on")) e.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false && value !== undefined) e.setAttribute(name, value === true ? "" : value);
  }
  e.append(...children.filter((c) => c !== null && c !== undefined));
  return e;
}

// ---- the scheduler, which is a worker: the page goes on while it reads

let scheduler = null;
const queue = []; // calls that are not sent yet
let running = null; // the call that is sent
let end = ""; // why there is no scheduler any more
let state = ""; // what the scheduler shows, as in a link; "" if it is not known
let anew = false; // the scheduler was started again, and has done nothing since that was asked for

// call asks the scheduler and returns its reply. It is null if a later call came before this
// one was sent and replaces it. If the scheduler has ended for good, the page says so and
// stays as it is.
function call(request) {
  return new Promise((resolve) => {
    if (queue.length && replaces(request, queue.at(-1).request)) queue.pop().resolve(null);
    queue.push({ request, resolve });
    send();
  });
}

// replaces reports whether nobody needs the reply to the earlier request.
function replaces(request, earlier) {
  if (request.do !== earlier.do) return false;
  if (request.do === "edit") return Boolean(request.texts);
  return request.do === "rows" || request.do === "seed" || request.do === "weigh" && request.name === earlier.name;
}

let slowTimer = 0;
function send() {
  if (running) return;
  running = queue.shift() || null;
  clearTimeout(slowTimer);
  if (!running) {
    delete document.documentElement.dataset.busy;
    return;
  }
  if (end) {
    take(gone());
    return;
  }
  document.documentElement.dataset.busy = running.request.do;
  const waits = "The scheduler is at work ...";
  slowTimer = setTimeout(() => {
    tell(waits);
    running.slow = () => { if ($("status").textContent === waits) tell("Done."); };
  }, 500);
  scheduler.postMessage(JSON.stringify(running.request));
}

// take hands over the reply to the call that was sent, and sends the next.
function take(reply) {
  const { resolve, slow, request } = running;
  running = null;
  if (!end && !["open", "warm", "link"].includes(request.do)) anew = false;
  if (slow) slow();
  resolve(reply);
  Promise.resolve().then(send); // after what is done with the reply
}

const gone = () => ({ problems: [{ area: "page", text: `the scheduler has ended (${end}); load the page again, the link holds all` }] });

// start starts a scheduler, and calls ready when it is there.
function start(ready) {
  if (scheduler) scheduler.terminate();
  const own = scheduler = new Worker("worker.js");
  own.onerror = (e) => { if (own === scheduler) ended(e.message, ready); };
  own.onmessage = ({ data }) => {
    if (own !== scheduler) return; // the last words of an earlier one
    if (data.ready) {
      ready();
      ready = null;
    } else if (data.ended) ended(data.ended, ready);
    else if (running) take(JSON.parse(data.reply));
  };
}

// ended starts the scheduler again, in the state that it had. A scheduler that ends again
// before it has done anything that was asked for has ended for good: the state ends it.
function ended(why, starting) {
  if (!view) {
    fail(new Error(why));
    return;
  }
  const call = running;
  if (starting || anew || !state) {
    end = why;
    if (call) take(gone());
    else if (starting) ask({ do: "warm" }); // says so
    return;
  }
  anew = true;
  const typed = call && call.request.do === "edit" && call.request.texts;
  running ||= { request: {}, resolve() {} }; // nothing is sent before it is there
  document.documentElement.dataset.busy = "start";
  start(async () => {
    const { resolve } = running;
    running = { request: { do: "open" }, resolve(reply) {
      if (typed) delete reply.texts; // what was typed stays
      reply.problems = (reply.problems || []).concat({ area: "page", text: `the scheduler had ended (${why}) and was started again${call ? "; what it was asked last is not done" : ""}` });
      if (call) resolve(reply);
      else answer(reply, { do: "open" });
    } };
    scheduler.postMessage(JSON.stringify({ do: "open", text: state }));
  });
}

// ask sends a request and shows the answer, and other problems beside its own.
async function ask(request, ...others) {
  const reply = await call(request);
  return reply && answer(reply, request, ...others);
}

// answer shows the reply to a request.
function answer(reply, request, ...others) {
  if (reply.texts) {
    for (const area of areas) $(area).value = reply.texts[area] || "";
  }
  if (reply.view) show(reply.view);
  showProblems((view ? view.problems : []).concat(reply.problems || [], others));
  if (reply.view && request.do !== "rows") renewLink();
  if (reply.view && request.do !== "weigh" && request.do !== "rows") warm();
  return reply;
}

// warm lets the scheduler prepare for other weights while nothing else is to be done.
let warmTimer = 0;
function warm() {
  clearTimeout(warmTimer);
  warmTimer = setTimeout(() => { if (!running) call({ do: "warm" }); }, 150);
}

// ---- links: a version, then the state, packed and in base64url

const linkVersion = "1.", packing = "deflate-raw";
const maxLink = 1 << 20; // characters: browsers shorten or refuse longer ones
const maxState = 32 << 20; // bytes: a short link must not unpack to a text that fills the memory
const slice = 1 << 10; // bytes: browsers unpack all that they get at once, to 1,000 times as much

// streamOf returns a stream that gives a slice whenever one is wanted.
function streamOf(bytes) {
  let at = 0;
  return new ReadableStream({
    pull(to) {
      if (at < bytes.length) to.enqueue(bytes.subarray(at, at += slice));
      else to.close();
    },
  }, { highWaterMark: 0 });
}

async function pack(text) {
  const packer = new CompressionStream(packing);
  const packed = new Uint8Array(await new Response(new Blob([text]).stream().pipeThrough(packer)).arrayBuffer());
  const size = linkVersion.length + Math.ceil(packed.length * 4 / 3);
  if (size > maxLink) {
    throw new Error(`the texts are too large for a link: ${size >> 10} KB, and browsers take about ${maxLink >> 10}; shorten them, or save them as files`);
  }
  const parts = [];
  for (let at = 0; at < packed.length; at += slice) parts.push(String.fromCharCode(...packed.subarray(at, at + slice)));
  return linkVersion + btoa(parts.join("")).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

async function unpack(link) {
  if (!link.startsWith(linkVersion)) throw new Error("the part after # is no link of this page");
  const text = link.slice(linkVersion.length);
  if (text.length > maxLink) throw new Error(`the link is longer than ${maxLink} bytes`);
  if (!/^[\w-]*$/.test(text) || text.length % 4 === 1) {
    throw new Error("the link is damaged: it has a character that links do not have, or its end is missing");
  }
  const packed = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  const reader = streamOf(packed).pipeThrough(new DecompressionStream(packing)).getReader();
  const damaged = () => { throw new Error("the link is damaged: it cannot be unpacked; copy all of it"); };
  const parts = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read().catch(damaged);
    if (done) break;
    parts.push(value);
    size += value.length;
    if (size > maxState) {
      reader.cancel();
      throw new Error(`the link holds more than ${maxState >> 20} MB`);
    }
  }
  if (size === 0) damaged();
  return new Blob(parts).text();
}

// ---- the address

let linkTimer = 0;
function renewLink() {
  clearTimeout(linkTimer);
  linkTimer = setTimeout(setLink, 250);
}

// setLink puts a link to what is shown into the address and returns the address, "" if
// there is no such link.
let links = 0;
async function setLink() {
  clearTimeout(linkTimer);
  const turn = ++links;
  let hash = "";
  try {
    const reply = await call({ do: "link" });
    state = reply.text || "";
    if (!reply.text) throw new Error(reply.problems[0].text);
    hash = "#" + await pack(reply.text);
  } catch (e) {
    tell(e.message);
  }
  const address = new URL(location.href);
  address.hash = hash; // "" if there is none: no old link
  if (turn === links) history.replaceState(null, "", address); // a later one has a later state
  return hash && address.href;
}

function tell(text) { $("status").textContent = text; }

async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    tell(what + " is copied.");
  } catch {
    tell("The browser does not let this page copy; take " + what.toLowerCase() + " from where it is shown.");
  }
}

// ---- the answers

function show(v) {
  view = v;
  const focused = document.activeElement && document.activeElement.dataset.key;
  choices($("preset"), v.presets.map((p) => [p.name, p.title]), v.preset);
  choices($("sample"), [["", "Your own"]].concat(v.samples.map((s) => [s.name, s.title])), v.sample);
  if (document.activeElement !== $("seed")) $("seed").value = v.seed || 0;
  list($("warnings"), v.warnings.concat(v.leftOut.map((p) => `${p.pod} is left out: ${p.why}`)).map((t) => make("li", null, t)));
  $("stale").hidden = !v.stale;
  showDecision(v);
  showWeights(v);
  showTable(v);
  showPanel(v);
  showHistory(v);
  if (focused) {
    const again = document.querySelector(`[data-key="${CSS.escape(focused)}"]`);
    if (again && again !== document.activeElement) again.focus();
  }
}

function list(e, children) { e.replaceChildren(...children); }

// choices fills a select, unless it has these choices already.
function choices(select, pairs, value) {
  const key = JSON.stringify(pairs);
  if (select.dataset.choices !== key) {
    select.dataset.choices = key;
    list(select, pairs.map(([name, title]) => make("option", { value: name }, title)));
  }
  select.value = value;
}

const count = (n, thing) => `${n.toLocaleString("en")} ${thing}${n === 1 ? "" : "s"}`;

function showDecision(v) {
  const d = v.decision;
  const queue = d && !v.queue.includes(d.pod) ? [d.pod].concat(v.queue) : v.queue;
  choices($("pod"), queue.map((p) => [p, p]), d ? d.pod : "");
  $("pod").disabled = !d;
  for (const id of ["place", "place-ten", "place-all"]) $(id).disabled = !d || v.stale;
  $("back").disabled = $("restart").disabled = v.steps === 0 || v.stale;
  $("counts").textContent = `${count(v.nodes, "node")}, ${count(v.running, "pod")} on them, ${v.waiting.toLocaleString("en")} waiting` +
    (v.unplaced ? `, ${v.unplaced.toLocaleString("en")} fit nowhere` : "");
  $("sentence").textContent = v.sentence;
  const tied = (d && d.tied) || [];
  $("tied").textContent = tied.length > 1 ? "Tied: " + tied.slice(0, 20).join(", ") + (tied.length > 20 ? ` and ${tied.length - 20} more` : "") : "";
  list($("reasons"), ((d && d.reasons) || []).map((r) => make("li", null, `${count(r.nodes, "node")}: ${r.text}${r.plugin ? ` (${r.plugin})` : ""}`)));
}

// broken lets a plugin's name break between its words.
function broken(name) {
  return name.split(/(?<=[a-z])(?=[A-Z])/).flatMap((part, i) => (i ? [make("wbr"), part] : [part]));
}

function showWeights(v) {
  const box = $("sliders");
  const key = JSON.stringify(v.scorers.map((s) => [s.plugin, s.max]));
  if (box.dataset.key2 !== key) {
    box.dataset.key2 = key;
    list(box, v.scorers.map((s) => {
      const id = "weight-" + s.plugin;
      return make("div", { class: "slider" },
        make("label", { for: id, id: id + "-label" }, ...broken(s.plugin), make("span", { class: "quiet" })),
        make("input", { type: "range", id, min: 0, max: s.max, step: 1, oninput: (e) => weigh(s.plugin, e.target.value) }),
        make("input", { type: "number", min: 0, max: 1000000, step: 1, "aria-label": "Weight of " + s.plugin, oninput: (e) => e.target.value !== "" && weigh(s.plugin, e.target.value) }));
    }));
  }
  const weighing = weighs();
  if (!weighing) moved = {};
  v.scorers.forEach((s, i) => {
    const [label, range, number] = box.children[i].children;
    label.lastChild.textContent = s.weight === s.own ? "" : ` (own: ${s.own})`;
    label.classList.toggle("changed", s.weight !== s.own);
    if (!weighing) { // otherwise the next answer has the weights of now
      range.value = s.weight;
      if (document.activeElement !== number) number.value = s.weight;
    }
    range.disabled = number.disabled = v.stale;
  });
  const changed = v.scorers.some((s) => s.weight !== s.own);
  $("own-weights").disabled = !changed || v.stale;
  $("again").disabled = v.steps === 0 || v.stale;
  const e = v.elsewhere, d = v.decision;
  let text = "";
  if (e) {
    if (d && d.own && d.own !== d.chosen) text += `With the profile's own weights this pod goes to ${d.own}. `;
    const of = e.all ? `the ${count(e.of, "pod")} that wait` : `${count(e.of, "pod")} of those that wait`;
    text += `Of ${of}, ${e.pods.toLocaleString("en")} would go elsewhere, each decided about now`;
    text += e.moves ? ": " + e.moves.map((m) => `${m.pod} to ${m.to || "no node"} instead of ${m.from || "no node"}`).join("; ") + (e.classes > e.moves.length ? "; and others." : ".") : ".";
  }
  $("elsewhere").textContent = text;
}

// weighs reports whether another change of weights waits.
const weighs = () => queue.some((c) => c.request.do === "weigh");

let moved = {}; // weights by plugin that the view does not have yet

function weigh(plugin, text) {
  moved[plugin] = Math.round(Number(text));
  const weights = {};
  view.scorers.forEach((s, i) => {
    const [, range, number] = $("sliders").children[i].children;
    const w = moved[s.plugin] ?? s.weight;
    range.value = w;
    if (document.activeElement !== number) number.value = w;
    if (w !== s.own) weights[s.plugin] = w;
  });
  ask({ do: "weigh", name: view.decision ? view.decision.profile : "", weights });
}

function showTable(v) {
  const [head, body] = $("table").children;
  // A plugin that skips the pod has no column.
  const columns = v.scorers.map((s, i) => i).filter((i) => v.rows.some((r) => r.cells && r.cells[i]));
  const skipped = v.rows.some((r) => r.cells) ? v.scorers.filter((s, i) => !columns.includes(i)).map((s) => s.plugin) : [];
  $("skipped").textContent = skipped.length ? `Nothing to score for this pod: ${skipped.join(", ")}.` : "";
  const number = (text) => make("td", { class: "number" }, text);
  list(head, [make("tr", null, make("th", { scope: "col" }, "Node"),
    ...(columns.length ? [make("th", { scope: "col", class: "number" }, "Rank"), make("th", { scope: "col", class: "number" }, "Total")] : []),
    ...columns.map((i) => make("th", { scope: "col", class: "number" }, ...broken(v.scorers[i].plugin), make("br"), `× ${v.scorers[i].weight}`)),
    columns.length ? null : make("th", { scope: "col" }, v.decision ? "Verdict" : "Has"))]);
  list(body, v.rows.map((r) => {
    const badge = r.chosen ? make("span", { class: "badge chosen" }, "chosen") : r.tied ? make("span", { class: "badge tied" }, "tied") : null;
    const name = make("th", { scope: "row" }, make("button", { type: "button", "data-key": "node " + r.node, "aria-label": `${r.node}: why not?`, "aria-pressed": String(Boolean(v.panel && v.panel.node === r.node)), onclick: () => lookAt(r.node) }, r.node), badge);
    if (!r.cells) {
      const why = r.verdict === "feasible" ? "feasible" : `${r.plugin ? r.plugin + ": " : ""}${(r.reasons || [r.verdict]).join("; ")}`;
      return make("tr", { class: r.chosen ? "chosen" : r.verdict && r.verdict !== "feasible" ? "out" : null }, name, make("td", { colspan: columns.length ? columns.length + 2 : 1 }, make("span", { class: "reason" }, why)));
    }
    return make("tr", { class: r.chosen ? "chosen" : null }, name, number(String(r.rank)), number(r.total.toLocaleString("en")),
      ...columns.map((i) => {
        const c = r.cells[i];
        if (!c) return number("–");
        const raw = c.raw === c.normalized ? "" : `${c.raw.toLocaleString("en")} → `;
        const td = make("td", { class: "cell" }, c.weighted.toLocaleString("en"), make("small", null, `${raw}${c.normalized} × ${v.scorers[i].weight}`));
        td.style.setProperty("--share", c.normalized + "%");
        return td;
      }));
  }));
  const last = v.row + v.rows.length;
  $("rows").textContent = v.found ? `${v.row + 1} to ${last} of ${v.found}` : "no node";
  $("rows-back").disabled = v.row === 0;
  $("rows-next").disabled = last >= v.found;
}

async function lookAt(node) {
  await ask({ do: "node", name: node });
  if (view.panel) $("panel").scrollIntoView({ block: "nearest" });
}

function showPanel(v) {
  const p = v.panel;
  $("panel").hidden = !p;
  if (!p) return;
  $("panel-title").textContent = "Node " + p.node + (p.cordoned ? " (cordoned)" : "");
  $("drain").disabled = $("add").disabled = v.stale;
  const why = p.why;
  $("why").textContent = why ? why.text + (why.rejections ? ", because:" : ".") : "";
  const more = [];
  if (why && why.rejections) {
    more.push(make("ul", null, ...why.rejections.map((r) => make("li", null, make("b", null, ...broken(r.plugin)), ": " + (r.reasons || []).join("; ") + (r.details ? ` (${r.details.join("; ")})` : "")))));
  }
  if (why && why.gaps) {
    more.push(make("div", { class: "scroll" }, make("table", null,
      make("thead", null, make("tr", null, ...["Plugin", "Weight", p.node, why.chosen, "Gap"].map((t, i) => make("th", { scope: "col", class: i ? "number" : null }, t)))),
      make("tbody", null, ...why.gaps.map((g) => make("tr", null, make("th", { scope: "row" }, ...broken(g.plugin)), ...[g.weight, g.node, g.chosen, g.gap].map((n) => make("td", { class: "number" }, String(n)))))))));
  }
  if (why && why.chosen !== p.node) {
    more.push(make("h3", null, "What would put it here, each alone"));
    more.push(why.remedies ? make("ul", null, ...why.remedies.map((r) => make("li", null, r))) : make("p", { class: "quiet" }, "Nothing was found."));
  }
  list($("why-more"), more);
  list($("use").tBodies[0], p.use.map((u) => {
    const bar = make("span", { class: "share" });
    bar.style.setProperty("--share", Math.min(100, u.percent) + "%");
    return make("tr", null, make("th", { scope: "row" }, u.resource), make("td", null, u.requested), make("td", null, u.of), make("td", null, bar, u.percent + " %"));
  }));
  $("on-node").textContent = count(p.podCount, "pod") + (p.podCount > p.pods.length ? `, the first ${p.pods.length}` : "");
  list($("pods-on-node"), p.pods.map((x) => make("li", null, x.pod + (x.here ? " (placed here)" : ""), evict(x.pod))));
}

const evict = (pod) => make("button", { type: "button", "data-key": "evict " + pod, "aria-label": "Evict " + pod, disabled: view.stale, onclick: () => ask({ do: "evict", name: pod }) }, "Evict");

function showHistory(v) {
  $("history").start = v.steps;
  list($("history"), v.history.map((h) => make("li", { class: h.bad ? "bad" : null }, h.text,
    h.node ? make("button", { type: "button", "aria-label": "Look at node " + h.node, onclick: () => lookAt(h.node) }, "Look") : null)));
}

// ---- problems, beside their lines

function showProblems(problems) {
  for (const area of areas) {
    const own = problems.filter((p) => p.area === area);
    marks[area] = own.filter((p) => p.line);
    list($(area + "-problems"), own.slice(0, 20).map((p) => make("li", null,
      p.line ? make("button", { type: "button", onclick: () => goTo(area, p.line) }, "line " + p.line) : null, p.text)));
    if (own.length) $(area).setAttribute("aria-invalid", "true");
    else $(area).removeAttribute("aria-invalid");
    paint(area);
  }
  const weights = problems.filter((p) => p.area === "weights");
  list($("weights-problems"), weights.map((p) => make("li", null, p.text)));
  list($("messages"), problems.filter((p) => p.area === "link" || p.area === "page").map((p) => make("li", null, p.text)));
}

const rowHeight = 18, padding = 4;

// paint draws the numbers of the lines that are seen, and what is wrong with them.
function paint(area) {
  const text = $(area), [gutter, notes] = text.parentElement.children;
  const lines = text.lines === undefined || text.linesOf !== text.value ? text.value.split("\n") : text.lines;
  text.lines = lines;
  text.linesOf = text.value;
  const first = Math.max(1, Math.floor((text.scrollTop - padding) / rowHeight) + 1);
  const last = Math.min(lines.length, first + Math.ceil(text.clientHeight / rowHeight));
  const at = new Map(marks[area].map((m) => [m.line, m]).reverse());
  const numbers = [], shown = [];
  for (let n = first; n <= last; n++) {
    const y = padding + (n - 1) * rowHeight - text.scrollTop;
    const span = make("span", { class: at.has(n) ? "at-fault" : null }, String(n));
    span.style.top = y + "px";
    numbers.push(span);
    if (!at.has(n)) continue;
    const band = make("div", { class: "band" });
    band.style.top = y + "px";
    const note = make("div", { class: "note" }, at.get(n).text);
    // After the text, or over the end of a long line, never over another line. A long line
    // scrolls to the left from under it.
    const end = 6 + (lines[n - 1].length + 2) * 7.6 - text.scrollLeft;
    note.style.top = y + "px";
    note.style.left = Math.max(6, Math.min(end, text.clientWidth * 0.55)) + "px";
    shown.push(band, note);
  }
  list(gutter, numbers);
  list(notes, shown);
}

// goTo puts the cursor on a line.
function goTo(area, line) {
  const text = $(area);
  const lines = text.value.split("\n");
  const start = lines.slice(0, line - 1).reduce((sum, l) => sum + l.length + 1, 0);
  text.focus();
  text.setSelectionRange(start, start + (lines[line - 1] || "").length);
  text.scrollTop = Math.max(0, (line - 4) * rowHeight);
  paint(area);
}

// ---- listeners

let editTimer = 0;
function edited() {
  clearTimeout(editTimer);
  editTimer = setTimeout(edit, 300);
}
function edit() {
  clearTimeout(editTimer);
  ask({ do: "edit", texts: Object.fromEntries(areas.map((a) => [a, $(a).value])) });
}

function listen() {
  for (const area of areas) {
    $(area).addEventListener("input", () => { paint(area); edited(); });
    $(area).addEventListener("scroll", () => paint(area));
    new ResizeObserver(() => paint(area)).observe($(area));
  }
  const on = (id, request, event = "click") => $(id).addEventListener(event, () => ask(request()));
  on("sample", () => ({ do: $("sample").value ? "sample" : "edit", name: $("sample").value }), "change");
  on("preset", () => ({ do: "preset", name: $("preset").value }), "change");
  on("seed", () => ({ do: "seed", seed: Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, Math.floor(Number($("seed").value) || 0))) }), "input");
  on("pod", () => ({ do: "pod", name: $("pod").value }), "change");
  on("place", () => ({ do: "place" }));
  on("place-ten", () => ({ do: "place", n: 10 }));
  on("place-all", () => ({ do: "place", n: 1000000 }));
  on("back", () => ({ do: "back" }));
  on("restart", () => ({ do: "restart" }));
  on("own-weights", () => ({ do: "weigh", name: view.decision ? view.decision.profile : "" }));
  on("again", () => ({ do: "again" }));
  on("find", () => ({ do: "rows", n: 0, text: $("find").value }), "input");
  on("rows-back", () => ({ do: "rows", n: view.row - 25, text: $("find").value }));
  on("rows-next", () => ({ do: "rows", n: view.row + 25, text: $("find").value }));
  on("drain", () => ({ do: "drain", name: view.panel.node }));
  on("add", () => ({ do: "add", name: view.panel.node }));
  on("close", () => ({ do: "node", name: "" }));
  $("copy-link").addEventListener("click", async () => {
    const address = await setLink();
    if (address) copy(address, "The link");
  });
  $("copy-test").addEventListener("click", async () => {
    const reply = await ask({ do: "test" });
    if (!reply.text) return;
    $("test-text").value = reply.text;
    $("test").showModal();
  });
  $("test-copy").addEventListener("click", () => copy($("test-text").value, "The test"));
  $("test-close").addEventListener("click", () => $("test").close());
}

// open opens the state of a link, unless another is opened meanwhile. If there is none, it
// says why, and the page stays as it is.
let opened = 0;
async function open(hash) {
  if (hash === "#decision") return;
  const turn = ++opened;
  let text = "", problem = null;
  try {
    if (hash) text = await unpack(hash.slice(1));
  } catch (e) {
    problem = e.message;
  }
  if (turn !== opened) return;
  if (problem === null) await ask({ do: "open", text });
  else await ask({ do: view ? "edit" : "open" }, { area: "link", text: problem });
}

async function begin() {
  addEventListener("hashchange", () => open(location.hash));
  await open(location.hash === "#decision" ? "" : location.hash);
  listen();
  tell("Ready. Everything runs in this page.");
  document.documentElement.dataset.ready = "true";
}

const fail = (e) => tell("This page cannot go on: " + e.message);

start(() => begin().catch(fail));
