// Finds where a text stops being Python, as far as the editor's grammar can tell; what it
// overlooks, the build names.
const { pythonLanguage } = window.CodeMirror;
const closing = { "(": ")", "[": "]", "{": "}" };
// The grammar lacks newer forms of these, such as several managers in brackets.
const unsure = new Set(["WithStatement", "YieldStatement"]);

/** The first place that looks like a syntax error, and what it looks like; undefined for none. */
export function syntaxError(source) {
  const error = firstError(source);
  for (let node = error; node; node = node.parent) if (unsure.has(node.name)) return undefined;
  if (!error) return undefined;
  const { parent } = error;
  const opened = source[parent.from];
  if (closing[opened] && !parent.getChild(closing[opened])) {
    return { from: parent.from, message: `Looks like a syntax error: ${opened} is never closed.` };
  }
  if (parent.name.endsWith("String")) {
    return { from: parent.from, message: "Looks like a syntax error: a string is never closed." };
  }
  return { from: error.from, message: "Looks like a syntax error." };
}

function firstError(source) {
  let found;
  pythonLanguage.parser.parse(source).iterate({
    enter(node) {
      if (node.type.isError) found ??= node.node;
      return !found;
    },
  });
  return found;
}
