// The panel Compare: two sentences or trees under each kernel.

import {byId, card, counted, draw, examples, later, make, notes, options, shown, tableOf} from "/elements.js";
import {drawLinked} from "/linked.js";
import {plain} from "/plain.js";
import {comparePython, saving} from "/saving.js";
import {Conversation} from "/service.js";
import {writeState} from "/state.js";
import {brackets, drawTree} from "/tree.js";

const EXAMPLES = [
  ["synonyms", "The dog chased the old cat in the garden .", "The hound chased the old pussycat in the garden ."],
  ["one adjective more", "The farmer fed the rabbit .", "The farmer fed the hungry rabbit ."],
  ["active and passive", "The farmer bought the bread in Oslo .", "The bread was bought by the farmer in Oslo ."],
  ["two trees", "(NP (DT a) (JJ red) (NN car))", "(NP (DT a) (NN car))"],
];
const WORDS = {synonyms: "synonyms of the toy corpus", wordnet: "WordNet", context: "their meaning in context"};

export function startComparing(found, given) {
  const form = byId("compare-form");
  const first = byId("compare-first");
  const second = byId("compare-second");
  const kernel = byId("compare-kernel");
  const decay = byId("compare-decay");
  const extra = byId("compare-extra");
  const words = byId("compare-words");
  const results = byId("compare-results");
  const talk = new Conversation("compare", {status: byId("compare-status"), fault: byId("compare-fault"), results});
  const grammar = found.models.find((one) => one.title === "grammar")?.name;
  let curves = null;
  let curvesOf = "";
  let picked = 0;
  let asked = false;

  options(
    kernel,
    found.kernels.map((one) => [one.name, `${one.short} – ${one.name}`]),
    "SubsetTree",
  );
  options(
    words,
    found.words.map((name) => [name, WORDS[name] ?? name]),
  );

  function form_() {
    return found.kernels.find((one) => one.name === kernel.value);
  }

  function settings() {
    const one = form_();
    byId("compare-extra-field").hidden = !one.extra;
    byId("compare-words-field").hidden = !one.words;
    byId("compare-extra-name").textContent = one.extra ? one.extra[1] : "";
    byId("compare-counts").textContent = `${one.short} counts ${one.counts}.`;
    values();
  }

  function values() {
    byId("compare-decay-value").textContent = Number(decay.value).toFixed(2);
    byId("compare-extra-value").textContent = Number(extra.value).toFixed(2);
  }

  function run({remember = true, replace = false} = {}) {
    if (remember) writeState("compare", fields(), {replace});
    asked = true;
    const request = {
      first: first.value,
      second: second.value,
      kernel: kernel.value,
      decay: Number(decay.value),
      words: words.value,
    };
    if (form_().extra) request.extra = Number(extra.value);
    // The curves do not depend on where the decay stands.
    const key = JSON.stringify({...request, decay: 0});
    request.curves = key !== curvesOf;
    talk.ask(request, (answer) => {
      if (answer.curves) {
        curves = answer.curves;
        curvesOf = key;
        picked = 0;
      }
      return show(answer, request);
    });
  }

  const fields = () => ({
    first: first.value,
    second: second.value,
    kernel: kernel.value,
    decay: decay.value,
    words: form_().words ? words.value : "",
  });

  function fill(values_) {
    for (const [name, field] of Object.entries({first, second, kernel, decay, words})) {
      const value = values_[name];
      if (value === undefined) continue;
      if (field.options && ![...field.options].some((one) => one.value === value)) continue;
      field.value = value;
    }
    settings();
  }

  function restore(values_) {
    fill(values_);
    run({remember: false});
  }

  function show(answer, request) {
    const now = answer.table.find((one) => one.name === answer.kernel);
    const pictures = answer.trees.map((one, number) =>
      drawTree(one.tree, {name: `${number ? "Second" : "First"} tree`}),
    );
    results.replaceChildren(
      card("How similar", "half", figures(answer, now), kernelTable(answer)),
      card(
        "By decay",
        "half",
        chart(answer),
        ...notes(["Normalised values: 1 for equal trees, whatever the decay."]),
      ),
      card(
        `What they share under ${now.short}`,
        "third tall",
        ...fragmentTable(answer, pictures),
        ...notes(answer.notes),
      ),
      ...answer.trees.map((one, number) =>
        card(
          `${number ? "Second" : "First"} ${one.given ? "tree" : "sentence"}`,
          "rest",
          pictures[number].element,
          ...notes(one.notes),
          brackets(one.tree),
        ),
      ),
      ...(answer.links.length ? [linkCard(answer)] : []),
      ...answer.pairs.map(judged),
    );
    results.append(saving("sapwood-compare", results, answer, comparePython(request, answer, form_(), grammar)));
    return `${now.short} ${shown(now.value)}, normalised ${shown(now.normalized)}; ${counted(answer.fragments.length, "shared fragment")} listed,`;
  }

  function linkCard(answer) {
    const name = "Words that stand for each other";
    const rows = answer.links.slice(0, 12).map(([one, other, similarity, weight]) => {
      const [left, right] = answer.trees.map((side) => side.words);
      return make(
        "tr",
        {},
        make("td", {dir: "auto", text: left[one]}),
        make("td", {dir: "auto", text: right[other]}),
        make("td", {class: "number", text: shown(similarity, 2)}),
        make("td", {class: "number", text: shown(weight, 4)}),
      );
    });
    const table = tableOf([["first"], ["second"], ["similarity", true], ["lost without", true]], rows);
    const trees = answer.trees.map((side) => side.tree);
    const open = make("details", {}, make("summary", {text: "The same as a table"}), table);
    const said = "The stronger a line, the more the value would lose if the two words were not similar.";
    return card(name, "", drawLinked(trees, answer.links, name), ...notes([said]), open);
  }

  function figures(answer, now) {
    return make(
      "dl",
      {class: "figures"},
      make(
        "div",
        {},
        make("dt", {text: `${now.short}, normalised`}),
        make("dd", {class: "big", text: shown(now.normalized)}),
      ),
      make("div", {}, make("dt", {text: "raw value"}), make("dd", {class: "big", text: shown(now.value)})),
    );
  }

  function kernelTable(answer) {
    const rows = answer.table.map((one, number) => {
      const bar = make("div");
      bar.style.width = `${100 * Math.max(0, one.normalized ?? 0)}%`;
      bar.style.background = `var(--c${number})`;
      return make(
        "tr",
        {class: one.name === answer.kernel ? "chosen" : ""},
        make(
          "td",
          {},
          make("span", {class: `swatch paint c${number}`}),
          make("button", {
            type: "button",
            text: one.short,
            title: one.name,
            "aria-pressed": String(one.name === answer.kernel),
            onclick: () => {
              kernel.value = one.name;
              chooseKernel();
            },
          }),
        ),
        make("td", {class: "number", text: shown(one.value)}),
        make("td", {class: "number", text: shown(one.normalized)}),
        make("td", {class: "bar"}, bar),
      );
    });
    const table = make(
      "table",
      {class: "pick kernels"},
      make(
        "thead",
        {},
        make(
          "tr",
          {},
          make("th", {text: "kernel"}),
          make("th", {class: "number", text: "raw"}),
          make("th", {class: "number", text: "normalised"}),
          make("th", {}),
        ),
      ),
      make("tbody", {}, ...rows),
    );
    return table;
  }

  function chart(answer) {
    const [width, height, left, bottom] = [480, 230, 34, 26];
    const x = (value) => left + ((value - 0.05) / 0.95) * (width - left - 12);
    const y = (value) => 8 + (1 - value) * (height - bottom - 8);
    const lines = curves.lines.map((line, number) => {
      const points = line
        .map((value, step) => (value === null ? null : `${x(curves.decays[step]).toFixed(1)},${y(value).toFixed(1)}`))
        .filter(Boolean);
      const chosen = found.kernels[number].name === answer.kernel;
      return draw(
        "polyline",
        {class: `curve c${number}${chosen ? " chosen" : ""}`, points: points.join(" ")},
        draw("title", {text: found.kernels[number].short}),
      );
    });
    const ticks = [0, 0.5, 1].flatMap((value) => [
      draw("line", {class: "axis", x1: left, x2: width - 12, y1: y(value), y2: y(value)}),
      draw("text", {x: left - 8, y: y(value) + 4, "text-anchor": "end", text: value.toFixed(1)}),
    ]);
    const feet = [0.2, 0.4, 0.6, 0.8, 1].map((value) =>
      draw("text", {x: x(value), y: height - 8, "text-anchor": "middle", text: value.toFixed(1)}),
    );
    const now = draw("line", {
      class: "now",
      x1: x(Number(decay.value)),
      x2: x(Number(decay.value)),
      y1: 4,
      y2: height - bottom,
    });
    const said = `Normalised value against decay, one line per kernel: ${found.kernels.map((one, number) => `${one.short} from ${shown(curves.lines[number][0], 2)} to ${shown(curves.lines[number][9], 2)}`).join("; ")}`;
    const picture = draw(
      "svg",
      {class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": said},
      ...ticks,
      ...feet,
      now,
      ...lines,
    );
    picture.style.width = "100%";
    picture.style.maxWidth = "36rem";
    return picture;
  }

  function fragmentTable(answer, pictures) {
    const buttons = [];
    const largest = Math.max(...answer.fragments.map((one) => one.weight), 1e-12);
    const rows = answer.fragments.map((one, number) => {
      const bar = make("div");
      bar.style.width = `${(100 * one.weight) / largest}%`;
      const button = make("button", {
        type: "button",
        dir: "auto",
        "aria-pressed": "false",
        text: one.text,
        onclick: () => pick(number),
      });
      buttons.push(button);
      return make(
        "tr",
        {},
        make("td", {class: "number", text: shown(one.weight, 4)}),
        make("td", {}, button),
        make("td", {class: "bar"}, bar),
      );
    });
    function pick(number) {
      picked = number;
      buttons.forEach((button, other) => button.setAttribute("aria-pressed", String(other === number)));
      pictures.forEach((picture, side) => picture.mark(answer.fragments[number].places[side]));
    }
    if (!rows.length) return [make("p", {text: "They share no fragment."})];
    // A moving slider keeps the fragment that is being looked at, as far as it is still listed.
    pick(Math.min(picked, rows.length - 1));
    const said = ["Choose a fragment to see where it stands in both trees."];
    if (answer.remainder) said.push(`All other shared fragments together: ${shown(answer.remainder, 4)}.`);
    if (!answer.exact) said.push("The search met its limit: there may be heavier fragments.");
    return [
      make(
        "table",
        {class: "pick"},
        make(
          "thead",
          {},
          make("tr", {}, make("th", {class: "number", text: "weight"}), make("th", {text: "fragment"}), make("th", {})),
        ),
        make("tbody", {}, ...rows),
      ),
      ...notes(said),
    ];
  }

  function judged(one) {
    const rows = one.features.map(([name, value, added]) =>
      make(
        "tr",
        {},
        make("td", {title: name, text: plain(name).replace(`${name}: `, "")}),
        make("td", {class: "number", text: shown(value)}),
        make("td", {class: `number ${added > 0 ? "pos" : "neg"}`, text: shown(added)}),
      ),
    );
    return card(
      `${one.model}: ${one.label} (probability of “${one.class}” ${shown(one.probability, 2)})`,
      "",
      make(
        "table",
        {},
        make(
          "thead",
          {},
          make(
            "tr",
            {},
            make("th", {text: "feature"}),
            make("th", {class: "number", text: "value"}),
            make("th", {class: "number", text: `adds to “${one.class}”`}),
          ),
        ),
        make("tbody", {}, ...rows),
      ),
    );
  }

  function chooseKernel() {
    const one = form_();
    if (one.extra) extra.value = String(one.extra[2]);
    picked = 0;
    settings();
    run();
  }

  const soon = later(80, () => run({replace: true}));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    run();
  });
  for (const area of [first, second]) {
    area.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        run();
      }
    });
  }
  for (const slider of [decay, extra]) {
    slider.addEventListener("input", () => {
      values();
      soon();
    });
  }
  kernel.addEventListener("change", chooseKernel);
  words.addEventListener("change", () => run());
  examples(
    byId("compare-examples"),
    EXAMPLES.map(([name, one, other]) => [
      name,
      () => {
        first.value = one;
        second.value = other;
        run();
      },
    ]),
  );
  [, first.value, second.value] = EXAMPLES[0];
  fill(given);
  document.addEventListener("panel", (event) => {
    if (event.detail === "compare" && !asked) run({remember: false});
  });
  return {fields, restore};
}
