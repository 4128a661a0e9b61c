// The panel Data: a file in, a row per line out, with errors, a confusion matrix, and a way to the reasons.

import {byId, card, counted, make, modelCard, notes, options, shown, tableOf} from "/elements.js";
import {plain} from "/plain.js";
import {dataPython, saving} from "/saving.js";
import {ask, Fault} from "/service.js";
import {writeState} from "/state.js";

// Lines per question; smaller ones at first, so that something is seen soon.
const PIECES = [5, 20, 50];
const MOST = 5000;
const SHOWN = 300;
// Longer files are not kept in the history of the tab: after a reload they are to be chosen again.
const KEPT = 200_000;
const EXAMPLE = [
  "HUM:ind\tWho fed the cat in the garden ?",
  "LOC:other\tWhere did the farmer buy the bread ?",
  "NUM:date\tWhen did Anna see the child ?",
  "ENTY:animal\tWhich animal did the painter feed ?",
  "NUM:count\tHow many apples did the child eat ?",
  "HUM:ind\tWhich animal did the young painter feed ?",
];

export function startPredicting(found, explain) {
  const [file, text, model] = [byId("data-file"), byId("data-text"), byId("data-model")];
  const [status, fault, results] = [byId("data-status"), byId("data-fault"), byId("data-results")];
  const usable = found.models.filter((one) => one.panel === "analyze");
  options(
    model,
    usable.map((one) => [one.name, `${one.name} – ${one.title}`]),
  );
  const classifier = usable.find((one) => one.title === "question classifier");
  if (classifier) model.value = classifier.name;
  // Labels of questions mean nothing to other models.
  const example = EXAMPLE.map((line) => (classifier ? line : line.split("\t")[1])).join("\n");
  text.value = example;
  const about = () => modelCard(byId("data-card"), usable.find((one) => one.name === model.value));
  about();
  let running = null;
  let given = example;
  let rows = [];
  let kind = {};
  const view = {sort: "line", down: false, errors: false, cell: null};

  const fields = () => ({model: model.value, lines: given === example || given.length > KEPT ? "" : given});

  async function run({remember = true} = {}) {
    running?.abort();
    const mine = (running = new AbortController());
    fault.hidden = true;
    rows = [];
    Object.assign(view, {sort: "line", down: false, errors: false, cell: null});
    results.classList.add("waiting");
    try {
      given = (file.files.length ? await file.files[0].text() : text.value).replace(/^\uFEFF/, "");
      if (remember) writeState("data", fields());
      const lines = given.split(/\r?\n/);
      const all = lines.map((line, number) => [number, line]).filter(([, line]) => line.trim());
      if (!all.length) throw new Fault("input", "there is nothing to read; choose a file, or paste lines.");
      const taken = all.slice(0, MOST);
      const start = performance.now();
      for (let at = 0, piece = 0; at < taken.length; piece++) {
        const some = taken.slice(at, at + PIECES[Math.min(piece, PIECES.length - 1)]);
        const answer = await ask("predict", {model: model.value, lines: some.map(([, line]) => line)}, mine.signal);
        kind = answer;
        rows.push(...answer.rows.map((row) => ({...row, line: some[row.line][0] + 1})));
        at += some.length;
        status.textContent = `${rows.length} of ${counted(taken.length, "line")} …`;
      }
      show();
      const cut = all.length > MOST ? ` Only the first ${MOST} are read.` : "";
      status.textContent = `${summary()} ${Math.round(performance.now() - start)} ms.${cut}`;
    } catch (error) {
      if (error.name === "AbortError") return;
      if (!(error instanceof Fault)) throw error;
      fault.textContent = error.message.charAt(0).toUpperCase() + error.message.slice(1);
      fault.hidden = false;
      status.textContent = "";
      results.replaceChildren();
    } finally {
      if (running === mine) {
        running = null;
        results.classList.remove("waiting");
      }
    }
  }

  const judged = () => rows.filter((row) => row.right !== null && row.right !== undefined);

  function summary() {
    const known = judged();
    const right = known.filter((row) => row.right).length;
    const faults = rows.filter((row) => row.fault).length;
    const parts = [`${counted(rows.length, "line")}`];
    if (known.length) parts.push(`${right} of ${known.length} right (${shown((100 * right) / known.length, 1)} %)`);
    if (faults) parts.push(`${faults} could not be read`);
    return `${parts.join(", ")};`;
  }

  function show() {
    const classes = rows.some((row) => row.expected && row.predicted) && kind.classes.length > 0;
    results.replaceChildren(
      ...(classes ? [card("Confusion matrix", "", ...confusion())] : []),
      card("Lines", "", ...listing()),
      saving(`sapwood-data-${model.value}`, results, {...kind, rows}, program()),
    );
  }

  // Only for sentences: a tree in brackets has other ways into each model.
  function program() {
    const name = file.files.length ? file.files[0].name : "lines.txt";
    const sentences = rows.every((row) => !row.fault && !row.text.trimStart().startsWith("("));
    return sentences ? dataPython(model.value, name, kind) : "";
  }

  // Rows are what was expected, columns what was predicted; a cell shows its lines.
  function confusion() {
    const known = judged();
    const labels = [...new Set(known.flatMap((row) => [row.expected, row.predicted]))].sort();
    const counts = new Map();
    for (const row of known) {
      const key = `${row.expected}\t${row.predicted}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    const most = Math.max(...counts.values(), 1);
    const lines = labels.map((expected) => {
      const cells = labels.map((predicted) => {
        const key = `${expected}\t${predicted}`;
        const count = counts.get(key) ?? 0;
        if (!count) return make("td", {class: "number", text: "·"});
        const button = make("button", {
          type: "button",
          "aria-pressed": String(view.cell === key),
          "aria-label": `${counted(count, "line")} of ${expected} predicted as ${predicted}`,
          text: String(count),
          onclick: () => {
            view.cell = view.cell === key ? null : key;
            show();
            results.querySelector(`[data-key="${CSS.escape(key)}"] button`)?.focus();
          },
        });
        const cell = make("td", {class: `number ${expected === predicted ? "hit" : "miss"}`, "data-key": key}, button);
        cell.style.setProperty("--share", `${Math.round(10 + (25 * count) / most)}%`);
        return cell;
      });
      return make("tr", {}, make("th", {scope: "row", title: plain(expected), text: expected}), ...cells);
    });
    const table = tableOf([["expected \\ predicted"], ...labels.map((label) => [label, true])], lines, "confusion");
    const region = make("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": "Confusion matrix"}, table);
    return [region, ...notes(["Rows: what the file says. Columns: what the model says. Choose a number to see its lines."])];
  }

  function chosen() {
    const kept = rows.filter(
      (row) =>
        (!view.errors || row.right === false || row.fault) &&
        (view.cell === null || (row.right !== null && `${row.expected}\t${row.predicted}` === view.cell)),
    );
    const value = {
      line: (row) => row.line,
      score: (row) => row.score ?? Infinity,
      predicted: (row) => row.predicted ?? "",
      expected: (row) => row.expected ?? "",
    }[view.sort];
    kept.sort((one, other) => (value(one) < value(other) ? -1 : value(one) > value(other) ? 1 : one.line - other.line));
    return view.down ? kept.reverse() : kept;
  }

  function listing() {
    const kept = chosen();
    const head = (name, text, number = false) =>
      make(
        "th",
        {
          scope: "col",
          class: number ? "number" : "",
          "aria-sort": view.sort === name ? (view.down ? "descending" : "ascending") : null,
        },
        make("button", {
          type: "button",
          "data-sort": name,
          text: view.sort === name ? `${text} ${view.down ? "↓" : "↑"}` : text,
          onclick: () => {
            view.down = view.sort === name && !view.down;
            view.sort = name;
            show();
            results.querySelector(`[data-sort=${name}]`).focus();
          },
        }),
      );
    const lines = kept.slice(0, SHOWN).map((row) =>
      make(
        "tr",
        {class: row.right === false || row.fault ? "wrong" : ""},
        make("td", {class: "number", text: String(row.line)}),
        make("td", {title: plain(row.expected ?? ""), text: row.expected ?? ""}),
        make("td", {title: plain(row.predicted ?? ""), text: row.fault ?? row.predicted}),
        make("td", {class: "number", text: row.score === undefined ? "" : shown(row.score)}),
        make("td", {text: row.right === false ? "wrong" : row.right ? "right" : ""}),
        make(
          "td",
          {},
          make("button", {
            type: "button",
            dir: "auto",
            title: "Look at it in the first panel",
            text: row.text,
            onclick: () => explain({text: row.text, model: model.value}),
          }),
          ...(row.note ? [make("span", {class: "note", text: ` ${row.note}`})] : []),
        ),
      ),
    );
    const heads = make(
      "tr",
      {},
      head("line", "line", true),
      head("expected", "expected"),
      head("predicted", "predicted"),
      head("score", kind.score, true),
      make("th", {}),
      make("th", {scope: "col", text: "text"}),
    );
    const table = make("table", {class: "pick lines"}, make("thead", {}, heads), make("tbody", {}, ...lines));
    const only = make("input", {
      type: "checkbox",
      id: "data-errors",
      onchange: (event) => {
        view.errors = event.target.checked;
        show();
        byId("data-errors").focus();
      },
    });
    only.checked = view.errors;
    const said = [`${counted(kept.length, "line")}${kept.length > SHOWN ? `, of which ${SHOWN} are shown` : ""}. `];
    if (kind.score === "margin") said.push("The margin is that of the class over the next one: small ones are doubtful.");
    const region = make("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": "Lines"}, table);
    return [make("label", {class: "check"}, only, "errors only"), region, ...notes([said.join("")])];
  }

  byId("data-form").addEventListener("submit", (event) => {
    event.preventDefault();
    run();
  });
  file.addEventListener("change", () => run());
  // What is typed counts more than a file that was chosen before.
  text.addEventListener("input", () => {
    file.value = "";
  });
  model.addEventListener("change", () => {
    about();
    run();
  });
  let asked = false;
  document.addEventListener("panel", (event) => {
    if (event.detail !== "data" || asked || !usable.length) return;
    asked = true;
    run({remember: false});
  });
  return {
    fields,
    restore(values) {
      const before = [model.value, given];
      if ([...model.options].some((one) => one.value === values.model)) model.value = values.model;
      about();
      const lines = values.lines ?? example;
      if (!usable.length || (asked && before[0] === model.value && before[1] === lines)) return;
      file.value = "";
      text.value = lines;
      asked = true;
      run({remember: false});
    },
  };
}
