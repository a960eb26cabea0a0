"use strict";
// Turns the <textarea data-editor> of a task into a code editor; without this file the form works.
(() => {
  const nonce = document.currentScript.nonce;
  const area = document.querySelector("textarea[data-editor]");
  if (!area || !window.CodeMirror) return;
  const { EditorState, EditorView, HighlightStyle, basicSetup, indentUnit, indentWithTab, keymap,
    lintGutter, python, setDiagnostics, syntaxHighlighting, tags } = window.CodeMirror;

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
    ".cm-gutters": { background: "var(--sunk)", color: "var(--soft)", borderRight: "1px solid var(--line)" },
    ".cm-activeLine, .cm-activeLineGutter": { background: "color-mix(in oklab, var(--accent) 8%, transparent)" },
    ".cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground":
      { background: "color-mix(in oklab, var(--accent) 28%, transparent)" },
    ".cm-matchingBracket, &.cm-focused .cm-matchingBracket":
      { background: "color-mix(in oklab, var(--accent) 25%, transparent)" },
    ".cm-panels, .cm-tooltip": { background: "var(--card)", color: "var(--text)", border: "1px solid var(--line)" },
    ".cm-diagnostic": { fontFamily: "var(--mono)", whiteSpace: "pre-wrap" },
  });

  // Who began to type or to select while this was loading goes on where they were.
  const { selectionStart: anchor, selectionEnd: head } = area;
  const typing = document.activeElement === area;
  const view = new EditorView({
    scrollTo: EditorView.scrollIntoView(head),
    state: EditorState.create({
      doc: area.value,
      selection: { anchor, head },
      extensions: [
        basicSetup, lintGutter(), python(), indentUnit.of("    "), keymap.of([indentWithTab]),
        syntaxHighlighting(colours), theme, EditorView.cspNonce.of(nonce),
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
  area.form.addEventListener(
    "submit", () => { area.value = view.state.doc.toString(); }, { capture: true });

  const doc = view.state.doc;
  const found = JSON.parse(area.dataset.diagnostics || "[]")
    .filter(({ line }) => line >= 1 && line <= doc.lines)
    .map(({ line, message }) => {
      const { from, to } = doc.line(line);
      return { from, to, message, severity: "error" };
    });
  if (found.length) {
    view.dispatch(setDiagnostics(view.state, found));
    view.scrollDOM.scrollTop = view.lineBlockAt(found[0].from).top - 120;
  }
})();
