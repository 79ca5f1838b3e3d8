//! Parts of the editor.
