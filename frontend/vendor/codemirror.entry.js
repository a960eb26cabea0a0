// What the editor page uses of CodeMirror; README.md says how this becomes the bundle.
export { basicSetup } from "codemirror";
export { indentWithTab } from "@codemirror/commands";
export { python, pythonLanguage } from "@codemirror/lang-python";
export { HighlightStyle, indentUnit, syntaxHighlighting, syntaxTree } from "@codemirror/language";
export { lintGutter, setDiagnostics } from "@codemirror/lint";
export { Compartment, EditorState } from "@codemirror/state";
export { Decoration, EditorView, MatchDecorator, ViewPlugin, hoverTooltip, keymap } from "@codemirror/view";
export { tags } from "@lezer/highlight";
export { vim } from "@replit/codemirror-vim";
