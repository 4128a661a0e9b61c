// All pictures of a panel on one sheet, as SVG that looks the same outside of the page.

import {draw} from "/elements.js";

const PICTURES = ".sentences, svg";
const KEPT = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-family"];
const TEXT = ["font-size", "font-weight", "font-style", "text-anchor"];
const EDGE = 12;

const brush = document.createElement("canvas").getContext("2d", {willReadFrequently: true});

// A color of the page as every program that reads SVG understands it.
function solid(color) {
  brush.clearRect(0, 0, 1, 1);
  brush.fillStyle = color;
  brush.fillRect(0, 0, 1, 1);
  const [red, green, blue, alpha] = brush.getImageData(0, 0, 1, 1).data;
  return {color: `rgb(${red},${green},${blue})`, alpha: alpha / 255};
}

function widthOf(text, style) {
  brush.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  return brush.measureText(text).width;
}

// A text as it stands on the page; the line of its letters is about four fifths down.
function written(text, box, style, x, y) {
  const fill = solid(style.color).color;
  const [family, size, weight] = [style.fontFamily, style.fontSize, style.fontWeight];
  const place = {x, y: y + 0.79 * box.height, "font-family": family, "font-size": size, "font-weight": weight, fill};
  return draw("text", place, text);
}

// Labelled spans, which the page has as boxes: what is behind them, the line below, and their texts.
function spansOf(place) {
  const from = place.getBoundingClientRect();
  const parts = [];
  let wide = 0;
  for (const element of place.querySelectorAll(".word, .layer, .span, .predicate")) {
    const [box, style] = [element.getBoundingClientRect(), getComputedStyle(element)];
    const [x, y] = [box.left - from.left + place.scrollLeft, box.top - from.top];
    const {color, alpha} = solid(style.backgroundColor);
    if (alpha) {
      const rx = parseFloat(style.borderTopLeftRadius) || 0;
      parts.push(draw("rect", {x, y, width: box.width, height: box.height, rx, fill: color, "fill-opacity": alpha}));
    }
    const line = parseFloat(style.borderBottomWidth);
    if (line) {
      const under = {x1: x, x2: x + box.width, y1: y + box.height - line / 2, y2: y + box.height - line / 2};
      const dashes = style.borderBottomStyle === "dashed" ? "4 3" : null;
      const stroke = solid(style.borderBottomColor).color;
      parts.push(draw("line", {...under, stroke, "stroke-width": line, "stroke-dasharray": dashes}));
    }
    const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const range = document.createRange();
      range.selectNodeContents(texts.currentNode);
      const at = range.getBoundingClientRect();
      if (!texts.currentNode.data.trim()) continue;
      const look = getComputedStyle(texts.currentNode.parentElement);
      const left = at.left - from.left + place.scrollLeft;
      parts.push(written(texts.currentNode.data.trimEnd(), at, look, left, at.top - from.top));
    }
    wide = Math.max(wide, x + box.width);
  }
  return {parts, width: wide, height: from.height};
}

// A picture with the style that the page gives it.
function styled(picture) {
  const copy = picture.cloneNode(true);
  const from = [picture, ...picture.querySelectorAll("*")];
  const to = [copy, ...copy.querySelectorAll("*")];
  from.forEach((element, number) => {
    const style = getComputedStyle(element);
    for (const name of element.tagName === "text" ? [...KEPT, ...TEXT] : KEPT)
      to[number].setAttribute(name, style.getPropertyValue(name));
    to[number].removeAttribute("class");
    to[number].removeAttribute("style");
  });
  const [, , width, height] = picture.getAttribute("viewBox").split(" ").map(Number);
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  return {parts: [copy], width, height};
}

export function hasPictures(results) {
  return results.querySelector(PICTURES) !== null;
}

// Returns {text, width, height}: one picture below the other, each under the title of its card.
export function sheet(results) {
  const parts = [];
  let [width, height, before] = [0, EDGE, null];
  for (const element of results.querySelectorAll(PICTURES)) {
    if (!element.checkVisibility()) continue;
    const found = element.matches("svg") ? styled(element) : spansOf(element);
    const title = element.closest(".card")?.querySelector("h2, h3");
    if (title && title !== before) {
      const [box, style] = [title.getBoundingClientRect(), getComputedStyle(title)];
      parts.push(written(title.textContent, box, style, EDGE, height));
      height += box.height + EDGE / 2;
      width = Math.max(width, widthOf(title.textContent, style));
      before = title;
    }
    parts.push(draw("g", {transform: `translate(${EDGE} ${height})`}, ...found.parts));
    height += found.height + EDGE;
    width = Math.max(width, found.width);
  }
  [width, height] = [Math.ceil(width + 2 * EDGE), Math.ceil(height)];
  const fill = getComputedStyle(document.documentElement).getPropertyValue("--card").trim();
  const size = {width, height, viewBox: `0 0 ${width} ${height}`};
  const whole = draw("svg", size, draw("rect", {width, height, fill}), ...parts);
  return {text: new XMLSerializer().serializeToString(whole), width, height};
}
