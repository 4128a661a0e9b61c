// Making elements. Text goes in as text only: nothing here, or anywhere on this page, is ever read as HTML.

const SVG = "http://www.w3.org/2000/svg";

function filled(element, options, children) {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") element.setAttribute("class", value);
    else if (name === "text") element.textContent = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

// make("p", {class: "note", text: "…"}, child, "more text")
export function make(tag, options = {}, ...children) {
  return filled(document.createElement(tag), options, children);
}

export function draw(tag, options = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), options, children);
}

export function byId(id) {
  return document.getElementById(id);
}

export function options(select, entries, chosen) {
  select.replaceChildren(...entries.map(([value, text, off]) => make("option", {value, text, disabled: off})));
  if (chosen !== undefined && entries.some(([value]) => value === chosen)) select.value = chosen;
}

export function card(title, width, ...children) {
  return make("section", {class: `card ${width}`, "aria-label": title}, make("h2", {text: title}), ...children);
}

export function notes(texts) {
  return texts.map((text) => make("p", {class: "note", text}));
}

// heads: [[text, whether its column holds numbers], ...]
export function tableOf(heads, rows, kind = "") {
  const cells = heads.map(([text, number]) => make("th", {scope: text ? "col" : null, class: number ? "number" : "", text}));
  return make("table", {class: kind}, make("thead", {}, make("tr", {}, ...cells)), make("tbody", {}, ...rows));
}

// What a model is, what it was trained on and how good it is: [[name, text], ...], to be opened.
export function modelCard(place, model) {
  const said = model?.card ?? [];
  place.hidden = !said.length;
  const trained = said.find(([name]) => name === "trained on");
  const open = place.querySelector("details")?.open ?? false;
  const list = said.flatMap(([name, text]) => [make("dt", {text: name}), make("dd", {dir: "auto", text})]);
  const title = `About ${model?.name}${trained ? `: trained on ${trained[1]}` : ""}`;
  const details = make("details", {}, make("summary", {text: title}), make("dl", {class: "facts"}, ...list));
  details.open = open;
  place.replaceChildren(details);
}

// Numbers as people read them: few digits, a real minus sign, no trailing noise.
export function shown(value, digits = 3) {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  const text = size !== 0 && (size < 0.001 || size >= 100000) ? value.toExponential(2) : value.toFixed(digits);
  return text.replace("-", "−");
}

export function signed(value, digits = 3) {
  return value > 0 ? `+${shown(value, digits)}` : shown(value, digits);
}

export function counted(count, noun) {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

// Waits until nothing has happened for a while, so that a moving slider asks once.
export function later(wait, work) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(work, wait);
  };
}

export function examples(place, entries) {
  place.replaceChildren(
    make("span", {text: "Try"}),
    ...entries.map(([name, work]) => make("button", {type: "button", text: name, onclick: work})),
  );
}
