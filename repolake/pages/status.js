// The status page: what is indexed and what is not, runs, retrieval quality, failures.

import { ask, showError } from "./api.js";
import { bars, legend, stackedColumns, trends } from "./charts.js";
import { ago, element, figure, textElement } from "./text.js";

const STAGES = ["scan", "chunk", "embed", "load"];
const SHOWN_RULES = 15;
const SHOWN_LANGUAGES = 10;
const SHOWN_RUNS = 10;
const SHOWN_FAILURES = 100;
const LONG_CHARACTERS = 40;

const byId = (id) => document.getElementById(id);
const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
const day = (time) => time.slice(0, 10);
const minute = (time) => `${day(time)} ${time.slice(11, 16)}`;
const sum = (entries, of) => entries.reduce((total, entry) => total + of(entry), 0);

/** Return a table; a cell is text, a number or an element, and numbers stand right. */
function table(names, rows) {
  const head = element("tr", "", ...names.map((name, i) => element("th", typeof rows[0]?.[i] === "number" ? "figure" : "", name)));
  const body = rows.map((cells) =>
    element(
      "tr",
      "",
      ...cells.map((cell) => {
        if (typeof cell === "number") return element("td", "figure", figure(cell));
        return cell instanceof Node ? element("td", "", cell) : textElement("td", cell?.length > LONG_CHARACTERS ? "long" : "", cell ?? "–");
      }),
    ),
  );
  return element("table", "", element("thead", "", head), element("tbody", "", ...body));
}

/** Return the sums of `of` over entries, by name, the largest first. */
function grouped(entries, name, of) {
  const sums = new Map();
  for (const entry of entries) sums.set(name(entry), (sums.get(name(entry)) ?? 0) + of(entry));
  return [...sums].sort((a, b) => b[1] - a[1]);
}

/** Return the first rows, and one for all that are left. */
function shortened(rows, count) {
  const rest = rows.slice(count);
  return rest.length ? [...rows.slice(0, count), [rest.length === 1 ? "1 other" : `${rest.length} others`, sum(rest, (row) => row[1])]] : rows;
}

function showTiles(status) {
  const refs = status.repositories.flatMap((entry) => entry.refs);
  const failed = sum(refs, (ref) => ref.files_failed);
  const tile = (value, name, className) => element("div", `tile ${className ?? ""}`, element("b", "", value), textElement("span", "", name));
  const newest = status.repositories.map((entry) => entry.indexed_at).sort().at(-1);
  byId("tiles").replaceChildren(
    tile(figure(status.repositories.length), status.repositories.length === 1 ? "repository" : "repositories"),
    tile(figure(sum(refs, (ref) => ref.files_indexed)), "files indexed"),
    tile(figure(sum(refs, (ref) => ref.files_skipped)), "files left out by rule"),
    tile(figure(failed), "files failed", failed ? "bad" : ""),
    tile(figure(sum(refs, (ref) => ref.chunks)), "chunks"),
    tile(megabytes(status.database_bytes), "database"),
    tile(status.model, `model, ${status.dimension} dimensions`),
    tile(newest ? ago(newest) : "never", "last indexed"),
  );
}

function showRepositories(status) {
  const rows = status.repositories.flatMap((entry) =>
    entry.refs.map((ref) => [
      entry.repository,
      ref.ref,
      element("code", "", ref.commit.slice(0, 10)),
      ago(entry.indexed_at),
      ref.files_indexed,
      ref.files_skipped,
      ref.files_failed,
      ref.chunks,
    ]),
  );
  byId("repositories").replaceChildren(table(["repository", "ref", "commit", "indexed", "files", "left out", "failed", "chunks"], rows));
}

function showInventory(inventory) {
  const indexed = inventory.filter((entry) => entry.decision === "indexed");
  const files = (entry) => entry.file_count;
  const byKind = grouped(indexed, (entry) => entry.kind, files);
  const byLanguage = shortened(grouped(indexed, (entry) => entry.language, files), SHOWN_LANGUAGES);
  byId("indexed").replaceChildren(
    indexed.length
      ? element("div", "bars", element("h3", "", "by kind"), ...bars(byKind, "one"), element("h3", "", "by language"), ...bars(byLanguage, "two"))
      : element("p", "", "Nothing is indexed."),
  );
  const skipped = inventory.filter((entry) => entry.decision === "skipped");
  const rules = grouped(skipped, (entry) => `${entry.skip_reason}: ${entry.skip_rule ?? ""}`, files);
  const sizes = new Map(grouped(skipped, (entry) => `${entry.skip_reason}: ${entry.skip_rule ?? ""}`, (entry) => entry.size_bytes ?? 0));
  const rows = shortened(rules, SHOWN_RULES).map(([rule, count]) => [rule, count, sizes.has(rule) ? megabytes(sizes.get(rule)) : ""]);
  byId("skipped").replaceChildren(rows.length ? element("div", "bars", ...bars(rows, "three")) : element("p", "", "Nothing is left out."));
}

function showRuns(runs) {
  const columns = [...runs].reverse().map((run) => ({
    label: day(run.started_at).slice(5),
    isWrong: run.state === "failed" || run.state === "partial",
    values: STAGES.map((stage) => run.stage_seconds[stage]),
    title: `${minute(run.started_at)} UTC, ${run.state}\n${STAGES.map((stage) => `${stage} ${run.stage_seconds[stage]} s`).join("\n")}\n${run.failures} failures`,
  }));
  const rows = runs.slice(0, SHOWN_RUNS).map((run) => [
    element("code", "", run.run_id),
    `${minute(run.started_at)} UTC`,
    element("span", `state ${run.state}`, run.state),
    run.seconds ?? "",
    ...STAGES.map((stage) => run.stage_seconds[stage]),
    run.chunks_new,
    run.embeddings_new,
    run.failures,
  ]);
  const names = ["run", "started", "state", "seconds", ...STAGES, "new chunks", "new vectors", "failures"];
  byId("runs").replaceChildren(
    stackedColumns(columns),
    legend(STAGES),
    element("div", "scroll", table(names, rows)),
  );
}

function showEvaluations(entries) {
  const place = byId("evaluations");
  if (!entries.length) {
    place.replaceChildren(element("p", "", "No evaluation is in the index yet; `repolake evaluate` makes one, and the next run takes it in."));
    return;
  }
  const metrics = [...new Set(entries.map((entry) => entry.metric))].sort();
  const sets = [...new Set(entries.map((entry) => entry.queries))];
  const choice = (values, value) => {
    const field = element("select", "", ...values.map((name) => new Option(name, name)));
    field.value = value;
    field.onchange = draw;
    return field;
  };
  const metric = choice(metrics, metrics.includes("ndcg@10") ? "ndcg@10" : metrics[0]);
  const queries = choice(sets, sets.at(-1));
  metric.setAttribute("aria-label", "Metric");
  queries.setAttribute("aria-label", "Questions");
  const chart = element("div", "");
  function draw() {
    const shown = entries.filter((entry) => entry.metric === metric.value && entry.queries === queries.value && entry.value !== null);
    const times = [...new Map(shown.map((entry) => [entry.evaluation_id, entry.evaluated_at]))];
    const name = (entry) => [entry.mode, entry.chunker, entry.model_id, entry.chunk_tokens, entry.header === "name" ? "" : entry.header, entry.kind, entry.reranker && `by ${entry.reranker}`].filter(Boolean).join(" ");
    const series = [...new Set(shown.map(name))].map((label) => ({
      name: label,
      points: shown
        .filter((entry) => name(entry) === label)
        .map((entry) => ({
          at: times.findIndex(([id]) => id === entry.evaluation_id),
          value: entry.value,
          title: `${label}\n${entry.metric} ${entry.value.toFixed(3)} over ${entry.query_count} questions\n${minute(entry.evaluated_at)} UTC`,
        })),
    }));
    const latest = shown.filter((entry) => entry.evaluation_id === times.at(-1)?.[0]);
    const rows = latest.map((entry) => [name(entry), `${minute(entry.evaluated_at)} UTC`, entry.query_count, entry.value.toFixed(3)]);
    chart.replaceChildren(
      trends(series, times.map(([, time]) => day(time).slice(5))),
      legend(series.map((line) => line.name)),
      element("div", "scroll", table(["variant, newest evaluation", "evaluated", "questions", metric.value], rows)),
    );
  }
  place.replaceChildren(element("p", "", metric, " ", queries), chart);
  draw();
}

function showFailures(failures) {
  if (!failures.length) {
    byId("failures").replaceChildren(element("p", "", "None: every file that was to be read is in the index."));
    return;
  }
  const rows = failures.slice(0, SHOWN_FAILURES).map((failure) => [failure.repository, failure.path, failure.stage, failure.error]);
  byId("failures").replaceChildren(table(["repository", "path", "stage", "error"], rows));
  if (failures.length > SHOWN_FAILURES) byId("failures").append(element("p", "", `and ${figure(failures.length - SHOWN_FAILURES)} more`));
}

async function start() {
  try {
    const [status, inventory, evaluations] = await Promise.all(["status", "inventory", "evaluations"].map((address) => ask(address)));
    showTiles(status.found);
    showRepositories(status.found);
    showInventory(inventory.found);
    showRuns(status.found.runs);
    showEvaluations(evaluations.found);
    showFailures(status.found.failures);
    byId("message").textContent = status.found.database ? `Answering from ${status.found.database.split("/").at(-1)}` : "Nothing is published yet.";
    byId("message").className = "message";
    byId("page").hidden = false;
  } catch (error) {
    showError(error, start);
  }
}

start();
