//! As much of HTTP/1.1 as the clients use: requests with a length or in chunks, connections that are kept, and
//! answers that are JSON or a stream of server-sent events in chunks (RFC 9112).

use anyhow::{Result, bail};
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

/// The longest request that is read, in bytes.
const LONGEST: usize = 64 << 20;

/// A request.
pub(super) struct Request {
    pub(super) method: String,
    /// Path and query.
    pub(super) path: String,
    /// Names in lower case.
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Request {
    /// Returns the value of a header, by its name in lower case.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// A connection from a client.
pub(super) struct Connection {
    reader: BufReader<TcpStream>,
    writer: TcpStream,
}

impl Connection {
    /// Takes a connection over.
    pub(super) fn new(stream: TcpStream) -> Result<Self> {
        stream.set_nodelay(true)?;
        Ok(Self { writer: stream.try_clone()?, reader: BufReader::new(stream) })
    }

    /// Reads the next request; `None` if the client has left between two.
    pub(super) fn read(&mut self) -> Result<Option<Request>> {
        let Some(start) = self.line()? else { return Ok(None) };
        let mut words = start.split(' ');
        let (Some(method), Some(path)) = (words.next(), words.next()) else {
            bail!("not a request: {start}")
        };
        let (method, path) = (method.to_owned(), path.to_owned());
        let mut headers = Vec::new();
        while let Some(line) = self.line()? {
            if line.is_empty() {
                break;
            }
            let Some((name, value)) = line.split_once(':') else { bail!("not a header: {line}") };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let mut request = Request { method, path, headers, body: Vec::new() };
        if request.header("expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue")) {
            self.writer.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        if request.header("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked")) {
            request.body = self.chunks()?;
        } else if let Some(length) = request.header("content-length") {
            let length = length.parse()?;
            request.body = self.bytes(length)?;
        }
        Ok(Some(request))
    }

    fn line(&mut self) -> Result<Option<String>> {
        let mut line = String::new();
        if self.reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        Ok(Some(line.trim_end_matches(['\r', '\n']).to_owned()))
    }

    fn bytes(&mut self, length: usize) -> Result<Vec<u8>> {
        if length > LONGEST {
            bail!("a request of {length} bytes");
        }
        let mut bytes = vec![0; length];
        self.reader.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn chunks(&mut self) -> Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let Some(line) = self.line()? else { bail!("a request without its end") };
            let size = line.split(';').next().unwrap_or_default().trim();
            let size = usize::from_str_radix(size, 16)?;
            if size == 0 {
                while self.line()?.is_some_and(|line| !line.is_empty()) {}
                return Ok(body);
            }
            body.extend(self.bytes(size)?);
            if body.len() > LONGEST {
                bail!("a request of more than {LONGEST} bytes");
            }
            self.line()?;
        }
    }

    /// Answers with JSON.
    pub(super) fn json(&mut self, status: u16, body: &Value) -> Result<()> {
        let body = body.to_string();
        write!(
            self.writer,
            "HTTP/1.1 {status} {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            reason(status),
            body.len()
        )?;
        Ok(self.writer.flush()?)
    }

    /// Begins an answer of server-sent events.
    pub(super) fn events(&mut self) -> Result<Events<'_>> {
        self.writer.write_all(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\n\
              transfer-encoding: chunked\r\n\r\n",
        )?;
        Ok(Events { writer: &mut self.writer })
    }
}

/// An answer that goes out an event at a time.
pub(super) struct Events<'a> {
    writer: &'a mut TcpStream,
}

impl Events<'_> {
    /// Sends an event.
    pub(super) fn send(&mut self, name: &str, data: &Value) -> Result<()> {
        let event = format!("event: {name}\ndata: {data}\n\n");
        write!(self.writer, "{:x}\r\n{event}\r\n", event.len())?;
        Ok(self.writer.flush()?)
    }

    /// Ends the answer; the connection stays.
    pub(super) fn end(self) -> Result<()> {
        self.writer.write_all(b"0\r\n\r\n")?;
        Ok(self.writer.flush()?)
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        404 => "Not Found",
        529 => "Overloaded",
        _ => "Error",
    }
}
