// Two trees that face each other, with lines between the words that stand for each other.

import {draw, make, shown} from "/elements.js";
import {BOX, layout, ROW, SMALLEST} from "/tree.js";

const BETWEEN = 110;

function heights(children) {
  const found = new Array(children.length).fill(0);
  for (let node = children.length - 1; node >= 0; node--)
    for (const child of children[node]) found[node] = Math.max(found[node], found[child] + 1);
  return found;
}

// links: [[word of the first, word of the second, similarity, weight], ...], heaviest first.
export function drawLinked(trees, links, name) {
  const sides = trees.map((tree) => {
    const at = layout(tree);
    const tall = heights(at.children);
    return {tree, at, tall, leaves: tree.labels.map((_, node) => node).filter((node) => !at.children[node].length)};
  });
  const [upper, lower] = sides;
  const row = upper.tall[0] * ROW + BOX;
  upper.y = upper.tall.map((level) => row - BOX / 2 - level * ROW);
  lower.y = lower.tall.map((level) => row + BETWEEN + BOX / 2 + level * ROW);
  const width = Math.ceil(Math.max(...sides.map((side) => side.at.width)));
  const height = Math.ceil(row + BETWEEN + BOX + lower.tall[0] * ROW + 3);
  const picture = draw("svg", {
    class: "tree linked",
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: "img",
    "aria-label": name,
  });
  picture.style.minWidth = `${Math.ceil(SMALLEST * width)}px`;
  const largest = Math.max(...links.map((link) => Math.abs(link[3])), 1e-12);
  for (const [first, second, similarity, weight] of [...links].reverse()) {
    const [one, other] = [upper.leaves[first], lower.leaves[second]];
    const [x1, y1, x2, y2] = [upper.at.x[one] + 3, upper.y[one] + BOX / 2, lower.at.x[other] + 3, lower.y[other] - BOX / 2];
    const share = Math.abs(weight) / largest;
    const said = `${upper.tree.labels[one]} and ${lower.tree.labels[other]}: similarity ${shown(similarity, 2)}, adds ${shown(weight, 4)}`;
    picture.append(
      draw(
        "path",
        {
          class: "link",
          d: `M${x1} ${y1}C${x1} ${y1 + 45} ${x2} ${y2 - 45} ${x2} ${y2}`,
          "stroke-width": (0.8 + 3.2 * share).toFixed(2),
          "stroke-opacity": (0.25 + 0.75 * share).toFixed(2),
        },
        draw("title", {text: said}),
      ),
    );
  }
  for (const [number, side] of sides.entries()) {
    const down = number ? -1 : 1;
    side.tree.labels.forEach((label, node) => {
      const [x, y] = [side.at.x[node] + 3, side.y[node]];
      const parent = side.tree.parents[node];
      if (parent >= 0)
        picture.append(
          draw("line", {
            class: "edge",
            x1: side.at.x[parent] + 3,
            y1: side.y[parent] + (down * BOX) / 2,
            x2: x,
            y2: y - (down * BOX) / 2,
          }),
        );
      const kind = side.at.children[node].length ? "node" : "node leaf";
      picture.append(draw("g", {class: kind}, draw("text", {x, y: y + 4.5, text: side.at.texts[node]})));
    });
  }
  return make("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": name}, picture);
}
