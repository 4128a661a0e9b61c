// The panel Decode: a table of scores, constraints, and what each way of decoding makes of them.

import {byId, card, counted, examples, later, make, notes, options, shown} from "/elements.js";
import {decodePython, saving} from "/saving.js";
import {Conversation} from "/service.js";
import {drawSpans, paint} from "/spans.js";
import {writeState} from "/state.js";

const EXAMPLES = [
  [
    "two roles, one span",
    {
      words: "The cook gave the child an apple".split(" "),
      roles: ["Donor", "Recipient", "Gift"],
      spans: [
        [0, 1],
        [3, 4],
        [5, 6],
        [3, 6],
      ],
      scores: [
        [3.2, 0.1, -1, -2],
        [-1, 1.4, 1.9, 0.2],
        [-2, 0.4, 2.6, 2.4],
      ],
      excludes: [],
      requires: [],
      mandatory: [],
    },
  ],
  [
    "requires and excludes",
    {
      words: "The cook bought the apple and the bread".split(" "),
      roles: ["Buyer", "Goods", "Goods_1", "Goods_2"],
      spans: [
        [0, 1],
        [3, 4],
        [6, 7],
        [3, 7],
      ],
      scores: [
        [3, -2, -2, -2],
        [-1, 1.1, 0.4, 1.6],
        [-2, 1.3, -0.2, -1],
        [-2, -0.5, 0.6, -1],
      ],
      excludes: [
        [1, 2],
        [1, 3],
      ],
      requires: [[2, 3]],
      mandatory: [],
    },
  ],
  [
    "an error of the beam",
    {
      words: "a b c d e f".split(" "),
      roles: ["R1", "R2", "R3"],
      spans: [
        [0, 3],
        [0, 1],
        [2, 3],
        [4, 5],
      ],
      scores: [
        [2.5, 2, -1, 0.2],
        [2.4, -1, 2, 0.1],
        [0.2, 1.8, -1, 1.9],
      ],
      excludes: [],
      requires: [],
      mandatory: [],
    },
  ],
];

export function startDecoding(found) {
  const results = byId("decode-results");
  const words = byId("decode-words");
  const table = byId("decode-table");
  const pairs = byId("decode-pairs");
  const apart = byId("decode-apart");
  const unique = byId("decode-unique");
  const beam = byId("decode-beam");
  const talk = new Conversation("decode", {status: byId("decode-status"), fault: byId("decode-fault"), results});
  let problem = null;
  let request = null;
  let asked = false;

  function open(given) {
    problem = structuredClone({mandatory: [], left_out: 0, ...given});
    words.value = problem.words.join(" ");
    draw();
    run();
  }

  function textOf(span) {
    return problem.words.slice(span[0], span[1] + 1).join(" ") || "–";
  }

  function draw() {
    const head = make(
      "tr",
      {},
      make("th", {}, make("span", {class: "visually-hidden", text: "role"})),
      ...problem.spans.map((span, number) =>
        make(
          "th",
          {scope: "col"},
          make("span", {dir: "auto", text: textOf(span)}),
          " ",
          cross(`Remove the span ${textOf(span)}`, () => {
            problem.spans.splice(number, 1);
            for (const row of problem.scores) row.splice(number, 1);
            changed();
          }),
        ),
      ),
      make("th", {scope: "col", text: "must be filled"}),
    );
    const rows = problem.roles.map((role, number) =>
      make(
        "tr",
        {},
        make(
          "th",
          {scope: "row", dir: "auto"},
          make("span", {class: `swatch paint ${paint(role)}`}),
          role,
          " ",
          cross(`Remove the role ${role}`, () => removeRole(number)),
        ),
        ...problem.spans.map((span, column) =>
          make(
            "td",
            {"data-cell": `${number},${column}`},
            make("input", {
              type: "number",
              step: "0.1",
              value: problem.scores[number][column],
              "aria-label": `${role}, ${textOf(span)}`,
              oninput: (event) => {
                const value = event.target.valueAsNumber;
                event.target.setAttribute("aria-invalid", String(!Number.isFinite(value)));
                if (Number.isFinite(value)) {
                  problem.scores[number][column] = value;
                  soon();
                }
              },
            }),
          ),
        ),
        make(
          "td",
          {},
          make("input", {
            type: "checkbox",
            "aria-label": `${role} must be filled`,
            checked: problem.mandatory.includes(number),
            onchange: (event) => {
              problem.mandatory = problem.mandatory.filter((one) => one !== number);
              if (event.target.checked) problem.mandatory.push(number);
              soon();
            },
          }),
        ),
      ),
    );
    table.replaceChildren(make("table", {class: "scores"}, make("thead", {}, head), make("tbody", {}, ...rows)));
    const names = problem.roles.map((role, number) => [String(number), role]);
    options(byId("decode-left"), names, byId("decode-left").value);
    options(byId("decode-right"), names, byId("decode-right").value || "1");
    const places = problem.words.map((word, number) => [String(number), `${number + 1} ${word}`]);
    options(byId("decode-from"), places, byId("decode-from").value);
    options(byId("decode-to"), places, byId("decode-to").value);
    pairs.replaceChildren(
      ...["requires", "excludes"].flatMap((kind) =>
        problem[kind].map(([one, other], number) =>
          make(
            "li",
            {},
            `${problem.roles[one]} ${kind} ${problem.roles[other]}`,
            cross(`Remove: ${problem.roles[one]} ${kind} ${problem.roles[other]}`, () => {
              problem[kind].splice(number, 1);
              changed();
            }),
          ),
        ),
      ),
    );
  }

  function cross(name, work) {
    return make("button", {type: "button", class: "cross", "aria-label": name, title: name, text: "×", onclick: work});
  }

  function removeRole(gone) {
    const move = (role) => (role > gone ? role - 1 : role);
    problem.roles.splice(gone, 1);
    problem.scores.splice(gone, 1);
    problem.mandatory = problem.mandatory.filter((role) => role !== gone).map(move);
    for (const kind of ["requires", "excludes"]) {
      problem[kind] = problem[kind].filter((pair) => !pair.includes(gone)).map((pair) => pair.map(move));
    }
    changed();
  }

  function changed() {
    draw();
    run();
  }

  function run() {
    asked = true;
    const {words: sentence, roles, spans, scores, excludes, requires, mandatory} = problem;
    const width = beam.valueAsNumber;
    request = {
      words: sentence,
      roles,
      spans,
      scores,
      excludes,
      requires,
      mandatory,
      overlap: !apart.checked,
      unique: unique.checked,
      beam: Number.isInteger(width) && width >= 1 ? Math.min(width, 1000) : 2,
    };
    // Every number that is typed asks again; Back leads to what was there before all of them.
    if (!byId("decode").hidden) writeState("decode", fields(), {replace: true});
    talk.ask(request, show);
  }

  const fields = () => (request ? {problem: JSON.stringify(request)} : {});

  // What an address holds; nothing where that is no table of scores.
  function read(text) {
    try {
      const {overlap, unique: once, beam: width, ...given} = JSON.parse(text);
      const table = given.roles.map((_, role) => given.spans.map((_, span) => Number(given.scores[role][span])));
      const pairsOf = (kind) => (given[kind] ?? []).filter((pair) => pair.every((role) => role in given.roles));
      const filled = (given.mandatory ?? []).filter((role) => role in given.roles);
      const pairs = {excludes: pairsOf("excludes"), requires: pairsOf("requires")};
      const sentence = given.words.map(String);
      if (!given.spans.every((span) => span.every(Number.isInteger))) return null;
      [apart.checked, unique.checked, beam.value] = [!overlap, Boolean(once), String(width)];
      return {words: sentence, roles: given.roles.map(String), spans: given.spans, scores: table, mandatory: filled, ...pairs};
    } catch {
      return null;
    }
  }

  function restore(values) {
    const given = values.problem === undefined || values.problem === fields().problem ? null : read(values.problem);
    if (given) open(given);
  }

  function show(answer) {
    const layers = answer.methods.map((one) => {
      const broken = new Set(one.violations.flatMap((violation) => violation.roles));
      const spans = (one.assignment ?? [])
        .map((span, role) =>
          span === null
            ? null
            : {
                label: problem.roles[role],
                first: problem.spans[span][0],
                last: problem.spans[span][1],
                score: problem.scores[role][span],
                broken: broken.has(role),
              },
        )
        .filter(Boolean);
      return {title: one.method, marked: [], spans};
    });
    const exact = answer.methods.find((one) => one.method === "exact");
    for (const cell of table.querySelectorAll("td[data-cell]")) {
      const [role, span] = cell.dataset.cell.split(",").map(Number);
      cell.classList.toggle("taken", exact.assignment?.[role] === span);
    }
    const rows = answer.methods.map((one) =>
      make(
        "tr",
        {},
        make("th", {scope: "row", text: one.method}),
        make("td", {text: one.does}),
        make("td", {class: "number", text: one.assignment === null ? "–" : shown(one.value, 2)}),
        make("td", {class: "number", text: shown(one.bound, 2)}),
        make("td", {
          text:
            {optimal: "proven best", limit: "no proof", fractional: "rounded", infeasible: "impossible"}[one.status] ??
            one.status,
        }),
        make("td", {
          class: one.violations.length ? "broken-list" : "ok",
          text:
            one.assignment === null
              ? "no assignment obeys the constraints"
              : one.violations.map(said).join("; ") || "none",
        }),
      ),
    );
    const left = problem.left_out ? [`${problem.left_out} low-scoring spans are left out.`] : [];
    results.replaceChildren(
      card(
        "What each method chooses",
        "",
        drawSpans(problem.words, layers, {name: "Chosen spans under the sentence"}),
        ...notes([
          "A dashed line marks roles that break a constraint; in the table above, framed scores are those of the exact choice.",
          ...left,
          ...answer.notes,
        ]),
      ),
      card(
        "Values",
        "",
        make(
          "div",
          {class: "scroll", tabindex: 0, role: "region", "aria-label": "Values"},
          make(
            "table",
            {class: "methods"},
            make(
              "thead",
              {},
              make(
                "tr",
                {},
                ...["", "what it does"].map((text) => make("th", {text})),
                make("th", {class: "number", text: "value"}),
                make("th", {class: "number", text: "bound"}),
                ...["status", "broken constraints"].map((text) => make("th", {text})),
              ),
            ),
            make("tbody", {}, ...rows),
          ),
        ),
        ...notes([
          "No assignment that obeys the constraints is worth more than the bound; a larger value breaks some.",
        ]),
      ),
      saving("sapwood-decode", results, {problem: request, ...answer}, decodePython(request)),
    );
    const local = answer.methods.find((one) => one.method === "local");
    return `Exact ${shown(exact.value, 2)}, local ${shown(local.value, 2)} with ${counted(local.violations.length, "broken constraint")};`;
  }

  function said(violation) {
    const [one, other] = violation.roles.map((role) => problem.roles[role]);
    return {
      overlap: `${one} and ${other} overlap`,
      unique: `${one} and ${other} take the same span`,
      excludes: `${one} excludes ${other}`,
      requires: `${one} requires ${other}`,
      mandatory: `${one} must be filled`,
    }[violation.kind];
  }

  const soon = later(80, run);
  byId("decode-form").addEventListener("submit", (event) => event.preventDefault());
  words.addEventListener("change", () => {
    const given = words.value.split(/\s+/u).filter(Boolean).slice(0, found.limits.words);
    problem.words = given;
    const kept = problem.spans.map((span) => span[1] < given.length);
    problem.scores = problem.scores.map((row) => row.filter((_, span) => kept[span]));
    problem.spans = problem.spans.filter((_, span) => kept[span]);
    changed();
  });
  byId("decode-add-span").addEventListener("click", () => {
    const ends = [Number(byId("decode-from").value), Number(byId("decode-to").value)].sort((one, other) => one - other);
    if (
      !problem.words.length ||
      problem.spans.length >= found.limits.spans ||
      problem.spans.some((span) => span[0] === ends[0] && span[1] === ends[1])
    )
      return;
    problem.spans.push(ends);
    for (const row of problem.scores) row.push(0);
    changed();
  });
  byId("decode-add-role").addEventListener("click", () => {
    const name = byId("decode-role").value.trim() || `Role ${problem.roles.length + 1}`;
    if (problem.roles.length >= found.limits.roles) return;
    problem.roles.push(name);
    problem.scores.push(problem.spans.map(() => 0));
    byId("decode-role").value = "";
    changed();
  });
  byId("decode-add-pair").addEventListener("click", () => {
    const pair = [Number(byId("decode-left").value), Number(byId("decode-right").value)];
    const list = problem[byId("decode-kind").value];
    if (pair[0] === pair[1] || list.some((one) => one.includes(pair[0]) && one.includes(pair[1]))) return;
    list.push(pair);
    changed();
  });
  for (const box of [apart, unique, beam]) box.addEventListener("change", run);
  examples(
    byId("decode-examples"),
    EXAMPLES.map(([name, given]) => [name, () => open(given)]),
  );
  document.addEventListener("panel", (event) => {
    if (event.detail === "decode" && !asked) open(EXAMPLES[0][1]);
  });
  return {open, fields, restore};
}
