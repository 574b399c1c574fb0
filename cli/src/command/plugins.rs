//! `plugins`

use super::Run;
use crate::args::Plugins;
use crate::exit::Exit;
use crate::print::Style;
use crate::text;
use anyhow::Result;
use scrollback_core::{ParserSpec, Shape};
use serde::Serialize;

#[derive(Serialize)]
struct Plugin<'p> {
    #[serde(rename = "plugin")]
    what: &'static str,
    id: &'p str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shape: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    transcripts: Vec<String>,
    /// The field map that declares it.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
}

/// A field map that declares nothing.
#[derive(Serialize)]
struct RefusedMap<'m> {
    #[serde(rename = "plugin")]
    what: &'static str,
    file: String,
    why: &'m str,
}

pub(super) fn run(run: &mut Run<'_>, args: &Plugins) -> Result<Exit> {
    let mut plugins = Vec::new();
    for parser in run.registry.parsers() {
        let spec: &ParserSpec = parser.spec();
        plugins.push(Plugin {
            what: "parser",
            id: &spec.id,
            name: Some(&spec.name),
            client: Some(&spec.client),
            shape: Some(shape(spec.shape)),
            transcripts: parser.homes(run.env).include,
            file: run
                .maps
                .read
                .iter()
                .find(|(id, _)| *id == spec.id)
                .map(|(_, path)| path.display().to_string()),
        });
    }
    for adapter in run.registry.adapters() {
        let spec = adapter.spec();
        let (id, name) = (&*spec.client, Some(&*spec.name));
        plugins.push(Plugin {
            what: "adapter",
            id,
            name,
            client: Some(id),
            shape: None,
            transcripts: Vec::new(),
            file: None,
        });
    }
    for sink in run.registry.sinks() {
        let id = &*sink.scheme;
        plugins.push(Plugin {
            what: "sink",
            id,
            name: None,
            client: None,
            shape: None,
            transcripts: Vec::new(),
            file: None,
        });
    }
    let exit = if run.maps.refused.is_empty() { Exit::Done } else { Exit::Failed };
    if args.json {
        for plugin in &plugins {
            run.page.json(plugin)?;
        }
        for map in &run.maps.refused {
            let why = &map.placed();
            run.page.json(&RefusedMap { what: "refused", file: map.path.display().to_string(), why })?;
        }
        return Ok(exit);
    }
    if plugins.is_empty() {
        run.page.line(
            "No plugin is linked into this program; a crate of your own is by the line `use its_name as _;`.",
        )?;
    }
    let widest = plugins.iter().map(|plugin| text::width(plugin.id)).max().unwrap_or(0);
    for plugin in &plugins {
        let id = run.page.styled(Style::Strong, &text::fill(plugin.id, widest));
        run.page.line(
            format_args!("{:<7}  {id}  {}", plugin.what, plugin.name.unwrap_or_default())
                .to_string()
                .trim_end(),
        )?;
        if let Some(file) = &plugin.file {
            let file = run.page.styled(Style::Faint, &format!("declared in {file}"));
            run.page.line(format_args!("         {file}"))?;
        }
        for pattern in &plugin.transcripts {
            let pattern = run.page.styled(Style::Faint, pattern);
            run.page.line(format_args!("         {pattern}"))?;
        }
    }
    for map in &run.maps.refused {
        let what = run.page.styled(Style::Wrong, "refused");
        run.page.line(format_args!("{what}  {}", map.line()))?;
    }
    Ok(exit)
}

const fn shape(shape: Shape) -> &'static str {
    match shape {
        Shape::Lines => "lines",
        Shape::Text { .. } => "text",
        Shape::Document { .. } => "document",
        Shape::Files => "files",
        Shape::Rows => "rows",
        _ => "other",
    }
}
