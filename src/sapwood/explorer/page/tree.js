// Trees as pictures: labels and parents in pre-order come in, an SVG with coloured and marked nodes goes out.

import {draw, make, shown, signed} from "/elements.js";
import {tagName} from "/plain.js";

export const ROW = 44;
const GAP = 12;
export const BOX = 22;
const LONGEST = 28;
export const SMALLEST = 0.7;

const ruler = document.createElement("canvas").getContext("2d");
const widths = new Map();

// Measured as bold, so that marking a node moves nothing; the page has one font, so each label is measured once.
function widthOf(text) {
  if (!widths.size) ruler.font = `bold 13px ${getComputedStyle(document.documentElement).getPropertyValue("--sans")}`;
  if (!widths.has(text)) {
    if (widths.size > 5000) widths.clear();
    widths.set(text, ruler.measureText(text).width);
  }
  return widths.get(text);
}

function short(label) {
  const letters = [...label];
  return letters.length <= LONGEST ? label : `${letters.slice(0, LONGEST - 1).join("")}…`;
}

// Nodes of a lower probability say so.
const SURE = 0.95;

// 62% for what is not sure, nothing for what is.
function percent(share) {
  if (share === undefined || share === null || share >= SURE) return "";
  return share < 0.01 ? " <1%" : ` ${Math.round(100 * share)}%`;
}

// Places nodes so that no two boxes of a row touch: every subtree has a strip of its own.
export function layout(tree, behind = tree.labels.map(() => "")) {
  const count = tree.labels.length;
  const children = tree.labels.map(() => []);
  const depth = new Array(count).fill(0);
  for (let node = 1; node < count; node++) {
    children[tree.parents[node]].push(node);
    depth[node] = depth[tree.parents[node]] + 1;
  }
  const texts = tree.labels.map(short);
  const boxes = texts.map((text, node) => Math.max(24, widthOf(`${text}${behind[node]}`) + 12));
  const strips = boxes.slice();
  const inner = new Array(count).fill(0);
  for (let node = count - 1; node >= 0; node--) {
    const gaps = GAP * Math.max(0, children[node].length - 1);
    inner[node] = children[node].reduce((sum, child) => sum + strips[child], 0) + gaps;
    strips[node] = Math.max(boxes[node], inner[node]);
  }
  const left = new Array(count).fill(0);
  for (let node = 0; node < count; node++) {
    let at = left[node] + (strips[node] - inner[node]) / 2;
    for (const child of children[node]) {
      left[child] = at;
      at += strips[child] + GAP;
    }
  }
  const x = new Array(count).fill(0);
  for (let node = count - 1; node >= 0; node--) {
    const kids = children[node];
    const middle = kids.length ? (x[kids[0]] + x[kids[kids.length - 1]]) / 2 : left[node] + strips[node] / 2;
    const low = left[node] + boxes[node] / 2;
    x[node] = Math.min(Math.max(middle, low), left[node] + strips[node] - boxes[node] / 2);
  }
  const y = depth.map((level) => level * ROW + BOX / 2 + 3);
  const deepest = depth.reduce((most, level) => Math.max(most, level), 0);
  return {children, texts, behind, boxes, x, y, width: strips[0] + 6, height: deepest * ROW + BOX + 6};
}

// Returns {element, mark}: mark(places) outlines the nodes of some occurrences and the edges between them.
// weights color nodes for and against; sure are probabilities, and what is less than certain says so.
export function drawTree(tree, {weights = null, name = "Tree", sure = null} = {}) {
  const at = layout(tree, tree.labels.map((_, node) => percent(sure?.[node])));
  const [width, height] = [Math.ceil(at.width), Math.ceil(at.height)];
  const picture = draw("svg", {
    class: "tree",
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: "img",
    "aria-label": `${name}: ${tree.text}`,
  });
  // A tree shrinks a little to fit; what is still too wide can be scrolled.
  picture.style.minWidth = `${Math.ceil(SMALLEST * width)}px`;
  const largest = weights ? weights.reduce((most, weight) => Math.max(most, Math.abs(weight)), 0) : 0;
  const edges = tree.labels.map((_, node) => {
    const parent = tree.parents[node];
    if (parent < 0) return null;
    const [x1, y1, x2, y2] = [at.x[parent] + 3, at.y[parent] + BOX / 2, at.x[node] + 3, at.y[node] - BOX / 2];
    return picture.appendChild(draw("line", {class: "edge", x1, y1, x2, y2}));
  });
  const nodes = tree.labels.map((label, node) => {
    const weight = weights ? weights[node] : 0;
    const kinds = ["node"];
    if (!at.children[node].length) kinds.push("leaf");
    if (weight) kinds.push(weight > 0 ? "for" : "against");
    if (at.behind[node]) kinds.push(sure[node] < 0.5 ? "unsure doubtful" : "unsure");
    // The root lets small weights show too.
    const strength = largest > 0 ? 0.5 * Math.sqrt(Math.abs(weight) / largest) : 0;
    return picture.appendChild(
      draw(
        "g",
        {class: kinds.join(" ")},
        draw("rect", {
          x: at.x[node] + 3 - at.boxes[node] / 2,
          y: at.y[node] - BOX / 2,
          width: at.boxes[node],
          height: BOX,
          rx: 5,
          "fill-opacity": strength.toFixed(3),
        }),
        draw(
          "text",
          {x: at.x[node] + 3, y: at.y[node] + 4.5},
          at.texts[node],
          ...(at.behind[node] ? [draw("tspan", {class: "share", text: at.behind[node]})] : []),
        ),
        draw("title", {text: hover(label, !at.children[node].length, weights && weight, at.behind[node])}),
      ),
    );
  });
  const element = make("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": name}, picture);
  return {
    element,
    mark(places) {
      for (const part of [...nodes, ...edges]) part?.classList.remove("marked");
      for (const place of places) {
        const covered = new Set(place);
        for (const node of place) {
          nodes[node]?.classList.add("marked");
          if (covered.has(tree.parents[node])) edges[node].classList.add("marked");
        }
      }
    },
  };
}

function hover(label, leaf, weight, share) {
  const name = leaf ? "" : tagName(label);
  const parts = [name, weight === null ? "" : signed(weight, 4), share ? `probability${share}` : ""].filter(Boolean);
  return parts.length ? `${label}: ${parts.join(", ")}` : label;
}

// How sure the parser is, in words.
export function sureLegend(sure) {
  if (!sure) return [];
  const open = sure.filter((share) => share < SURE);
  const least = Math.min(...sure);
  const said = open.length
    ? `The parser is not sure of ${open.length} of ${sure.length} nodes; the least probable has ${shown(100 * least, 0)} %.`
    : "The parser is sure of every node: none has less than 95 %.";
  return [make("p", {class: "note", text: said})];
}

// The same contributions as a table, for those who read instead of look; made when it is opened.
export function nodeTable(tree, weights) {
  const rows = tree.labels.map((label, node) => [label, weights[node]]).filter(([, weight]) => weight !== 0);
  const summary = `Contribution of every node (${rows.length} of ${tree.labels.length} are not 0)`;
  const element = make("details", {}, make("summary", {text: summary}));
  const fill = () => {
    rows.sort((one, other) => Math.abs(other[1]) - Math.abs(one[1]));
    const head = make("tr", {}, make("th", {class: "number", text: "adds"}), make("th", {text: "node"}));
    const lines = rows.map(([label, weight]) =>
      make("tr", {}, make("td", {class: "number", text: signed(weight, 5)}), make("td", {dir: "auto", text: label})),
    );
    element.append(make("table", {}, make("thead", {}, head), make("tbody", {}, ...lines)));
  };
  element.addEventListener("toggle", fill, {once: true});
  return element;
}

export function brackets(tree) {
  return make("details", {}, make("summary", {text: "As brackets"}), make("code", {dir: "auto", text: tree.text}));
}

export function weightLegend(weights) {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return make(
    "p",
    {class: "legend"},
    make("span", {}, make("span", {class: "swatch pos"}), "speaks for it"),
    make("span", {}, make("span", {class: "swatch neg"}), "speaks against it"),
    make("span", {text: `all nodes together ${shown(total, 4)}`}),
  );
}
