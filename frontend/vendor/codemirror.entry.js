// What the editor page uses of CodeMirror; README.md says how this becomes the bundle.
export { basicSetup } from "codemirror";
export { indentWithTab } from "@codemirror/commands";
export { python } from "@codemirror/lang-python";
export { HighlightStyle, indentUnit, syntaxHighlighting } from "@codemirror/language";
export { lintGutter, setDiagnostics } from "@codemirror/lint";
export { EditorState } from "@codemirror/state";
export { EditorView, keymap } from "@codemirror/view";
export { tags } from "@lezer/highlight";
