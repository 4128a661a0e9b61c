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

export function plain(label) {
  const role = label.replace(/^([CR]-)+/, "").replace(/^ARGM-/, "AM-").replace(/^ARG/, "A");
  const words = ROLES[role] ?? CLASSES[label.split(":")[0]];
  return words === undefined ? label : `${label}: ${words}`;
}
