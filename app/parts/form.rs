//! Parts of the form.
