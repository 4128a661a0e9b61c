// What a model has answered, as cards. Used wherever an answer is shown: alone, or beside another one.

import {card, make, notes, shown, signed, tableOf} from "/elements.js";
import {plain} from "/plain.js";
import {drawSpans} from "/spans.js";
import {brackets, drawTree, nodeTable, sureLegend, weightLegend} from "/tree.js";

// explain(label) asks for the reasons of another class, edit(problem) opens the decoder, why(span, layer) resolves to
// the reasons of a role; what is missing cannot be asked for.
export function answerCards(answer, asking = {}) {
  if (answer.classes) return classCards(answer, asking);
  if (answer.value !== undefined) return numberCards(answer);
  if (answer.layers) return layerCards(answer, asking);
  return parseCards(answer);
}

function parseCards(answer) {
  const place = make("div");
  const rows = answer.parses.map((one, number) => {
    const button = make("button", {
      type: "button",
      "aria-pressed": "false",
      text: `parse ${number + 1}`,
      onclick: () => pick(number),
    });
    const cells = [make("td", {}, button)];
    if (one.score !== null) cells.push(make("td", {class: "number", text: shown(one.score)}));
    if (one.prior !== undefined)
      cells.push(
        make("td", {class: "number", text: shown(one.prior)}),
        make("td", {class: "number", text: `${one.rank}.`}),
      );
    return make("tr", {}, ...cells);
  });
  function pick(number) {
    const {tree, sure} = answer.parses[number];
    place.replaceChildren(
      drawTree(tree, {name: `Parse ${number + 1}`, sure}).element,
      ...sureLegend(sure),
      brackets(tree),
    );
    rows.forEach((row, other) => row.querySelector("button").setAttribute("aria-pressed", String(other === number)));
  }
  pick(0);
  const heads = ["", ...answer.scores, ...(answer.parses[0]?.prior !== undefined ? ["parser's rank"] : [])];
  const table = tableOf(heads.map((head, number) => [head, number > 0]), rows, "pick");
  return [card("Best parses", "third", table, ...notes(answer.notes)), card("Tree", "rest", place)];
}

function numberCards(answer) {
  const why = answer.explanation;
  const trees = why ? weighedTrees(why) : [];
  return [
    card("Number", why ? "third" : "", make("p", {class: "big", text: shown(answer.value, 4)}), ...notes(answer.notes)),
    ...(why ? [card("Fragments behind the number", "rest", ...fragments(why, trees)), ...treeCards(why, trees)] : []),
    ...(why ? [] : [parseCard(answer)]),
  ];
}

function classCards(answer, {explain}) {
  const low = Math.min(0, ...answer.classes.map((one) => one.margin));
  const range = Math.max(0, ...answer.classes.map((one) => one.margin)) - low || 1;
  const why = answer.explanation;
  const rows = answer.classes.slice(0, 12).map((one, number) => {
    const bar = make("div", {class: one.margin > 0 ? "for" : "against"});
    bar.style.width = `${(100 * Math.abs(one.margin)) / range}%`;
    bar.style.marginLeft = `${(100 * (Math.min(0, one.margin) - low)) / range}%`;
    const cell = make("td", {class: "bar zero"}, bar);
    cell.style.setProperty("--zero", `${(100 * -low) / range}%`);
    const chosen = why ? one.label === why.label : number === 0;
    const name =
      explain && why
        ? make("button", {
            type: "button",
            text: one.label,
            "aria-pressed": String(chosen),
            title: `Explain ${plain(one.label)}`,
            onclick: () => explain(one.label),
          })
        : make("span", {class: "code", text: one.label, title: plain(one.label)});
    return make(
      "tr",
      {class: chosen ? "chosen" : ""},
      make("td", {}, name),
      make("td", {class: "number", text: signed(one.margin)}),
      cell,
    );
  });
  const more =
    answer.classes.length > 12 ? [`${answer.classes.length - 12} classes with smaller margins are not shown.`] : [];
  const table = tableOf([["class"], ["margin", true], [""]], rows, "pick");
  const classes = card(`Class: ${answer.classes[0].label}`, "third", table, ...notes([...answer.notes, ...more]));
  if (!why) return [classes, ...(answer.tree ? [parseCard(answer, "rest")] : [])];
  const trees = weighedTrees(why);
  return [
    classes,
    card(`Fragments behind ${why.label}`, "rest", ...fragments(why, trees)),
    ...treeCards(why, trees),
    ...(answer.tree && why.trees.every((one) => one.view !== null) ? [parseCard(answer)] : []),
  ];
}

function weighedTrees(why) {
  return why.trees.map((one) => ({
    ...one,
    picture: drawTree(one.tree, {weights: one.weights, name: treeName(one.view)}),
  }));
}

function treeCards(why, trees) {
  return trees.map((one) =>
    card(
      `${treeName(one.view)}: what every node adds to ${why.label}`,
      "",
      one.picture.element,
      weightLegend(one.weights),
      nodeTable(one.tree, one.weights),
      brackets(one.tree),
    ),
  );
}

function treeName(view) {
  return (
    {focus: "Tree with the focus on top", lexical: "Tree of words", tree: "Tree"}[view] ??
    (view === null ? "Tree" : `Tree “${view}”`)
  );
}

function fragments(why, trees) {
  const buttons = [];
  const rows = why.fragments.map((one) => {
    const button = make("button", {
      type: "button",
      dir: "auto",
      "aria-pressed": "false",
      text: one.text,
      onclick: () => pick(one, button),
    });
    buttons.push(button);
    return make(
      "tr",
      {},
      make("td", {class: `number ${one.weight > 0 ? "pos" : "neg"}`, text: signed(one.weight, 4)}),
      make("td", {class: "number", text: one.count === null ? "" : `${one.count}×`}),
      make("td", {}, button),
      make("td", {class: "note", text: one.view ?? ""}),
    );
  });
  function pick(one, button) {
    const again = button.getAttribute("aria-pressed") === "true";
    for (const other of buttons) other.setAttribute("aria-pressed", String(other === button && !again));
    for (const tree of trees) tree.picture.mark(tree.view === one.view && !again ? one.places : []);
  }
  if (why.fragments.length) pick(why.fragments[0], buttons[0]);
  const parts = [
    `bias ${signed(why.bias)}`,
    `nodes ${signed(why.trees.reduce((sum, one) => sum + one.weights.reduce((a, b) => a + b, 0), 0))}`,
    ...why.others.map((one) => `${one.kernel} ${signed(one.value)}`),
  ];
  const said = [`Margin ${signed(why.value)} = ${parts.join(", ")}. Choose a fragment to see where it stands.`];
  if (!why.exact) said.push("The search met its limit: there may be heavier fragments.");
  const table = tableOf([["adds", true], ["times", true], ["fragment"], [""]], rows, "pick");
  return [rows.length ? table : make("p", {text: "No fragment has any weight."}), ...notes(said)];
}

function parseTitle(answer) {
  return answer.given ? "Tree as typed" : `Parse by ${answer.parser}`;
}

function parseCard(answer, width = "") {
  const title = parseTitle(answer);
  const picture = drawTree(answer.tree, {name: title, sure: answer.sure});
  return card(title, width, picture.element, ...sureLegend(answer.sure), brackets(answer.tree));
}

function layerCards(answer, {edit, why: ask}) {
  const tree = drawTree(answer.tree, {name: answer.given ? "Tree as typed" : "Parse", sure: answer.sure});
  const place = make("div", {"aria-live": "polite"});
  const choose = async (span, layer) => {
    if (span.node !== undefined && span.node !== null) tree.mark([[span.node]]);
    const said = `Why ${span.label}: ${answer.words.slice(span.first, span.last + 1).join(" ")}`;
    const score = make("p", {class: "note", text: `The ${answer.scores?.[0] ?? "score"} is ${shown(span.score)}.`});
    place.replaceChildren(make("h3", {text: said}), score);
    if (!span.why || !ask) return;
    let found;
    try {
      found = await ask(span, layer);
    } catch (error) {
      score.textContent = error.message;
      return;
    }
    if (!score.isConnected) return;
    const rows = found.features.map(([name, weight]) =>
      make(
        "tr",
        {},
        make("td", {class: `number ${weight > 0 ? "pos" : "neg"}`, text: signed(weight)}),
        make("td", {class: "code", dir: "auto", text: name}),
      ),
    );
    const heading = make("h3", {text: found.margin === null ? said : `${said}, margin ${shown(found.margin)}`});
    place.replaceChildren(heading, tableOf([["adds", true], ["feature"]], rows));
  };
  // A role that is more likely wrong than right is drawn faint.
  if (answer.scores?.[0] === "probability")
    for (const layer of answer.layers) for (const span of layer.spans) span.faint = span.score < 0.5;
  const edits = edit
    ? answer.layers
        .filter((layer) => layer.problem)
        .map((layer) =>
          make("button", {
            type: "button",
            class: "small",
            text: `Edit the scores of ${layer.title}`,
            onclick: () => edit(layer.problem),
          }),
        )
    : [];
  const small = answer.scores ? [`Small numbers: ${answer.scores[0]}. Choose a role to see what speaks for it.`] : [];
  const found = card(
    answer.kind === "role labeler" ? "Who did what to whom" : "Frames and roles",
    "",
    drawSpans(answer.words, answer.layers, {choose, name: "Roles over the sentence"}),
    ...notes([...answer.notes, ...(answer.layers.length ? small : [])]),
    ...(edits.length ? [make("p", {class: "examples"}, ...edits)] : []),
    place,
  );
  return [found, card(parseTitle(answer), "", tree.element, ...sureLegend(answer.sure), brackets(answer.tree))];
}
