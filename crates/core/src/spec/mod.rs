//! Specs: everything that has a name can be written down.
