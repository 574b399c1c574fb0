//! The bytes of a source, whether they lie in its file as they are or compressed.

use flate2::bufread::MultiGzDecoder;
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read as _, Seek as _};
use std::os::unix::fs::FileExt as _;

/// How many bytes of a compressed file are read at once.
const CHUNK: usize = 64 << 10;

/// How the bytes lie in the file; what the file begins with says it, not its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Codec {
    /// As they are.
    Plain,
    /// As frames of Zstandard (RFC 8878), one after another.
    Zstd,
    /// As members of gzip (RFC 1952), one after another.
    Gzip,
}

impl Codec {
    fn of(file: &File) -> io::Result<Self> {
        let mut magic = [0; 4];
        let count = read_at(file, &mut magic, 0)?;
        Ok(match magic.get(..count).unwrap_or_default() {
            [0x28, 0xb5, 0x2f, 0xfd] => Self::Zstd,
            [0x1f, 0x8b, ..] => Self::Gzip,
            _ => Self::Plain,
        })
    }

    /// Returns the codec's name, as a mark has it; none for plain bytes.
    pub(super) const fn name(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Zstd => Some("zstd"),
            Self::Gzip => Some("gzip"),
        }
    }
}

/// A file whose bytes are read from any place, decompressed where they must be. A place before the last one read
/// costs decompressing everything before it again.
pub(super) struct Input {
    file: File,
    codec: Codec,
    stream: Option<Stream>,
}

/// What is decompressed, and up to where.
struct Stream {
    bytes: Box<dyn io::Read + Send>,
    at: u64,
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input").field("file", &self.file).field("codec", &self.codec).finish_non_exhaustive()
    }
}

impl Input {
    pub(super) fn new(file: File) -> io::Result<Self> {
        let codec = Codec::of(&file)?;
        Ok(Self { file, codec, stream: None })
    }

    pub(super) fn codec(&self) -> Codec {
        self.codec
    }

    /// Reads into `into` what stands at `at`; returns how many bytes came, 0 at the end only.
    pub(super) fn read_at(&mut self, into: &mut [u8], at: u64) -> io::Result<usize> {
        if self.codec == Codec::Plain {
            return read_at(&self.file, into, at);
        }
        let mut stream = match self.stream.take() {
            Some(stream) if stream.at <= at => stream,
            _ => self.open()?,
        };
        // A stream that failed is not put back: the next read begins anew.
        let ahead = at - stream.at;
        let skipped = io::copy(&mut stream.bytes.by_ref().take(ahead), &mut io::sink())
            .map_err(|error| self.told(&error))?;
        stream.at += skipped;
        let mut count = 0;
        if skipped == ahead {
            count = loop {
                match stream.bytes.read(into) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    done => break done.map_err(|error| self.told(&error))?,
                }
            };
        }
        stream.at += count as u64;
        self.stream = Some(stream);
        Ok(count)
    }

    /// Fills `into` from `at`; says no where the source ends before.
    pub(super) fn read_whole_at(&mut self, mut into: &mut [u8], mut at: u64) -> io::Result<bool> {
        while !into.is_empty() {
            let count = self.read_at(into, at)?;
            if count == 0 {
                return Ok(false);
            }
            into = into.get_mut(count..).unwrap_or_default();
            at += count as u64;
        }
        Ok(true)
    }

    fn open(&self) -> io::Result<Stream> {
        let mut file = self.file.try_clone()?;
        file.rewind()?;
        let file = BufReader::with_capacity(CHUNK, file);
        let bytes: Box<dyn io::Read + Send> = match self.codec {
            Codec::Plain => Box::new(file),
            Codec::Zstd => Box::new(zstd::Decoder::with_buffer(file)?),
            Codec::Gzip => Box::new(MultiGzDecoder::new(file)),
        };
        Ok(Stream { bytes, at: 0 })
    }

    /// Says what is wrong with a compressed file.
    fn told(&self, error: &io::Error) -> io::Error {
        let name = self.codec.name().unwrap_or_default();
        let what = if error.kind() == io::ErrorKind::UnexpectedEof {
            format!(
                "the {name} data ends in the middle; what stands before is read, the rest once the file changes"
            )
        } else {
            format!("the {name} data is damaged ({error}); what stands before is read")
        };
        io::Error::new(error.kind(), what)
    }
}

fn read_at(file: &File, into: &mut [u8], at: u64) -> io::Result<usize> {
    loop {
        match file.read_at(into, at) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}
