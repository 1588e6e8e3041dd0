"""The editor: CodeMirror and site/editor.js, as one script."""
