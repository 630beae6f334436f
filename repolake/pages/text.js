// Text of repositories as DOM: never markup, control characters visible, query words marked, code tinted.

const KEYWORDS = new Set(
  ("abstract and as assert async await begin break case catch class const continue def default defer del do elif else " +
    "elsif end enum except export extends false False final finally fn for foreach from func function go goto if impl " +
    "implements import in instanceof interface is lambda let local loop match mod module mut namespace new nil None not " +
    "null or package pass private protected pub public raise readonly require rescue return self static struct super " +
    "switch template then this throw throws trait true True try type typedef typeof union unless until use using val var " +
    "virtual void where while with yield select join inner left on group order by create table view").split(" "),
);
const HASH_COMMENTS = new Set("python ruby bash shell yaml toml elixir make dockerfile r perl".split(" "));
const DASH_COMMENTS = new Set("sql haskell lua".split(" "));
const PLAIN = new Set("markdown text rst restructuredtext html xml".split(" "));

// What would drive the page or deceive its reader: C0 and C1 controls, marks of direction, zero widths, tags.
const UNSEEN =
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u061C\u115F\u1160\u17B4\u17B5\u180E\u200B-\u200F\u2028-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF9-\uFFFB]|[\u{E0000}-\u{E0FFF}]/gu;

/** Return an element with a class and children: elements, or text that stays text. */
export function element(name, className, ...children) {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.append(...children);
  return made;
}

/** Append text with its unseen characters made visible. */
export function appendText(parent, text) {
  let from = 0;
  for (const match of text.matchAll(UNSEEN)) {
    if (match.index > from) parent.append(text.slice(from, match.index));
    parent.append(control(match[0]));
    from = match.index + match[0].length;
  }
  if (from < text.length) parent.append(text.slice(from));
  return parent;
}

function control(character) {
  const code = character.codePointAt(0);
  const name = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  const shown = code < 0x20 ? String.fromCodePoint(0x2400 + code) : code === 0x7f ? "\u2421" : name;
  const made = element("span", "control", shown);
  made.title = `${name}, a character that is not seen`;
  return made;
}

/** Return an element that holds text of a repository, its unseen characters visible. */
export function textElement(name, className, text) {
  return appendText(element(name, className), text ?? "");
}

/** Return the words of a query to mark: identifiers and their parts, longest first. */
export function queryWords(query) {
  const words = new Set();
  for (const identifier of query.match(/[\p{L}\p{N}_]+/gu) ?? []) {
    words.add(identifier.toLowerCase());
    for (const part of identifier.split(/_+|(?<=[\p{Ll}\p{N}])(?=\p{Lu})/u)) words.add(part.toLowerCase());
  }
  const small = new Set("a an and are as at be by do does for from how i in is it of on or the this to what when where which why with".split(" "));
  return [...words].filter((word) => word.length > 1 && !small.has(word)).sort((a, b) => b.length - a.length);
}

/** Return where words of the query begin and end in a text. */
function marks(text, words) {
  if (!words.length) return [];
  const pattern = new RegExp(words.map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")).join("|"), "giu");
  return [...text.matchAll(pattern)].map((match) => [match.index, match.index + match[0].length]);
}

function lexer(language) {
  if (PLAIN.has(language)) return null;
  const comment = HASH_COMMENTS.has(language)
    ? "#[^\\n]*"
    : DASH_COMMENTS.has(language)
      ? "--[^\\n]*|/\\*[^]*?(?:\\*/|$)"
      : "//[^\\n]*|/\\*[^]*?(?:\\*/|$)";
  const string =
    `"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|"(?:\\\\[^]|[^"\\\\\\n])*"?|'(?:\\\\[^]|[^'\\\\\\n])*'` + "|`(?:\\\\[^]|[^`\\\\])*`?";
  return new RegExp(`(?<comment>${comment})|(?<string>${string})|(?<word>[\\p{L}_][\\p{L}\\p{N}_]*)|(?<literal>\\b\\d[\\w.]*)`, "gu");
}

/** Return [start, end, class] of the parts of a text that are tinted. */
function tints(text, language) {
  const pattern = lexer(language);
  if (!pattern || text.length > 200_000) return [];
  const found = [];
  for (const { index, 0: token, groups } of text.matchAll(pattern)) {
    const name = groups.comment ? "comment" : groups.string ? "string" : groups.literal ? "literal" : KEYWORDS.has(token) ? "keyword" : "";
    if (name) found.push([index, index + token.length, name]);
  }
  return found;
}

/** Return the lines of a text as elements, tinted and with the query's words marked. */
export function codeLines(source, language, words) {
  const text = source.replaceAll("\r\n", "\n");
  const tinted = tints(text, language);
  const marked = marks(text, words);
  const edges = new Set([0, text.length]);
  for (const [start, end] of [...tinted, ...marked]) edges.add(start).add(end);
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) edges.add(at).add(at + 1);
  const places = [...edges].sort((a, b) => a - b);
  const lines = [element("span", "line")];
  let tint = 0;
  let mark = 0;
  for (let i = 0; i + 1 < places.length; i++) {
    const [start, end] = [places[i], places[i + 1]];
    const piece = text.slice(start, end);
    if (piece === "\n") {
      lines.push(element("span", "line"));
      continue;
    }
    while (tint < tinted.length && tinted[tint][1] <= start) tint++;
    while (mark < marked.length && marked[mark][1] <= start) mark++;
    let parent = lines.at(-1);
    if (tint < tinted.length && tinted[tint][0] <= start) parent = parent.appendChild(element("span", tinted[tint][2]));
    if (mark < marked.length && marked[mark][0] <= start) parent = parent.appendChild(element("mark"));
    appendText(parent, piece);
  }
  return lines;
}

/** Return how long ago a time was, in words. */
export function ago(time) {
  const seconds = Math.max(0, (Date.now() - new Date(time)) / 1000);
  for (const [unit, size] of [["day", 86400], ["hour", 3600], ["minute", 60]]) {
    const count = Math.floor(seconds / size);
    if (count) return `${count} ${unit}${count === 1 ? "" : "s"} ago`;
  }
  return "just now";
}

/** Return a number with its thousands apart. */
export function figure(number) {
  return number === null || number === undefined ? "–" : number.toLocaleString("en");
}
