// The first panel: one sentence or tree, one model.

import {byId, card, counted, examples, make, notes, options, shown, signed} from "/elements.js";
import {plain} from "/plain.js";
import {analyzePython, saving} from "/saving.js";
import {Conversation} from "/service.js";
import {writeState} from "/state.js";
import {drawSpans} from "/spans.js";
import {brackets, drawTree, nodeTable, weightLegend} from "/tree.js";

const EXAMPLES = [
  ["a question", "Which animal did the young painter feed in the garden ?"],
  ["a statement", "The farmer gave the hungry child a fresh apple in the garden on Friday ."],
  ["two things", "The young woman bought the fresh pie and the loaf in Oslo ."],
  ["a tree", "(S (NP (DT The) (NN dog)) (VP (VBD chased) (NP (DT the) (JJ old) (NN cat))) (. .))"],
];

export function startAnalysing(found, asked, edit) {
  const form = byId("analyze-form");
  const text = byId("analyze-text");
  const model = byId("analyze-model");
  const parser = byId("analyze-parser");
  const results = byId("analyze-results");
  const talk = new Conversation("analyze", {status: byId("analyze-status"), fault: byId("analyze-fault"), results});

  const usable = found.models.filter((one) => one.panel === "analyze" || one.fault);
  const order = [
    "question classifier",
    "tree classifier",
    "role labeler",
    "frame labeler",
    "parser",
    "parse reranker",
  ];
  usable.sort((one, other) => rank(one) - rank(other));
  function rank(one) {
    return one.fault ? order.length : order.indexOf(one.title);
  }
  options(
    model,
    usable.map((one) => [one.name, one.fault ? `${one.name} – cannot be loaded` : `${one.name} – ${one.title}`]),
  );
  const parsers = found.models.filter((one) => one.title === "parser");
  options(
    parser,
    parsers.map((one) => [one.name, one.name]),
  );
  byId("analyze-parser-field").hidden = parsers.length < 2;
  text.maxLength = 4 * found.limits.characters;
  const absent = found.models.filter((one) => !usable.includes(one));
  byId("analyze-absent").hidden = !absent.length;
  byId("analyze-absent").textContent = `Not in this list: ${absent
    .map((one) => `${one.name} (${one.title}${one.panel ? `, see ${one.panel}` : `, ${one.does}`})`)
    .join(", ")}.`;
  let sentence = 0;

  const fields = () => ({
    text: text.value,
    model: model.value,
    parser: parsers.length > 1 ? parser.value : "",
    sentence: sentence || "",
  });

  function run(label, {remember = true, number = 0} = {}) {
    sentence = number;
    byId("analyze-card").textContent = usable.find((one) => one.name === model.value)?.card ?? "";
    const request = {text: text.value, model: model.value};
    if (parsers.length > 1) request.parser = parser.value;
    if (label) request.label = label;
    if (sentence) request.sentence = sentence;
    if (remember) writeState("analyze", fields());
    talk.ask(request, (answer) => show(answer, request));
  }

  function restore(given) {
    if (given.text !== undefined) text.value = given.text;
    for (const [field, value] of [
      [model, given.model],
      [parser, given.parser],
    ])
      if ([...field.options].some((one) => one.value === value)) field.value = value;
    run(undefined, {remember: false, number: Number(given.sentence) || 0});
  }

  // A text of several sentences: one is looked at, the others are a click away.
  function listSentences(answer) {
    const place = byId("analyze-sentences");
    place.hidden = answer.sentences.length < 2;
    place.replaceChildren(
      make("span", {text: `${answer.sentences.length} sentences`}),
      ...answer.sentences.map((said, number) =>
        make("button", {
          type: "button",
          dir: "auto",
          "aria-pressed": String(number === answer.sentence),
          title: said,
          text: said.length > 40 ? `${number + 1}. ${said.slice(0, 39)}…` : `${number + 1}. ${said}`,
          onclick: () => run(undefined, {number}),
        }),
      ),
    );
  }

  function show(answer, request) {
    results.replaceChildren(...cards(answer));
    listSentences(answer);
    results.append(saving(`sapwood-${request.model}`, results, answer, analyzePython(request, answer)));
    const size = counted(answer.words.length, "word");
    if (answer.classes) return `${answer.classes[0].label}, margin ${shown(answer.classes[0].margin)}; ${size},`;
    if (answer.layers) {
      const spans = answer.layers.reduce((sum, layer) => sum + layer.spans.length, 0);
      return `${counted(answer.layers.length, answer.kind === "role labeler" ? "predicate" : "frame")}, ${counted(spans, "role")}; ${size},`;
    }
    return `${counted(answer.parses.length, "parse")}; ${size},`;
  }

  function cards(answer) {
    if (answer.classes) return classCards(answer);
    if (answer.layers) return layerCards(answer);
    return parseCards(answer);
  }

  function parseCards(answer) {
    const place = make("div");
    const caption = make("div");
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
      place.replaceChildren(drawTree(answer.parses[number].tree, {name: `Parse ${number + 1}`}).element);
      caption.replaceChildren(brackets(answer.parses[number].tree));
      rows.forEach((row, other) => row.querySelector("button").setAttribute("aria-pressed", String(other === number)));
    }
    pick(0);
    const heads = ["", ...answer.scores, ...(answer.parses[0]?.prior !== undefined ? ["parser's rank"] : [])];
    const table = make(
      "table",
      {class: "pick"},
      make(
        "thead",
        {},
        make("tr", {}, ...heads.map((head, number) => make("th", {class: number ? "number" : "", text: head}))),
      ),
      make("tbody", {}, ...rows),
    );
    return [card("Best parses", "third", table, ...notes(answer.notes)), card("Tree", "rest", place, caption)];
  }

  function classCards(answer) {
    const low = Math.min(0, ...answer.classes.map((one) => one.margin));
    const range = Math.max(0, ...answer.classes.map((one) => one.margin)) - low || 1;
    const rows = answer.classes.slice(0, 12).map((one) => {
      const bar = make("div", {class: one.margin > 0 ? "for" : "against"});
      bar.style.width = `${(100 * Math.abs(one.margin)) / range}%`;
      bar.style.marginLeft = `${(100 * (Math.min(0, one.margin) - low)) / range}%`;
      const cell = make("td", {class: "bar zero"}, bar);
      cell.style.setProperty("--zero", `${(100 * -low) / range}%`);
      const chosen = one.label === answer.explanation.label;
      return make(
        "tr",
        {class: chosen ? "chosen" : ""},
        make(
          "td",
          {},
          make("button", {
            type: "button",
            text: one.label,
            "aria-pressed": String(chosen),
            title: `Explain ${plain(one.label)}`,
            onclick: () => run(one.label),
          }),
        ),
        make("td", {class: "number", text: signed(one.margin)}),
        cell,
      );
    });
    const more =
      answer.classes.length > 12 ? [`${answer.classes.length - 12} classes with smaller margins are not shown.`] : [];
    const table = make(
      "table",
      {class: "pick"},
      make(
        "thead",
        {},
        make("tr", {}, make("th", {text: "class"}), make("th", {class: "number", text: "margin"}), make("th", {})),
      ),
      make("tbody", {}, ...rows),
    );
    const why = answer.explanation;
    const trees = why.trees.map((one) => ({
      ...one,
      picture: drawTree(one.tree, {weights: one.weights, name: treeName(one.view)}),
    }));
    return [
      card(`Class: ${answer.classes[0].label}`, "third", table, ...notes([...answer.notes, ...more])),
      card(`Fragments behind ${why.label}`, "rest", ...fragments(why, trees)),
      ...trees.map((one) =>
        card(
          `${treeName(one.view)}: what every node adds to ${why.label}`,
          "",
          one.picture.element,
          weightLegend(one.weights),
          nodeTable(one.tree, one.weights),
          brackets(one.tree),
        ),
      ),
      ...(answer.tree && why.trees.every((one) => one.view !== null) ? [parseCard(answer)] : []),
    ];
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
    const table = make(
      "table",
      {class: "pick"},
      make(
        "thead",
        {},
        make(
          "tr",
          {},
          make("th", {class: "number", text: "adds"}),
          make("th", {class: "number", text: "times"}),
          make("th", {text: "fragment"}),
          make("th", {text: ""}),
        ),
      ),
      make("tbody", {}, ...rows),
    );
    return [rows.length ? table : make("p", {text: "No fragment has any weight."}), ...notes(said)];
  }

  function parseCard(answer) {
    const title = answer.given ? "Tree as typed" : `Parse by ${answer.parser}`;
    return card(title, "", drawTree(answer.tree, {name: title}).element, brackets(answer.tree));
  }

  function layerCards(answer) {
    const tree = drawTree(answer.tree, {name: answer.given ? "Tree as typed" : "Parse"});
    const why = make("div", {"aria-live": "polite"});
    const choose = (span) => {
      if (span.node !== undefined && span.node !== null) tree.mark([[span.node]]);
      const rows = (span.features ?? []).map(([name, weight]) =>
        make(
          "tr",
          {},
          make("td", {class: `number ${weight > 0 ? "pos" : "neg"}`, text: signed(weight)}),
          make("td", {class: "code", dir: "auto", text: name}),
        ),
      );
      const words = answer.words.slice(span.first, span.last + 1).join(" ");
      why.replaceChildren(
        make("h3", {
          text: `Why ${span.label}: ${words}${span.margin === undefined || span.margin === null ? "" : `, margin ${shown(span.margin)}`}`,
        }),
        rows.length
          ? make("table", {}, make("tbody", {}, ...rows))
          : make("p", {class: "note", text: `The ${answer.scores?.[0] ?? "score"} is ${shown(span.score)}.`}),
      );
    };
    // A role that is more likely wrong than right is drawn faint.
    if (answer.scores?.[0] === "probability")
      for (const layer of answer.layers) for (const span of layer.spans) span.faint = span.score < 0.5;
    const edits = answer.layers
      .filter((layer) => layer.problem)
      .map((layer) =>
        make("button", {
          type: "button",
          class: "small",
          text: `Edit the scores of ${layer.title}`,
          onclick: () => edit(layer.problem),
        }),
      );
    const small = answer.scores ? [`Small numbers: ${answer.scores[0]}. Choose a role to see what speaks for it.`] : [];
    const found = card(
      answer.kind === "role labeler" ? "Who did what to whom" : "Frames and roles",
      "",
      drawSpans(answer.words, answer.layers, {choose, name: "Roles over the sentence"}),
      ...notes([...answer.notes, ...(answer.layers.length ? small : [])]),
      ...(edits.length ? [make("p", {class: "examples"}, ...edits)] : []),
      why,
    );
    return [
      found,
      card(answer.given ? "Tree as typed" : `Parse by ${answer.parser}`, "", tree.element, brackets(answer.tree)),
    ];
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    run();
  });
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      run();
    }
  });
  model.addEventListener("change", () => run());
  parser.addEventListener("change", () => run());
  examples(
    byId("analyze-examples"),
    EXAMPLES.map(([name, value]) => [
      name,
      () => {
        text.value = value;
        run();
      },
    ]),
  );
  text.value = EXAMPLES[0][1];
  if (usable.length) restore(asked);
  else byId("analyze-status").textContent = "The folder holds no model that this panel can show.";
  return {fields, restore};
}
