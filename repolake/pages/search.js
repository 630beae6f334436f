// The search page: the address bar holds the query, the keyboard reaches everything.

import { ask, showError } from "./api.js";
import { ago, codeLines, element, figure, queryWords, textElement } from "./text.js";

const FIRST_K = 20;
const MAX_K = 100;
const SHOWN_LINES = 12;
const CONTEXT_LINES = 25;
const FILTERS = ["repository", "ref", "language", "kind", "path", "mode"];

const byId = (id) => document.getElementById(id);
const results = byId("results");
const message = byId("message");
let repositories = [];
let chosen = -1;
let k = FIRST_K;
let running = new AbortController();

/** Return the page's state as query parameters. */
function pageParameters() {
  const parameters = new URLSearchParams();
  for (const name of ["q", ...FILTERS]) {
    const value = byId(name).value.trim();
    if (value) parameters.set(name, value);
  }
  if (k !== FIRST_K) parameters.set("k", k);
  return parameters;
}

/** Return what the server is asked: a path with a wildcard is a glob. */
function searchParameters() {
  const parameters = pageParameters();
  const path = parameters.get("path");
  if (path && /[*?[]/.test(path)) {
    parameters.delete("path");
    parameters.set("path_glob", path);
  }
  parameters.set("k", k);
  return parameters;
}

function readAddress() {
  const parameters = new URLSearchParams(location.search);
  byId("q").value = parameters.get("q") ?? "";
  k = Math.min(MAX_K, Math.max(1, Number.parseInt(parameters.get("k") ?? "", 10) || FIRST_K));
  byId("repository").value = parameters.get("repository") ?? "";
  fillFilters();
  for (const name of FILTERS) setValue(byId(name), parameters.get(name) ?? "");
}

/** Set a field; a choice that is not offered is added, so that a shared link keeps its meaning. */
function setValue(field, value) {
  if (field.tagName === "SELECT" && value && ![...field.options].some((option) => option.value === value)) {
    field.append(new Option(value, value));
  }
  field.value = value;
}

function fillFilters() {
  const repository = byId("repository").value;
  const shown = repositories.filter((entry) => !repository || entry.repository === repository);
  const count = (name) => {
    const sums = new Map();
    for (const entry of shown) {
      for (const [key, chunks] of Object.entries(entry[name])) sums.set(key, (sums.get(key) ?? 0) + chunks);
    }
    return [...sums].sort((a, b) => b[1] - a[1]).map(([key, chunks]) => [key, `${key} (${figure(chunks)})`]);
  };
  fill("repository", repositories.map((entry) => [entry.repository, entry.repository]));
  const refs = [...new Set(shown.flatMap((entry) => entry.refs))].sort();
  fill("ref", [...refs.map((ref) => [ref, ref]), ["*", "all refs"]]);
  fill("language", count("languages"));
  fill("kind", count("kinds"));
}

function fill(id, choices) {
  const field = byId(id);
  const value = field.value;
  field.replaceChildren(field.options[0], ...choices.map(([key, label]) => new Option(label, key)));
  setValue(field, value);
}

function showFilters() {
  for (const name of FILTERS) byId(name).classList.toggle("set", byId(name).value !== "");
  byId("clear").hidden = FILTERS.every((name) => byId(name).value === "");
}

async function search({ keepAddress = false } = {}) {
  showFilters();
  running.abort();
  running = new AbortController();
  const { signal } = running;
  const query = byId("q").value.trim();
  if (!keepAddress) {
    const address = pageParameters().toString();
    history.pushState(null, "", address ? `?${address}` : location.pathname);
  }
  document.title = query ? `${query} · repolake` : "repolake";
  byId("start").hidden = query !== "";
  byId("more").hidden = true;
  message.className = "message";
  if (!query) {
    results.replaceChildren();
    message.textContent = "";
    choose(-1);
    return;
  }
  message.textContent = "Searching…";
  const started = performance.now();
  try {
    const { found, notes } = await ask(`search?${searchParameters()}`, signal);
    const seconds = ((performance.now() - started) / 1000).toFixed(2);
    const words = queryWords(query);
    results.replaceChildren(...found.map((hit) => resultElement(hit, words)));
    choose(found.length ? 0 : -1, { scroll: false });
    const count = found.length === 1 ? "1 result" : `${found.length} results`;
    message.replaceChildren(found.length ? `${count} in ${seconds} s` : "No result. Try other words, or fewer filters.");
    for (const note of notes) message.append(" · ", textElement("span", "", note));
    byId("more").hidden = found.length < k || k >= MAX_K;
  } catch (error) {
    if (error.name === "AbortError") return;
    results.replaceChildren();
    choose(-1);
    showError(error, () => search({ keepAddress: true }));
  }
}

function resultElement(hit, words) {
  const item = element("li", "result");
  const lines = hit.start_line === hit.end_line ? `:${hit.start_line}` : `:${hit.start_line}-${hit.end_line}`;
  const place = textElement("button", "place", hit.path);
  place.type = "button";
  place.title = "Show it in its file";
  place.append(element("span", "lines", lines));
  place.onclick = () => toggle(item);
  const symbol = textElement("span", "symbol", hit.symbol);
  if (hit.symbol_kind) symbol.prepend(element("small", "", `${hit.symbol_kind} `));
  const origin = textElement("span", "origin", `${hit.repository} @ ${hit.ref} `);
  if (hit.url?.startsWith("https://")) {
    const link = element("a", "host", "open at the commit ↗");
    link.href = hit.url;
    link.rel = "noopener noreferrer";
    link.target = "_blank";
    origin.append(" · ", link);
  }
  item.append(element("header", "", element("span", "rank", String(hit.rank)), place, symbol, origin), why(hit));
  item.append(snippet(hit, words, item));
  item.hit = hit;
  item.words = words;
  item.onclick = () => choose([...results.children].indexOf(item), { scroll: false });
  return item;
}

/** Return why a result ranks where it does: its place by words and by meaning, and what rules added or took. */
function why(hit) {
  const row = element("div", "why");
  const chip = (name, className, ...parts) => row.append(element("span", `chip ${className}`, element("b", "", name), ...parts));
  const arm = (rank) => (rank === null ? 0 : 1 / (60 + rank));
  if (hit.text_rank !== null) chip(`words #${hit.text_rank}`, "words", ` BM25 ${hit.text_score.toFixed(2)}`);
  if (hit.vector_score !== null) {
    const place = hit.vector_rank === null ? "" : ` #${hit.vector_rank}`;
    chip(`meaning${place}`, "meaning", ` cosine ${hit.vector_score.toFixed(3)}`);
  }
  if (hit.text_rank === null && hit.vector_rank === null) chip("name", "", " defines what the query names");
  const mode = byId("mode").value;
  if (!mode) {
    const ranks = arm(hit.text_rank) + arm(hit.vector_rank);
    const rest = hit.score - ranks;
    const parts = ` = ${ranks.toFixed(4)} ranks ${rest < 0 ? "−" : "+"} ${Math.abs(rest).toFixed(4)} strength and rules`;
    chip(`score ${hit.score.toFixed(4)}`, "", parts);
  }
  chip(hit.kind, "", "");
  chip(hit.language, "", "");
  return row;
}

function rows(lines, firstNumber, isOwn) {
  return lines.map((line, offset) => {
    const number = firstNumber + offset;
    return element("div", isOwn(number) ? "row own" : "row", element("span", "number", String(number)), line);
  });
}

function snippet(hit, words, item) {
  const code = element("div", "code");
  const lines = codeLines(hit.text, hit.language, words);
  code.append(...rows(lines.slice(0, SHOWN_LINES), hit.start_line, () => false));
  if (lines.length > SHOWN_LINES) {
    const rest = lines.length - SHOWN_LINES;
    const folded = element("button", "folded", `… ${rest} more ${rest === 1 ? "line" : "lines"}`);
    folded.type = "button";
    folded.onclick = () => toggle(item);
    code.append(folded);
  }
  return code;
}

/** Show a result in its file, or back as a snippet. */
async function toggle(item) {
  const { hit, words } = item;
  const shown = item.querySelector(".code");
  if (shown.classList.contains("context")) {
    shown.replaceWith(snippet(hit, words, item));
    return;
  }
  try {
    const parameters = new URLSearchParams({ context: CONTEXT_LINES, ref: hit.ref });
    const { found } = await ask(`chunks/${hit.chunk_id}?${parameters}`);
    const { start_line: first, lines, line_count: total } = found.context;
    const code = element("div", "code context");
    const made = codeLines(lines.join("\n"), hit.language, words);
    code.append(...rows(made, first, (number) => number >= found.start_line && number <= found.end_line));
    const about = `lines ${first} to ${first + lines.length - 1} of ${figure(total)}`;
    const touched = found.last_commit_at ? `, last touched ${ago(found.last_commit_at)}` : "";
    code.append(textElement("div", "folded", `${about}${touched}${found.last_author ? ` by ${found.last_author}` : ""}`));
    item.querySelector(".code").replaceWith(code);
    code.querySelector(".own")?.scrollIntoView({ block: "center" });
  } catch (error) {
    showError(error, () => toggle(item));
  }
}

function choose(index, { scroll = true } = {}) {
  const items = [...results.children];
  for (const item of items) item.classList.remove("chosen");
  chosen = items.length ? Math.max(-1, Math.min(items.length - 1, index)) : -1;
  const item = items[chosen];
  if (!item) return;
  item.classList.add("chosen");
  if (scroll) item.scrollIntoView({ block: "nearest" });
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { target } = event;
  const isField = target.matches("input, select, textarea");
  const item = results.children[chosen];
  if (event.key === "Escape") {
    if (isField) target.blur();
    else if (item?.querySelector(".context")) toggle(item);
    else byId("q").focus();
  } else if (isField) {
    return;
  } else if (event.key === "/") {
    byId("q").focus();
    byId("q").select();
  } else if (event.key === "j" || event.key === "k") {
    choose(chosen + (event.key === "j" ? 1 : chosen > 0 ? -1 : 0));
  } else if (event.key === "Enter" && item && !target.matches("button, a")) {
    toggle(item);
  } else if (event.key === "o" && item) {
    item.querySelector("a.host")?.click();
  } else {
    return;
  }
  event.preventDefault();
}

function showRepositories() {
  byId("repositories").replaceChildren(
    ...repositories.map((entry) => {
      const card = textElement("button", "card", "");
      card.type = "button";
      card.append(
        textElement("strong", "", entry.repository),
        textElement("small", "", `${entry.ref} · ${figure(entry.indexed_file_count)} files · ${figure(entry.chunk_count)} chunks`),
        element("small", "", entry.indexed_at ? `indexed ${ago(entry.indexed_at)}` : "not indexed"),
      );
      card.onclick = () => {
        setValue(byId("repository"), entry.repository);
        fillFilters();
        showFilters();
        byId("q").focus();
      };
      return card;
    }),
  );
}

async function start() {
  try {
    repositories = (await ask("repositories")).found;
  } catch (error) {
    showError(error, start);
    if (error.status === 401) return;
  }
  showRepositories();
  readAddress();
  if (byId("q").value) byId("q").blur();
  await search({ keepAddress: true });
}

byId("search").onsubmit = (event) => {
  event.preventDefault();
  k = FIRST_K;
  byId("q").blur();
  search();
};
for (const name of FILTERS) {
  byId(name).onchange = () => {
    k = FIRST_K;
    if (name === "repository") fillFilters();
    search();
  };
}
byId("clear").onclick = () => {
  for (const name of FILTERS) byId(name).value = "";
  fillFilters();
  search();
};
byId("more").onclick = () => {
  k = Math.min(MAX_K, 2 * k);
  search();
};
document.addEventListener("keydown", onKey);
window.addEventListener("popstate", () => {
  readAddress();
  search({ keepAddress: true });
});
start();
