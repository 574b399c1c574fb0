//! What was said of a record, put into the store.

use super::judged::{Judged, place_only};
use super::{Current, Place, Reading};
use crate::prepare::{self, Prepared};
use crate::project::project_of;
use crate::tail::{TailError, TailReport};
use scrollback_core::{Events, Facts, Said, Whose};
use scrollback_store::{Claim, Counted, Put, StoreError, Stored};
use std::path::{Path, PathBuf};

/// The longest name of a kind that is counted; a longer one is cut.
const KIND: usize = 200;

impl Reading<'_, '_> {
    /// Keeps what was said of a record; returns the part the record's next event would be. Of one that is passed, only
    /// what it takes back counts, and where its sessions stand.
    pub(super) fn apply(
        &mut self,
        events: Events<'_>,
        judged: &Judged,
        current: &mut Current<'_>,
        place: Place,
        report: &mut TailReport,
    ) -> Result<u32, TailError> {
        let passed = matches!(judged, Judged::Skip(_));
        let mut part = place.part;
        let mut rank = None;
        for said in events.into_said() {
            match said {
                Said::Event(event) => {
                    rank = Some(event.order.rank);
                    if let Some(heard) = &mut self.heard {
                        heard.event(&event.body);
                    }
                    let Judged::Keep(project) = judged else { continue };
                    report.events += 1;
                    current.counts.events += 1;
                    let prepared = prepare::prepare(event, self.redactor, &self.key);
                    match self.put(&prepared, project.as_deref(), current, place, part)? {
                        Stored::New => {
                            report.stored += 1;
                            current.stored += 1;
                        }
                        Stored::Replaced => report.replaced += 1,
                        Stored::Held => {}
                    }
                    self.batch.0 += 1;
                    part += 1;
                }
                Said::Facts(Whose::HolderOf(_), _) | Said::Usage { .. } | Said::Unknown { .. } if passed => {}
                Said::Facts(whose, facts) => {
                    let mut facts = if passed { place_only(facts) } else { facts };
                    prepare::redact_facts(&mut facts, self.redactor);
                    let project = self.project(&whose, &facts)?;
                    self.writer.facts(current.client, &whose, &facts, project.as_deref())?;
                }
                Said::Usage { response, whose, model, at, usage } => {
                    if !usage.is_zero() {
                        let response = self.redactor.text(&response);
                        let model = model.as_deref().map(|model| self.redactor.text(model));
                        self.writer.usage(current.client, &response, &whose, model.as_deref(), at, usage)?;
                    }
                }
                Said::Withdraw(what) => {
                    let at = claim(current, place, part);
                    report.withdrawn += self.writer.withdraw(current.client, &what, &at, rank)?;
                }
                // A record that carries nothing at all is counted where it is decoded.
                Said::Nothing(_) => {}
                Said::Remark(what) => {
                    let what = self.redactor.text(&what);
                    self.writer.remark(current.source, cut(&what))?;
                    report.remark(cut(&what));
                }
                Said::Unknown { kind, version } => {
                    self.count(current, Counted::Unknown, &kind, version.as_deref().unwrap_or_default());
                }
            }
        }
        Ok(part)
    }

    pub(super) fn count(&self, current: &mut Current<'_>, counted: Counted, kind: &str, version: &str) {
        let (kind, version) = (self.redactor.text(kind), self.redactor.text(version));
        *current.kinds.entry((counted, cut(&kind).to_owned(), cut(&version).to_owned())).or_default() += 1;
    }

    fn put(
        &mut self,
        prepared: &Prepared<'_>,
        project: Option<&str>,
        current: &Current<'_>,
        place: Place,
        part: u32,
    ) -> Result<Stored, StoreError> {
        for blob in &prepared.blobs {
            let data = self.options.keep_blobs.then_some(blob.bytes.as_slice());
            self.writer.blob(&blob.digest, &blob.media_type, blob.bytes.len(), data)?;
        }
        let actor = prepare::actor(&prepared.event.by, current.client, self.login.as_deref());
        self.writer.event(&Put {
            client: current.client,
            event: &prepared.event,
            content: prepared.content,
            actor: actor.as_deref(),
            project,
            attachments: &prepared.attachments,
            claim: claim(current, place, part),
        })
    }

    /// Returns the project of a session that started in the directory its facts name; the first answer for a
    /// directory is kept.
    fn project(&mut self, whose: &Whose<'_>, facts: &Facts<'_>) -> Result<Option<String>, StoreError> {
        let (Whose::Session(_), Some(cwd)) = (whose, &facts.cwd) else { return Ok(None) };
        if let Some(kept) = self.writer.directory(cwd)? {
            return Ok(kept);
        }
        // Only a repository's root is known for what lies below it: a directory that happened to be a project says
        // nothing of others, and would make the answer depend on which was met first.
        let known = self.writer.projects()?.into_iter().map(PathBuf::from);
        let known: Vec<PathBuf> = known.filter(|root| root.join(".git").exists()).collect();
        let word = facts.project.as_deref().map(Path::new);
        let project = project_of(Path::new(&**cwd), word, &known, self.home.as_deref());
        let project = project.map(|project| project.to_string_lossy().into_owned());
        self.writer.keep_directory(cwd, project.as_deref())?;
        Ok(project)
    }
}

fn claim(current: &Current<'_>, place: Place, part: u32) -> Claim {
    Claim {
        source: current.source,
        generation: current.generation,
        record: place.index,
        part,
        offset: place.offset,
        length: place.length,
        born_ns: current.born_ns,
    }
}

/// Returns the first 200 bytes of a name, cut at a character boundary.
pub(super) fn cut(kind: &str) -> &str {
    let mut end = kind.len().min(KIND);
    while !kind.is_char_boundary(end) {
        end -= 1;
    }
    &kind[..end]
}
