// What people save of the page: its pictures as SVG and PNG, the answer as JSON, and the Python that gives the same.

import {make} from "/elements.js";
import {hasPictures, sheet} from "/sheet.js";
import {fitsAddress} from "/state.js";

function offer(name, blob) {
  const link = make("a", {href: URL.createObjectURL(blob), download: name});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

async function png({text, width, height}, name) {
  const image = new Image();
  const address = URL.createObjectURL(new Blob([text], {type: "image/svg+xml"}));
  await new Promise((done, failed) => {
    image.onload = done;
    image.onerror = failed;
    image.src = address;
  });
  const scale = 2;
  const canvas = make("canvas");
  canvas.width = scale * width;
  canvas.height = scale * height;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(address);
  canvas.toBlob((blob) => offer(`${name}.png`, blob));
}

// Browsers leave the clipboard to pages of this machine and to encrypted ones.
async function copyLink(event) {
  const button = event.currentTarget;
  let said = "Too long for a link";
  if (fitsAddress()) {
    try {
      await navigator.clipboard.writeText(location.href);
      said = "Link copied";
    } catch {
      said = "Copy the address of this page";
    }
  }
  button.textContent = said;
  setTimeout(() => (button.textContent = "Copy link"), 4000);
}

// A row of buttons for a panel's results; python is the text of a program, if there is one.
export function saving(name, results, answer, python = "") {
  const code = make("pre", {class: "python", tabindex: 0, "aria-label": "Python", hidden: true}, python);
  const show = make("button", {
    type: "button",
    class: "small",
    "aria-expanded": "false",
    text: "Show the Python",
    onclick: () => {
      code.hidden = !code.hidden;
      show.setAttribute("aria-expanded", String(!code.hidden));
    },
  });
  const button = (text, work) => make("button", {type: "button", class: "small", text, onclick: work});
  const json = () => new Blob([JSON.stringify(answer, null, 2)], {type: "application/json"});
  const svg = () => new Blob([sheet(results).text], {type: "image/svg+xml"});
  return make(
    "div",
    {class: "saving"},
    make(
      "p",
      {class: "examples"},
      make("span", {text: "Save or share"}),
      ...(hasPictures(results)
        ? [button("SVG", () => offer(`${name}.svg`, svg())), button("PNG", () => png(sheet(results), name))]
        : []),
      button("JSON", () => offer(`${name}.json`, json())),
      button("Copy link", copyLink),
      ...(python ? [show] : []),
    ),
    code,
  );
}

function quoted(text) {
  return JSON.stringify(text).replaceAll("\\/", "/");
}

const sources = new Map();

// What programs load models from: files, or the names of models of a package.
export function rememberSources(models) {
  for (const one of models) sources.set(one.name, one.source);
}

const loaded = (name) => `sw.load(${quoted(sources.get(name) ?? `${name}.sap`)})`;

const ANSWERS = {
  parser: "model.parse_text(text)[0].tree",
  "parse reranker": "model.predict([parser.parse_nbest(parser.parse_text(text)[0].words, 20)])[0]",
};

// The program that answers the lines of a file, each a sentence, perhaps after a label and a tab.
export function dataPython(model, file, {kind, parser}) {
  // A name is that of a model on the list; otherwise the model has a parser of its own, or takes trees alone.
  const other = sources.has(parser) && kind !== "parser";
  const asked = other ? "parser.parse_text(text)[0].tree" : "text";
  return [
    "import sapwood as sw",
    "",
    `model = ${loaded(model)}`,
    ...(other ? [`parser = ${loaded(parser)}`] : []),
    `with open(${quoted(file)}, encoding="utf-8") as file:`,
    "    for line in filter(str.strip, file):",
    '        text = line.rstrip("\\n").rpartition("\\t")[2]',
    `        print(${ANSWERS[kind] ?? `model.predict([${asked}])[0]`}, text, sep="\\t")`,
  ].join("\n");
}

// The program that gives what the first panel shows.
export function analyzePython(request, answer) {
  const lines = ["import sapwood as sw", "", `model = ${loaded(request.model)}`];
  if (answer.parses && answer.scores.length < 2) {
    lines.push(`found = model.parse_nbest(${quoted(answer.words.join(" "))}.split(), 5)`);
    return [...lines, "for tree, score in zip(found.parses, found.scores):", "    print(score, tree)"].join("\n");
  }
  const tree = answer.tree ? `tree = sw.Tree.fromstring(${quoted(answer.tree.text)})` : null;
  if (answer.classes) {
    if (tree === null) return [...lines, `print(model.predict([${quoted(answer.words.join(" "))}]))`].join("\n");
    const label = request.label ? `, label=${quoted(request.label)}` : "";
    return [...lines, tree, "print(model.predict([tree]))", `print(model.explain(tree${label}))`].join("\n");
  }
  if (answer.kind === "role labeler")
    return [
      ...lines,
      tree,
      "from sapwood.draw import roles_text",
      "print(roles_text(model.label(tree)))",
    ].join("\n");
  if (answer.kind === "frame labeler")
    return [...lines, tree, "for frame in model.parse(tree).frames:", "    print(frame)"].join("\n");
  if (answer.value !== undefined) return [...lines, tree, "print(model.predict([tree]))"].join("\n");
  return [
    ...lines,
    `parser = ${loaded(answer.parser || "parser")}`,
    `found = parser.parse_nbest(${quoted(answer.words.join(" "))}.split(), 20)`,
    "utility = model.decision_function([found])[0]",
    "print(found.parses[int(utility.argmax())])",
  ].join("\n");
}

// The program that decodes as the last panel does.
export function decodePython({overlap, unique, ...problem}) {
  const word = (flag) => (flag ? "True" : "False");
  return [
    "from sapwood.explorer import Limits",
    "from sapwood.explorer.decoding import decode",
    "",
    `problem = ${JSON.stringify(problem)}`,
    `problem |= {"overlap": ${word(overlap)}, "unique": ${word(unique)}}`,
    'for one in decode(problem, Limits())["methods"]:',
    '    print(one["method"], one["assignment"], one["value"], one["status"])',
  ].join("\n");
}

const SIMILARITIES = {
  synonyms: ["from sapwood.corpora.nursery.lexicon import lexicon", "lexicon().similarity()"],
  wordnet: ["from sapwood.words import WordNet", "WordNet()"],
  context: ["from sapwood.words import Contextual, Encoder", "Contextual()"],
};

// form: what the page knows of the kernel; grammar: the name of the grammar in the folder, if there is one.
export function comparePython(request, answer, form, grammar) {
  const trees = answer.trees.map((one) => quoted(one.tree.text));
  const [words, alike] = form.words ? SIMILARITIES[request.words] : [];
  const settings = [
    ...(form.words ? [alike] : []),
    ...(form.name === "GrammarDriven" && grammar ? [loaded(grammar)] : []),
    `decay=${request.decay}`,
    ...(form.extra ? [`${form.extra[0]}=${request.extra}`] : []),
  ];
  const context = form.words && request.words === "context";
  return [
    "import sapwood as sw",
    `from sapwood.kernels import ${request.kernel}`,
    ...(words ? [words] : []),
    "",
    `trees = sw.TreeArray([${trees.join(", ")}])`,
    ...(context
      ? [
          'encoder = Encoder("minilm", layers=[5], pieces="mean")',
          "trees = trees.with_vectors(list(encoder.encode_batch(trees.leaves())))",
        ]
      : []),
    `kernel = ${request.kernel}(${settings.join(", ")}).bind(trees)`,
    "print(kernel(trees[:1], trees[1:]), kernel.normalized()(trees[:1], trees[1:]))",
    "print(kernel.explain(trees[:1], trees[1:]))",
  ].join("\n");
}
