//! The entry of a server elsewhere, as the command line names it.

use crate::args::Install;
use crate::exit::Ended;
use anyhow::Result;
use scrollback_core::McpEntry;

/// The name of the entry.
const NAME: &str = "scrollback";

/// Returns the entry that is wanted, if one is.
pub(super) fn entry(args: &Install) -> Result<Option<McpEntry>> {
    let Some(url) = &args.mcp_url else { return Ok(None) };
    if !["http://", "https://"].iter().any(|scheme| url.len() > scheme.len() && url.starts_with(scheme)) {
        return Err(
            Ended::usage(format!("--mcp-url {url:?}: expected http:// or https:// and a host")).into()
        );
    }
    let headers = args.mcp_header.iter().map(|header| self::header(header)).collect::<Result<_>>()?;
    Ok(Some(McpEntry::Http { name: NAME.to_owned(), url: url.clone(), headers }))
}

/// Reads `NAME=VALUE`; the names of HTTP are letters, digits and some marks (RFC 9110, section 5.6.2).
fn header(text: &str) -> Result<(String, String)> {
    let of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let parts = text.split_once('=').filter(|(name, value)| {
        !name.is_empty() && name.bytes().all(of_name) && !value.contains(char::is_control)
    });
    parts.map(|(name, value)| (name.to_owned(), value.to_owned())).ok_or_else(|| {
        Ended::usage(format!("--mcp-header {text:?}: expected NAME=VALUE, as in X-Tenant=acme")).into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_a_name_and_a_value() {
        assert_eq!(header("X-Tenant=a=b").unwrap(), ("X-Tenant".to_owned(), "a=b".to_owned()));
        assert_eq!(header("X=").unwrap(), ("X".to_owned(), String::new()));
        for wrong in ["", "X", "=v", "X Y=v", "X=a\nb", "X:=v"] {
            let error = header(wrong).unwrap_err();
            assert_eq!(crate::exit::Exit::of(&error), crate::exit::Exit::Usage, "{wrong:?}");
        }
    }
}
