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
// The same list as in sapwood/palette.py: labels that often meet in one sentence never share a color.
const KNOWN = {
  ...{A0: 0, A1: 1, A2: 2, A3: 3, A4: 8, "AM-TMP": 4, "AM-LOC": 5, "AM-MNR": 6, "AM-ADV": 7, "AM-CAU": 9},
  ...{V: GREY, "AM-MOD": GREY, "AM-NEG": GREY},
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

// layers: [{title, marked, spans: [{label, first, last, score, broken}]}]; choose(span, layer) makes spans buttons.
export function drawSpans(words, layers, {choose = null, name = "Sentence"} = {}) {
  const grid = make("div", {class: "sentence"});
  grid.style.gridTemplateColumns = `auto repeat(${Math.max(1, words.length)}, auto)`;
  const marked = new Set(layers.flatMap((layer) => layer.marked ?? []));
  words.forEach((word, number) => {
    grid.append(
      cell(
        make("span", {class: marked.has(number) ? "word marked" : "word", dir: "auto", text: word}),
        1,
        number,
        number,
      ),
    );
  });
  let row = 2;
  for (const layer of layers) {
    const rows = lanes(layer.spans);
    const title = make("span", {class: "layer", text: layer.title});
    title.style.gridRow = String(row);
    title.style.gridColumn = "1";
    grid.append(title);
    for (const word of layer.marked ?? []) grid.append(cell(make("span", {class: "predicate"}), row, word, word));
    for (const lane of rows.length ? rows : [[]]) {
      for (const span of lane) {
        const said = `${span.label}: ${words.slice(span.first, span.last + 1).join(" ")}`;
        const kinds = `span ${paint(span.label)}${span.broken ? " broken" : ""}${span.faint ? " faint" : ""}`;
        const content = [
          span.label,
          ...(span.score === undefined || span.score === null
            ? []
            : [" ", make("small", {text: shown(span.score, 2)})]),
        ];
        const element = choose
          ? make(
              "button",
              {
                type: "button",
                class: kinds,
                "aria-label": said,
                title: plain(span.label),
                "aria-pressed": "false",
                onclick: () => {
                  for (const other of grid.querySelectorAll("button.span"))
                    other.setAttribute("aria-pressed", String(other === element));
                  choose(span, layer);
                },
              },
              ...content,
            )
          : make("span", {class: kinds, title: plain(span.label), "aria-label": said}, ...content);
        grid.append(cell(element, row, span.first, span.last));
      }
      row += 1;
    }
  }
  return make("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": name}, grid);
}
