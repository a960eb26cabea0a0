// Turns the <textarea data-editor> of a task into a code editor; without this file the form works.
import { triton } from "./completion.js";
import { syntaxError } from "./syntax.js";

const { Compartment, EditorState, EditorView, HighlightStyle, basicSetup, indentUnit,
  indentWithTab, keymap, lintGutter, python, setDiagnostics, syntaxHighlighting, tags, vim } =
  window.CodeMirror;
const nonce = document.querySelector("script[nonce]").nonce;
const area = document.querySelector("textarea[data-editor]");
const { form } = area;
const hint = document.querySelector("#syntax");
const PAUSE = 600; // ms without a key, so that nothing is marked while a word is being typed
let findings = [];
let checking;

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.self], color: "var(--code-keyword)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--code-string)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--code-number)" },
  { tag: [tags.comment, tags.docString], color: "var(--code-comment)", fontStyle: "italic" },
  { tag: [tags.definition(tags.variableName), tags.function(tags.variableName),
    tags.definition(tags.className), tags.meta], color: "var(--code-name)" },
]);
const theme = EditorView.theme({
  "&": { height: "34rem", minHeight: "14rem", maxHeight: "80vh", fontSize: "0.8125rem" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-triton, .cm-triton *": { color: "var(--code-triton)" },
  ".cm-gutters": { background: "var(--sunk)", color: "var(--soft)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine, .cm-activeLineGutter": { background: "color-mix(in oklab, var(--accent) 8%, transparent)" },
  ".cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground":
    { background: "color-mix(in oklab, var(--accent) 28%, transparent)" },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket":
    { background: "color-mix(in oklab, var(--accent) 25%, transparent)" },
  ".cm-panels, .cm-tooltip": { background: "var(--card)", color: "var(--text)", border: "1px solid var(--line)" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { background: "var(--accent)", color: "var(--on-accent)" },
  ".cm-diagnostic, .cm-signature, .cm-completionInfo": { fontFamily: "var(--mono)", whiteSpace: "pre-wrap" },
  ".cm-signature, .cm-completionInfo": { padding: "0.2rem 0.5rem" },
});

// Where coloured text is replaced, Chromium would put an element with a style of its own, which
// the page's policy forbids; so it is replaced here.
const replacing = EditorView.domEventHandlers({
  beforeinput({ inputType, data }, editor) {
    const { main } = editor.state.selection;
    if (inputType !== "insertText" || !data || main.empty || editor.composing) return false;
    const typed = () => editor.state.update(
      editor.state.replaceSelection(data), { userEvent: "input.type" });
    const handlers = editor.state.facet(EditorView.inputHandler);
    if (!handlers.some((handle) => handle(editor, main.from, main.to, data, typed))) {
      editor.dispatch(typed());
    }
    return true;
  },
});

// Who began to type or to select while this was loading goes on where they were.
const { selectionStart: anchor, selectionEnd: head } = area;
const typing = document.activeElement === area;
const keys = new Compartment();
const view = new EditorView({
  scrollTo: typing ? EditorView.scrollIntoView(head) : undefined,
  state: EditorState.create({
    doc: area.value,
    selection: { anchor, head },
    extensions: [
      keys.of([]), basicSetup, lintGutter(), python(), triton(JSON.parse(area.dataset.words)),
      indentUnit.of("    "), keymap.of([indentWithTab]), syntaxHighlighting(colours), theme, replacing,
      EditorView.cspNonce.of(nonce), EditorView.updateListener.of(writeBack),
      EditorView.contentAttributes.of({
        "aria-label": "Source", "aria-describedby": "source-hint", spellcheck: "false",
        tabindex: "0" }),
    ],
  }),
});
area.before(view.dom);
// Not `hidden`, which would keep it from passing the focus on: from its label, or from a key
// that was meant for it a moment ago.
area.classList.add("unseen");
area.tabIndex = -1;
area.ariaHidden = "true";
area.addEventListener("focus", () => view.focus());
if (typing) view.focus();
mark(JSON.parse(area.dataset.diagnostics));

// The text area stays what the form sends and what others read and set.
function writeBack(update) {
  if (!update.docChanged) return;
  findings = findings.map((found) => ({
    ...found, from: update.changes.mapPos(found.from), to: update.changes.mapPos(found.to) }));
  clearTimeout(checking);
  checking = setTimeout(check, PAUSE);
  const source = update.state.doc.toString();
  if (source === area.value) return;
  area.value = source;
  area.dispatchEvent(new Event("input"));
}
area.addEventListener("change", () => {
  view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: area.value } });
});

function mark(diagnostics) {
  const { doc } = view.state;
  findings = diagnostics
    .filter(({ line }) => line >= 1 && line <= doc.lines)
    .map(({ line, message }) => {
      const { from, to } = doc.line(line);
      return { from, to, message, severity: "error" };
    });
  check();
  if (findings.length && !typing) {
    view.scrollDOM.scrollTop = view.lineBlockAt(findings[0].from).top - 120;
  }
}

// What the build found stays marked; what looks wrong now is marked as well, and said below.
function check() {
  const { doc } = view.state;
  const error = syntaxError(doc.toString());
  const line = error && doc.lineAt(error.from);
  const marked = error ? [{ ...error, to: line.to, severity: "error" }] : [];
  view.dispatch(setDiagnostics(view.state, [...findings, ...marked]));
  hint.textContent = error ? `Line ${line.number}: ${error.message}` : "";
}

form.addEventListener("keydown", (event) => {
  const button = form.querySelector("button:not([name])");
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || !button) return;
  event.preventDefault();
  event.stopPropagation();
  form.requestSubmit(button);
}, { capture: true });

// A file goes into the editor; what is no text, or too much of it, is left to the service to refuse.
const file = form.elements.namedItem("file");
file.addEventListener("change", async () => {
  const [chosen] = file.files;
  if (!chosen || chosen.size > Number(file.dataset.limit)) return;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await chosen.arrayBuffer());
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
    file.value = "";
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
});

const choice = document.querySelector("#vim");
choice.checked = remembered() === "vim";
choice.closest("label").hidden = false;
choice.addEventListener("change", useKeys);
useKeys();

function useKeys() {
  view.dispatch({ effects: keys.reconfigure(choice.checked ? vim({ status: true }) : []) });
  try {
    localStorage.setItem("kerneljudge keys", choice.checked ? "vim" : "plain");
  } catch { /* not allowed: it holds for this page */ }
}

function remembered() {
  try {
    return localStorage.getItem("kerneljudge keys");
  } catch { return null; }
}
