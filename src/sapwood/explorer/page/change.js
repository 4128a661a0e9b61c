// The panel What if: two versions of a sentence or two models side by side, and what each word is good for.

import {answerCards} from "/answer.js";
import {byId, card, counted, examples, make, notes, options, shown, signed, tableOf} from "/elements.js";
import {plain} from "/plain.js";
import {analyzePython, saving} from "/saving.js";
import {ask, Conversation} from "/service.js";
import {writeState} from "/state.js";

const EXAMPLES = [
  [
    "with and without a place",
    "The farmer gave the hungry child a fresh apple in the garden .",
    "The farmer gave the hungry child a fresh apple .",
  ],
  ["another question word", "Who fed the cat in the garden ?", "When did the painter feed the cat in the garden ?"],
  ["active and passive", "The farmer bought the bread .", "The bread was bought by the farmer ."],
];

export function startChanging(found, given) {
  const [text, second] = [byId("change-text"), byId("change-second")];
  const [model, other] = [byId("change-model"), byId("change-second-model")];
  const [word, by] = [byId("change-word"), byId("change-by")];
  const results = byId("change-results");
  const talk = new Conversation("change", {status: byId("change-status"), fault: byId("change-fault"), results});
  const usable = found.models.filter((one) => one.panel === "analyze");
  for (const field of [model, other])
    options(
      field,
      usable.map((one) => [one.name, `${one.name} – ${one.title}`]),
    );
  let asked = false;
  let loss = null;

  const fields = () => ({
    text: text.value,
    second: second.value,
    model: model.value,
    second_model: other.value === model.value ? "" : other.value,
  });

  // Words as the server has cut them, or blanks where it has not been asked yet.
  let words = [];
  function listWords(list) {
    words = list;
    options(
      word,
      words.map((one, number) => [String(number), one]),
      word.value,
    );
  }

  function run({remember = true} = {}) {
    asked = true;
    if (remember) writeState("change", fields());
    const request = {text: text.value, second: second.value, model: model.value, second_model: other.value};
    talk.ask(request, (answer) => show(answer, request));
  }

  function fill(values) {
    if (values.text !== undefined) text.value = values.text;
    if (values.second !== undefined) second.value = values.second;
    for (const [field, value] of [
      [model, values.model],
      [other, values.second_model ?? values.model],
    ])
      if ([...field.options].some((one) => one.value === value)) field.value = value;
  }

  function show(answer, request) {
    const [first, last] = answer.sides;
    listWords(first.words);
    const column = (side, title) => {
      const place = make("div", {class: "side", role: "group", "aria-label": title});
      place.append(make("h2", {class: "side-title", text: `${title}, ${side.model}`}), ...answerCards(side));
      return place;
    };
    loss = make("div", {"aria-live": "polite"});
    results.replaceChildren(
      card("What changes", "", ...changes(answer)),
      card("Word by word", "", loss),
      column(first, "First version"),
      column(last, "Second version"),
    );
    const programs = answer.sides.map((side) => analyzePython({model: side.model}, side));
    results.append(saving("sapwood-change", results, answer, [...new Set(programs)].join("\n\n")));
    askForWords(request, loss);
    return `${said(answer)};`;
  }

  function said(answer) {
    if (answer.differences.length) return counted(answer.differences.length, "difference");
    return answer.notes.length ? "Two answers" : "No difference";
  }

  function changes(answer) {
    const rows = answer.differences.map((one) =>
      make(
        "tr",
        {},
        make("td", {text: one.layer}),
        make("td", {class: "code", title: plain(one.label), text: one.label || "found at"}),
        make("td", {dir: "auto", text: one.before || "–"}),
        make("td", {dir: "auto", text: one.after || "–"}),
      ),
    );
    const margins = marginRows(answer.sides);
    const parts = [];
    if (rows.length) parts.push(tableOf([[""], ["what"], ["first version"], ["second version"]], rows));
    if (margins.length)
      parts.push(tableOf([["class"], ["first margin", true], ["second margin", true], ["change", true]], margins));
    if (!rows.length && !answer.notes.length)
      parts.unshift(make("p", {text: "The two answers are the same as far as their words are."}));
    return [...parts, ...notes(answer.notes)];
  }

  // For classes: the margins of both sides, those first that are large in one of them.
  function marginRows(sides) {
    if (!sides.every((one) => one.classes)) return [];
    const [before, after] = sides.map((side) => new Map(side.classes.map((one) => [one.label, one.margin])));
    const labels = [...before.keys()].filter((label) => after.has(label));
    labels.sort((a, b) => Math.max(before.get(b), after.get(b)) - Math.max(before.get(a), after.get(a)));
    return labels
      .slice(0, 6)
      .map((label) =>
        make(
          "tr",
          {},
          make("td", {class: "code", title: plain(label), text: label}),
          ...[before.get(label), after.get(label)].map((value) => make("td", {class: "number", text: signed(value)})),
          make("td", {class: "number", text: signed(after.get(label) - before.get(label))}),
        ),
      );
  }

  async function askForWords(request, place) {
    place.replaceChildren(make("p", {class: "note", text: "Removing one word after the other …"}));
    let answer;
    try {
      answer = await ask("without", {text: request.text, model: request.model});
    } catch (error) {
      place.replaceChildren(make("p", {class: "note", text: error.message}));
      return;
    }
    if (place === loss) place.replaceChildren(...wordRows(answer));
  }

  // One button per word with a bar: the longer, the more changes when the word is removed.
  function wordRows(answer) {
    const largest = Math.max(...answer.rows.map((row) => Math.abs(row.change)), 1e-12);
    const margin = answer.label !== null || answer.rows.some((row) => row.now !== null);
    const buttons = answer.rows.map((row, number) => {
      const bar = make("span", {class: `loss ${margin && row.change < 0 ? "for" : "against"}`});
      bar.style.height = `${(2.2 * Math.abs(row.change)) / largest}rem`;
      const other = answer.label !== null && row.now !== answer.label ? `, and the class is ${row.now}` : "";
      const amount = margin ? `${signed(row.change)}${other}` : counted(row.differences.length, "change");
      return make(
        "button",
        {
          type: "button",
          class: `ablated${other ? " flips" : ""}`,
          title: `Without “${row.word}”: ${amount}`,
          "aria-label": `Remove ${row.word}: ${amount}`,
          onclick: () => {
            word.value = String(number);
            remove();
          },
        },
        bar,
        make("span", {dir: "auto", text: row.word}),
      );
    });
    const flips = answer.rows.filter((row) => answer.label !== null && row.now !== answer.label);
    const legend = margin
      ? `Bars: by how much the ${answer.label === null ? "number" : `margin of ${answer.label}`} changes when the word is removed; orange means that the word speaks for it. `
      : "Bars: how many parts of the answer change when the word is removed. ";
    const turned = flips.length
      ? `Without ${flips.map((row) => `“${row.word}”`).join(" or ")} the class is another one. `
      : "";
    return [
      make("div", {class: "words", role: "group", "aria-label": "Words, to be removed"}, ...buttons),
      ...notes([`${legend}${turned}Choose a word to see the two versions.`]),
    ];
  }

  function edited(change) {
    const at = Number(word.value);
    if (!words.length || !Number.isInteger(at)) return;
    if (text.value.trimStart().startsWith("(")) {
      byId("change-status").textContent = "Words of a tree are changed in its brackets, in the second field.";
      second.value = text.value;
      second.focus();
      return;
    }
    const left = [...words];
    left.splice(at, 1, ...change);
    second.value = left.join(" ");
    run();
  }
  const remove = () => edited([]);

  byId("change-form").addEventListener("submit", (event) => {
    event.preventDefault();
    run();
  });
  for (const area of [text, second])
    area.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        run();
      }
    });
  model.addEventListener("change", () => {
    other.value = model.value;
    run();
  });
  other.addEventListener("change", () => run());
  byId("change-copy").addEventListener("click", () => {
    second.value = text.value;
    run();
  });
  byId("change-remove").addEventListener("click", remove);
  byId("change-replace").addEventListener("click", () => edited(by.value.trim() ? [by.value.trim()] : []));
  by.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    edited(by.value.trim() ? [by.value.trim()] : []);
  });
  examples(
    byId("change-examples"),
    EXAMPLES.map(([name, one, two]) => [
      name,
      () => {
        [text.value, second.value] = [one, two];
        run();
      },
    ]),
  );
  [, text.value, second.value] = EXAMPLES[0];
  if (usable.some((one) => one.title === "role labeler"))
    model.value = other.value = usable.find((one) => one.title === "role labeler").name;
  fill(given);
  document.addEventListener("panel", (event) => {
    if (event.detail === "change" && !asked && usable.length) run({remember: false});
  });
  return {
    fields,
    restore(values) {
      fill(values);
      run({remember: false});
    },
  };
}
