// Knows Triton for the editor: completes its names and their parameters, colours them, and says
// what they take when the pointer rests on them.
import names from "./triton-names.js";

const { Decoration, MatchDecorator, ViewPlugin, hoverTooltip, pythonLanguage, syntaxTree } =
  window.CodeMirror;
const known = /\b(?:tl(?:\.math)?|triton|libdevice)\.[A-Za-z_]\w*/g;

/** Parameters of a dotted name, in brackets; undefined for what is not Triton's. */
function signatureOf(path) {
  const dot = path.lastIndexOf(".");
  return names[path.slice(0, dot)]?.[path.slice(dot + 1)];
}

function option(label, signature, boost = 0) {
  return { label, info: signature || undefined, type: signature ? "function" : "constant", boost };
}

/** The keywords that the call around a place takes. */
function keywordsAt(state, place) {
  let tree = syntaxTree(state);
  if (tree.length < place) tree = pythonLanguage.parser.parse(state.sliceDoc()); // not there yet
  let node = tree.resolveInner(place, -1);
  while (node && node.name !== "ArgList") node = node.parent;
  const called = node?.prevSibling;
  const signature = called && signatureOf(state.sliceDoc(called.from, called.to));
  return [...(signature || "").matchAll(/(\w+)=/g)].map(([, name]) => (
    { label: `${name}=`, type: "property", boost: 2, info: signature }));
}

/** Completes names of Triton, of a call's parameters, and the words of a task. */
function completing(words) {
  return (context) => {
    const dotted = context.matchBefore(/[\w.]*\.\w*/);
    if (dotted) {
      const dot = dotted.text.lastIndexOf(".");
      const members = names[dotted.text.slice(0, dot)];
      if (!members) return null;
      const options = Object.entries(members).map(([name, takes]) => option(name, takes));
      return { from: dotted.from + dot + 1, options, validFor: /^\w*$/ };
    }
    const word = context.matchBefore(/\w+/);
    if (!word && !context.explicit) return null;
    const options = keywordsAt(context.state, context.pos);
    for (const [label, detail] of Object.entries(words)) {
      options.push({ label, detail, type: "variable", boost: 1 });
    }
    return { from: word ? word.from : context.pos, options, validFor: /^\w*$/ };
  };
}

const coloured = ViewPlugin.define((view) => {
  const marks = new MatchDecorator({
    regexp: known,
    decorate: (add, from, to, match) => {
      if (signatureOf(match[0]) === undefined) return;
      const inside = syntaxTree(view.state).resolveInner(from, 1).name;
      if (inside === "VariableName") add(from, to, Decoration.mark({ class: "cm-triton" }));
    },
  });
  return {
    marks: marks.createDeco(view),
    update(update) {
      const parsed = syntaxTree(update.state) !== syntaxTree(update.startState);
      this.marks = parsed ? marks.createDeco(update.view) : marks.updateDeco(update, this.marks);
    },
  };
}, { decorations: (plugin) => plugin.marks });

const explained = hoverTooltip((view, place) => {
  const line = view.state.doc.lineAt(place);
  for (const match of line.text.matchAll(known)) {
    const [pos, end] = [line.from + match.index, line.from + match.index + match[0].length];
    const signature = pos <= place && place <= end ? signatureOf(match[0]) : "";
    if (signature) return { pos, end, above: true, create: () => ({ dom: shown(match[0] + signature) }) };
  }
  return null;
});

function shown(text) {
  const dom = document.createElement("div");
  dom.className = "cm-signature";
  dom.textContent = text;
  return dom;
}

/** What the editor of a task adds; `words` are the task's own, each with what it is. */
export function triton(words) {
  return [pythonLanguage.data.of({ autocomplete: completing(words) }), coloured, explained];
}
