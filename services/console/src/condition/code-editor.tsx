/** The code of a task in an editor: completion, faults at their place, what differs from the saved revision marked. */
import { autocompletion, closeBrackets, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { javascript, javascriptLanguage } from '@codemirror/lang-javascript';
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { lintGutter, setDiagnostics, type Diagnostic } from '@codemirror/lint';
import { unifiedMergeView } from '@codemirror/merge';
import { Compartment, EditorState } from '@codemirror/state';
import { EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useId, useRef, type ReactNode } from 'react';
import { useTexts } from '../text/text.js';
import { adoptEditorStyles } from './adopt-styles.js';
import { completeTaskCode } from './completions.js';
import './condition.css';

export interface CodeFault {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

interface Props {
  readonly code: string;
  /** What is saved; null where nothing is. */
  readonly saved: string | null;
  readonly label: string;
  readonly faults: readonly CodeFault[];
  readonly isReadOnly?: boolean;
  readonly onChange: (code: string) => void;
}

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.controlKeyword, tags.definitionKeyword], class: 'code-keyword' },
  { tag: [tags.string, tags.regexp], class: 'code-string' },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName)], class: 'code-function' },
  { tag: tags.comment, class: 'code-comment' },
  { tag: [tags.number, tags.bool], class: 'code-number' },
]);

const mergeOf = (saved: string | null) =>
  saved === null ? [] : unifiedMergeView({ original: saved, mergeControls: false, gutter: true });

function diagnosticsOf(state: EditorState, faults: readonly CodeFault[]): Diagnostic[] {
  return faults.map(({ line, column, message }) => {
    const at = state.doc.line(Math.max(1, Math.min(line, state.doc.lines)));
    const from = Math.min(at.to, at.from + Math.max(0, column - 1));
    return { from, to: Math.max(from, at.to), severity: 'error', message };
  });
}

export function CodeEditor({ code, saved, label, faults, isReadOnly = false, onChange }: Props): ReactNode {
  const { t } = useTexts();
  const hintId = useId();
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const merge = useRef(new Compartment());
  const report = useRef(onChange);
  report.current = onChange;
  const first = useRef({ code, saved });
  useEffect(() => {
    const parent = place.current;
    if (parent === null) return;
    adoptEditorStyles();
    const editor = new EditorView({
      parent,
      state: EditorState.create({
        doc: first.current.code,
        extensions: [
          lineNumbers(),
          history(),
          indentOnInput(),
          bracketMatching(),
          closeBrackets(),
          highlightActiveLine(),
          lintGutter(),
          javascript(),
          syntaxHighlighting(colours),
          javascriptLanguage.data.of({ autocomplete: completeTaskCode }),
          autocompletion(),
          // Tab indents; Escape first leaves the editor, so that the keyboard is never caught in it.
          keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap, indentWithTab]),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ 'aria-label': label, 'aria-describedby': hintId }),
          EditorState.readOnly.of(isReadOnly),
          merge.current.of(mergeOf(first.current.saved)),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) report.current(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = editor;
    return () => {
      editor.destroy();
      view.current = null;
    };
  }, [label, isReadOnly, hintId]);
  useEffect(() => {
    const editor = view.current;
    if (editor === null || editor.state.doc.toString() === code) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: code } });
  }, [code]);
  useEffect(() => {
    view.current?.dispatch({ effects: merge.current.reconfigure(mergeOf(saved)) });
  }, [saved]);
  useEffect(() => {
    const editor = view.current;
    editor?.dispatch(setDiagnostics(editor.state, diagnosticsOf(editor.state, faults)));
  }, [faults, code]);
  return (
    <div className="code-editor">
      <div ref={place} />
      <p id={hintId} className="leave-hint small muted">
        {t('condition.leaveEditor')}
      </p>
    </div>
  );
}
