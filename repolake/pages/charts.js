// Pictures as SVG: bars, stacked columns, trends. Every figure is also a title or a text.

import { element, figure, textElement } from "./text.js";

const SVG = "http://www.w3.org/2000/svg";
const COLOURS = ["one", "two", "three", "four", "five"];

export function shape(name, attributes, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function titled(made, text) {
  made.append(textOf("title", {}, text));
  return made;
}

function textOf(name, attributes, text) {
  const made = shape(name, attributes);
  made.textContent = text;
  return made;
}

/** Return rows of label, bar and figure; `rows` are [label, value, detail]. */
export function bars(rows, colour, largest = Math.max(...rows.map((row) => row[1]))) {
  const cells = [];
  for (const [label, value, detail] of rows) {
    const width = largest ? Math.max(0.5, (100 * value) / largest) : 0;
    const picture = shape("svg", { viewBox: "0 0 100 12", preserveAspectRatio: "none", "aria-hidden": "true" });
    picture.append(shape("rect", { class: "track", width: 100, height: 12 }), shape("rect", { class: colour, width, height: 12 }));
    cells.push(textElement("span", "label", label), picture, element("span", "figure", detail ? `${figure(value)} · ${detail}` : figure(value)));
  }
  return cells;
}

/** Return the names of colours beside squares. */
export function legend(names) {
  return element(
    "div",
    "legend",
    ...names.map((name, index) => {
      const square = shape("svg", { viewBox: "0 0 10 10" }, shape("rect", { class: COLOURS[index % 5], width: 10, height: 10, rx: 2 }));
      return element("span", "", square, textElement("span", "", name));
    }),
  );
}

/** Return a number a little above the largest value at which an axis may end. */
function roundedUp(value) {
  const power = 10 ** Math.floor(Math.log10(value || 1));
  return [1, 2, 2.5, 5, 10].map((step) => step * power).find((end) => end >= value);
}

/** Return the width of a chart in units of a pixel, so that its letters stay readable on a narrow screen. */
function chartWidth() {
  return Math.max(260, Math.min(1000, document.documentElement.clientWidth - 70));
}

function frame(width, height, left, bottom, largest, format) {
  const picture = shape("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img" });
  for (const part of [0, 0.5, 1]) {
    const y = 10 + (height - bottom - 10) * (1 - part);
    picture.append(
      shape("line", { class: "axis", x1: left, x2: width, y1: y, y2: y }),
      textOf("text", { x: left - 6, y: y + 4, "text-anchor": "end" }, format(largest * part)),
    );
  }
  return picture;
}

/** Return stacked columns; `columns` are {label, title, isWrong, values}, one value a name. */
export function stackedColumns(columns) {
  const [width, height, left, bottom] = [chartWidth(), 220, 46, 24];
  const largest = roundedUp(Math.max(...columns.map(({ values }) => values.reduce((a, b) => a + b, 0)), 0.1));
  const picture = frame(width, height, left, bottom, largest, (value) => `${Number(value.toPrecision(3))} s`);
  const step = Math.min(60, (width - left) / columns.length);
  const scale = (height - bottom - 10) / largest;
  const every = Math.ceil(70 / step);
  columns.forEach(({ label, title, isWrong, values }, index) => {
    const column = titled(shape("g", { class: "column" }), title);
    const x = left + 4 + index * step;
    let y = height - bottom;
    values.forEach((value, place) => {
      y -= value * scale;
      column.append(shape("rect", { class: COLOURS[place % 5], x, y, width: step * 0.7, height: value * scale }));
    });
    if (isWrong) column.append(shape("circle", { class: "wrong", cx: x + step * 0.35, cy: Math.max(6, y - 7), r: 4 }));
    if ((columns.length - 1 - index) % every === 0) column.append(textOf("text", { x: x + step * 0.35, y: height - 6, "text-anchor": "middle" }, label));
    picture.append(column);
  });
  return picture;
}

/** Return lines over time; `series` are {name, points: [{label, value, title}]}, the points of one order. */
export function trends(series, labels) {
  const [width, height, left, bottom] = [chartWidth(), 220, 46, 24];
  const picture = frame(width, height, left, bottom, 1, (value) => value.toFixed(1));
  const place = (index) => (labels.length > 1 ? left + 24 + (index * (width - left - 60)) / (labels.length - 1) : (width + left) / 2);
  const level = (value) => 10 + (height - bottom - 10) * (1 - value);
  series.forEach(({ points }, index) => {
    const colour = COLOURS[index % 5];
    const path = points.map(({ at, value }, i) => `${i ? "L" : "M"}${place(at).toFixed(1)} ${level(value).toFixed(1)}`).join("");
    picture.append(shape("path", { class: `trend ${colour}`, d: path }));
    for (const { at, value, title } of points) {
      picture.append(titled(shape("circle", { class: `point ${colour}`, cx: place(at), cy: level(value), r: 4 }), title));
    }
  });
  const every = Math.ceil(labels.length / 10);
  labels.forEach((label, index) => {
    if ((labels.length - 1 - index) % every === 0) picture.append(textOf("text", { x: place(index), y: height - 6, "text-anchor": "middle" }, label));
  });
  return picture;
}
