// Finds where a text stops being Python, as far as the editor's grammar can tell; what it
// overlooks, the build names.
const { pythonLanguage } = window.CodeMirror;
const closing = { "(": ")", "[": "]", "{": "}" };
// The grammar lacks forms of these, such as several managers in brackets, a bare yield, or a case
// that is a class without arguments.
const unsure = new Set(["WithStatement", "YieldStatement", "YieldExpression", "MatchStatement"]);
// Of these only what stands directly in them: decorators that are any expression.
const directly = new Set(["Decorator", "DecoratedStatement"]);
// Here it does not know a star (`grid[*shape]`, `for a, *_ in b`) or a slash (`lambda a, /: a`).
const starred = /^(ForStatement|MemberExpression|ParamList|TypeDef|ArgList|.*Comprehension.*)$/;
// Nor numbers that end in a point; `1_` it takes, and it is as long.
const pointed = /(^|[^\w.])(\d[\d_]*)\.(?![\w.])/g;

/** The first place that looks like a syntax error, and what it looks like; undefined for none. */
export function syntaxError(source) {
  const error = firstError(source);
  for (let node = error; node; node = node.parent) if (unsure.has(node.name)) return undefined;
  if (!error) return undefined;
  const { parent } = error;
  if (directly.has(parent.name)) return undefined;
  if ("*/".includes(source[error.from] ?? " ") && starred.test(parent.name)) return undefined;
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
  const known = source.replace(pointed, "$1$2_").replaceAll("\f", " ");
  pythonLanguage.parser.parse(known).iterate({
    enter(node) {
      if (node.type.isError) found ??= node.node;
      return !found;
    },
  });
  return found;
}
