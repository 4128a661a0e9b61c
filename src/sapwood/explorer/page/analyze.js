// The first panel: one sentence or tree, one model.

import {answerCards} from "/answer.js";
import {byId, counted, examples, make, modelCard, options, shown} from "/elements.js";
import {analyzePython, saving} from "/saving.js";
import {ask, Conversation} from "/service.js";
import {writeState} from "/state.js";

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
    "tree regressor",
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
    modelCard(byId("analyze-card"), usable.find((one) => one.name === model.value));
    const request = {text: text.value, model: model.value};
    if (parsers.length > 1) request.parser = parser.value;
    if (label) request.label = label;
    if (sentence) request.sentence = sentence;
    if (remember) writeState("analyze", fields());
    talk.ask(request, (answer) => show(answer, request));
  }

  function restore(given, {remember = false} = {}) {
    if (given.text !== undefined) text.value = given.text;
    for (const [field, value] of [
      [model, given.model],
      [parser, given.parser],
    ])
      if ([...field.options].some((one) => one.value === value)) field.value = value;
    run(undefined, {remember, number: Number(given.sentence) || 0});
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
    const why = (span, layer) =>
      ask("why", {...request, predicate: layer.marked[0], first: span.first, last: span.last, role: span.label});
    results.replaceChildren(...answerCards(answer, {explain: run, edit, why}));
    listSentences(answer);
    results.append(saving(`sapwood-${request.model}`, results, answer, analyzePython(request, answer)));
    const size = counted(answer.words.length, "word");
    if (answer.classes) return `${answer.classes[0].label}, margin ${shown(answer.classes[0].margin)}; ${size},`;
    if (answer.layers) {
      const spans = answer.layers.reduce((sum, layer) => sum + layer.spans.length, 0);
      return `${counted(answer.layers.length, answer.kind === "role labeler" ? "predicate" : "frame")}, ${counted(spans, "role")}; ${size},`;
    }
    if (answer.value !== undefined) return `${shown(answer.value)}; ${size},`;
    return `${counted(answer.parses.length, "parse")}; ${size},`;
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
