// Plain names for labels, shown where the mouse or a screen reader asks for more.

const ROLES = {
  A0: "who acts",
  A1: "who or what is acted on",
  A2: "often the receiver, the tool or the end",
  A3: "often the start",
  A4: "often the end point",
  V: "the verb",
  "AM-TMP": "when",
  "AM-LOC": "where",
  "AM-MNR": "how",
  "AM-CAU": "why",
  "AM-PNC": "what for",
  "AM-PRP": "what for",
  "AM-DIR": "in which direction",
  "AM-EXT": "how much",
  "AM-NEG": "not",
  "AM-MOD": "modal verb",
  "AM-ADV": "other circumstance",
  "AM-DIS": "connects with what was said before",
};
const CLASSES = {
  ABBR: "abbreviation",
  DESC: "description, reason or manner",
  ENTY: "entity: a thing, animal or word",
  HUM: "human: a person or group",
  LOC: "location",
  NUM: "number, date or amount",
};

const FINE = {
  abb: "abbreviation",
  exp: "what an abbreviation stands for",
  def: "definition",
  desc: "description",
  manner: "how something is done",
  reason: "why",
  ind: "one person",
  gr: "a group or organization",
  title: "title of a person",
  count: "how many",
  date: "when",
  dist: "how far",
  money: "how much money",
  perc: "percentage",
  period: "how long",
  temp: "temperature",
  city: "city",
  country: "country",
  mount: "mountain",
  state: "state",
};
// Tags of the Penn Treebank that people ask about.
const TAGS = {
  ...{S: "sentence", SBAR: "clause with a conjunction", SBARQ: "question with a question word", SQ: "question"},
  ...{NP: "noun phrase", VP: "verb phrase", PP: "prepositional phrase", ADJP: "adjective phrase", ADVP: "adverb phrase"},
  ...{WHNP: "noun phrase with a question word", WHADVP: "where, when, why or how", PRT: "particle", QP: "quantity"},
  ...{DT: "determiner", NN: "noun", NNS: "plural noun", NNP: "name", NNPS: "plural name", JJ: "adjective"},
  ...{VB: "verb", VBD: "verb, past", VBZ: "verb, he or she", VBP: "verb, I or they", VBG: "verb ending in -ing"},
  ...{VBN: "past participle", MD: "modal verb", IN: "preposition or conjunction", TO: "to", RB: "adverb", CD: "number"},
  ...{PRP: "pronoun", PRP$: "possessive pronoun", WP: "who or what", WDT: "which", WRB: "where, when, why or how"},
  ...{CC: "and, or, but", POS: "’s", EX: "there", RP: "particle"},
};
// Columns of the classifier of pairs.
const FEATURES = {
  jaccard: "share of words that both have",
  containment: "share of the shorter sentence’s words that the other has",
  bigrams: "pairs of words that both have",
  trigrams: "runs of three words that both have",
  characters: "runs of letters that both have",
  tfidf_cosine: "words that both have, rare ones counting more",
  idf_jaccard: "share of words that both have, rare ones counting more",
  rarest_unshared: "how rare the rarest word is that only one has",
  edit_similarity: "few edits lead from one to the other",
  common_subsequence: "words that both have in the same order",
  common_prefix: "words at the beginning that both have",
  common_suffix: "words at the end that both have",
  length_difference: "difference in length",
  length_ratio: "ratio of lengths",
  shorter_length: "length of the shorter one",
  numbers: "numbers that both have",
  names: "names that both have",
  negation_difference: "only one has a negation",
  empty: "one has no words",
};
const GROUPS = {
  ...{subtree: "subtree kernel", subset: "subset tree kernel", partial: "partial tree kernel"},
  ...{semantic: "kernel with similar words", relaxed: "grammar-driven kernel"},
};

// What a tag of a tree stands for; nothing for words.
export function tagName(label) {
  return Object.hasOwn(TAGS, label) ? TAGS[label] : "";
}

function featureName(label) {
  const [group, name] = label.split("__");
  if (name === undefined) return undefined;
  if (group === "lexical") return FEATURES[name];
  return GROUPS[group] && `${GROUPS[group]}, ${name === "words" ? "words alone" : `decay ${name}`}`;
}

export function plain(label) {
  const role = label.replace(/^([CR]-)+/, "").replace(/^ARGM-/, "AM-").replace(/^ARG/, "A");
  const [coarse, fine] = label.split(":");
  const kind = CLASSES[coarse] && (FINE[fine] ? `${CLASSES[coarse]}; ${FINE[fine]}` : CLASSES[coarse]);
  const words = ROLES[role] ?? kind ?? featureName(label);
  return words === undefined ? label : `${label}: ${words}`;
}
