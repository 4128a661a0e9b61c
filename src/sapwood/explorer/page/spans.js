// Labelled spans under the words of a sentence, as a grid: one column per word, one or more rows per layer.

import {make, shown} from "/elements.js";
import {plain} from "/plain.js";

// Spreads the spans of a layer over as few rows as keep them apart.
function lanes(spans) {
  const found = [];
  for (const span of [...spans].sort((one, other) => one.first - other.first || one.last - other.last)) {
    const lane = found.find((row) => row[row.length - 1].last < span.first);
    if (lane) lane.push(span);
    else found.push([span]);
  }
  return found;
}

const GREY = 10;
// FrameNet's roles, a line per color.
const ROLES = [
  "Activity Donor Event Figure Instrument Quantity Trajector_event Type",
  "Locale Manner Perceiver Person Seller Substance",
  "Building Buyer Count Goal Individuals Phenomenon Use Victim",
  "Content Created_entity Leader Origin Product Theme Weapon",
  "Cause Gift Governed Item Message Possession Purpose",
  "Place Source Topic",
  "Act Entity Ground Unit",
  "Agent Cognizer Experiencer Goods Number Part Recipient Speaker",
  "Degree Name",
  "Descriptor Time",
];
// The same lists as in sapwood/palette.py: labels that often meet in one sentence never share a color.
const KNOWN = {
  ...{A0: 0, A1: 1, A2: 2, A3: 3, A4: 8, "AM-TMP": 4, "AM-LOC": 5, "AM-MNR": 6, "AM-ADV": 7, "AM-CAU": 9},
  ...{V: GREY, "AM-MOD": GREY, "AM-NEG": GREY},
  ...Object.fromEntries(ROLES.flatMap((names, number) => names.split(" ").map((name) => [name, number]))),
};

// The class of the color that a label has everywhere, as paint() of sapwood/palette.py has it.
export function paint(label) {
  const name = label
    .replace(/^([CR]-)+/, "")
    .replace(/^ARGM-/, "AM-")
    .replace(/^ARG/, "A");
  if (Object.hasOwn(KNOWN, name)) return `c${KNOWN[name]}`;
  let number = 0;
  for (const letter of name) number = (Math.imul(number, 31) + letter.codePointAt(0)) >>> 0;
  return `c${number % GREY}`;
}

function cell(element, row, first, last) {
  element.style.gridRow = String(row);
  element.style.gridColumn = `${first + 2} / ${last + 3}`;
  return element;
}

const ruler = document.createElement("canvas").getContext("2d");

// About how wide a text is on this page, in pixels; bold, so rather too wide.
function widthOf(text, size) {
  ruler.font = `bold ${size}px ${getComputedStyle(document.documentElement).getPropertyValue("--sans")}`;
  return ruler.measureText(text).width;
}

// Cuts a sentence into lines that fit: [[first word, last word], ...].
function breaks(words, layers, room) {
  const sizes = words.map((word) => widthOf(word, 16) + 8);
  for (const layer of layers)
    for (const span of layer.spans) {
      const label = widthOf(span.label, 13) + (span.score === null || span.score === undefined ? 22 : 54);
      const covered = sizes.slice(span.first, span.last + 1).reduce((sum, one) => sum + one, 0);
      sizes[span.first] += Math.max(0, label - covered);
    }
  const found = [];
  let [first, used] = [0, 0];
  sizes.forEach((size, word) => {
    if (word > first && used + size > room) {
      found.push([first, word - 1]);
      [first, used] = [word, 0];
    }
    used += size;
  });
  return [...found, [first, Math.max(first, words.length - 1)]];
}

// One line of the sentence and what of the layers stands under it.
function line(words, layers, [begin, end], whole, choose) {
  const grid = make("div", {class: "sentence"});
  grid.style.gridTemplateColumns = `auto repeat(${Math.max(1, end - begin + 1)}, auto)`;
  const marked = new Set(layers.flatMap((layer) => layer.marked ?? []));
  for (let word = begin; word <= end && word < words.length; word++) {
    const kind = marked.has(word) ? "word marked" : "word";
    grid.append(cell(make("span", {class: kind, dir: "auto", text: words[word]}), 1, word - begin, word - begin));
  }
  let row = 2;
  for (const layer of layers) {
    const here = layer.spans.filter((span) => span.first <= end && span.last >= begin);
    const signs = (layer.marked ?? []).filter((word) => word >= begin && word <= end);
    if (!here.length && !signs.length && !whole) continue;
    const title = make("span", {class: "layer", text: layer.title});
    title.style.gridRow = String(row);
    title.style.gridColumn = "1";
    grid.append(title);
    for (const word of signs)
      if (!here.some((span) => span.first <= word && word <= span.last))
        grid.append(cell(make("span", {class: "predicate"}), row, word - begin, word - begin));
    const rows = lanes(here);
    for (const lane of rows.length ? rows : [[]]) {
      for (const span of lane) {
        const [first, last] = [Math.max(span.first, begin) - begin, Math.min(span.last, end) - begin];
        grid.append(cell(spanElement(words, span, layer, span.first < begin, choose), row, first, last));
      }
      row += 1;
    }
  }
  return grid;
}

function spanElement(words, span, layer, goesOn, choose) {
  const said = `${span.label}: ${words.slice(span.first, span.last + 1).join(" ")}`;
  const kind = `span ${paint(span.label)}${span.broken ? " broken" : ""}${span.faint ? " faint" : ""}`;
  const none = span.score === undefined || span.score === null || goesOn;
  const text = span.score > 0 && span.score < 0.005 ? "<0.01" : shown(span.score, 2);
  const score = none ? [] : [" ", make("small", {text})];
  const content = [goesOn ? `… ${span.label}` : span.label, ...score];
  if (!choose) return make("span", {class: kind, title: plain(span.label), "aria-label": said}, ...content);
  return make(
    "button",
    {
      type: "button",
      class: kind,
      "aria-label": said,
      title: plain(span.label),
      "aria-pressed": "false",
      onclick: (event) => {
        for (const other of event.currentTarget.closest(".sentences").querySelectorAll("button.span"))
          other.setAttribute("aria-pressed", String(other === event.currentTarget));
        choose(span, layer);
      },
    },
    ...content,
  );
}

// layers: [{title, marked, spans: [{label, first, last, score, broken}]}]; choose(span, layer) makes spans buttons. A
// sentence that is wider than its place is broken into lines, again whenever the place changes.
export function drawSpans(words, layers, {choose = null, name = "Sentence"} = {}) {
  const place = make("div", {class: "scroll sentences", tabindex: 0, role: "region", "aria-label": name});
  const titles = Math.max(0, ...layers.map((layer) => widthOf(layer.title, 13))) + 24;
  let drawn = "";
  const redraw = (width) => {
    const lines = breaks(words, layers, Math.max(140, width - titles));
    const key = JSON.stringify(lines);
    if (key === drawn) return;
    drawn = key;
    place.replaceChildren(...lines.map((one) => line(words, layers, one, lines.length === 1, choose)));
  };
  redraw(Math.min(1100, innerWidth - 60));
  new ResizeObserver((entries) => redraw(entries[0].contentRect.width)).observe(place);
  return place;
}
