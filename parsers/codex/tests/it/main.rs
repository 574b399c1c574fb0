//! The parser over whole files.

mod copies;
mod files;
mod odds;
mod probe;
mod robust;
mod support;
