//! Blocks: texts and raw records that came in one after the other, compressed together. They repeat each other
//! far more than themselves, and one frame of them costs less than many small ones.

use crate::{Store, StoreError};
use rusqlite::{Connection, OptionalExtension as _, params};
use std::borrow::Cow;
use zstd::bulk::{Compressor, Decompressor};

/// Room for blocks up to this size is kept.
const LARGE: usize = 1 << 20;

/// What a block holds, and so how large it grows: a hit of a search unpacks a whole one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    /// Texts of events.
    Texts,
    /// Records as the client wrote them.
    Records,
}

impl Holds {
    /// The zstd level: of texts the cheapest, since there are always some; records are few, or somebody wants all.
    const fn level(self) -> i32 {
        match self {
            Self::Texts => 1,
            Self::Records => 3,
        }
    }

    /// The size at which a block is closed.
    const fn full(self) -> usize {
        match self {
            Self::Texts => 16 << 10,
            Self::Records => 1 << 20,
        }
    }
}

/// Where bytes stand: in which block, from which byte on, how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) block: i64,
    pub(crate) at: i64,
    pub(crate) size: i64,
}

/// The blocks of an open store that are being filled or were read last.
#[derive(Default)]
pub(crate) struct Blocks {
    texts: Filling,
    records: Filling,
    /// The number of the next block, in the transaction at hand.
    next: Option<i64>,
    packer: Option<Packer>,
}

/// A block that is not in its table yet.
#[derive(Default)]
struct Filling {
    id: i64,
    bytes: Vec<u8>,
}

/// The block that was read last, unpacked.
#[derive(Default)]
pub(crate) struct Unpacked {
    id: i64,
    bytes: Vec<u8>,
    unpacker: Option<Decompressor<'static>>,
}

struct Packer {
    compressor: Compressor<'static>,
    packed: Vec<u8>,
}

impl Store {
    /// Puts bytes into a block, which is closed when it is full, or with the transaction.
    pub(crate) fn put_bytes(&mut self, holds: Holds, bytes: &[u8]) -> Result<Place, StoreError> {
        let Self { conn, caches, .. } = self;
        let blocks = &mut caches.blocks;
        if bytes.len() >= holds.full() {
            // Stands alone; nothing is copied.
            let block = blocks.number(conn)?;
            blocks.insert(conn, holds, block, bytes)?;
            return Ok(Place { block, at: 0, size: size(bytes.len()) });
        }
        if blocks.filling(holds).bytes.len() + bytes.len() > holds.full() {
            blocks.close(conn, holds)?;
        }
        if blocks.filling(holds).bytes.is_empty() {
            let id = blocks.number(conn)?;
            blocks.filling(holds).id = id;
        }
        let filling = blocks.filling(holds);
        let place = Place { block: filling.id, at: size(filling.bytes.len()), size: size(bytes.len()) };
        filling.bytes.extend_from_slice(bytes);
        Ok(place)
    }

    /// Closes the blocks that are being filled: the transaction ends.
    pub(crate) fn close_blocks(&mut self) -> Result<(), StoreError> {
        let Self { conn, caches, .. } = self;
        for holds in [Holds::Texts, Holds::Records] {
            caches.blocks.close(conn, holds)?;
        }
        caches.blocks.next = None;
        Ok(())
    }

    /// Returns bytes out of their block.
    pub(crate) fn bytes_at(&self, place: Place) -> Result<Vec<u8>, StoreError> {
        if place.size == 0 {
            // It may name a block that nothing was put into.
            return Ok(Vec::new());
        }
        for filling in [&self.caches.blocks.texts, &self.caches.blocks.records] {
            if filling.id == place.block && !filling.bytes.is_empty() {
                return cut(&filling.bytes, place);
            }
        }
        let mut unpacked = self.caches.unpacked.borrow_mut();
        if unpacked.id != place.block {
            unpacked.read(&self.conn, place.block)?;
        }
        cut(&unpacked.bytes, place)
    }
}

impl Blocks {
    const fn filling(&mut self, holds: Holds) -> &mut Filling {
        match holds {
            Holds::Texts => &mut self.texts,
            Holds::Records => &mut self.records,
        }
    }

    fn number(&mut self, conn: &Connection) -> Result<i64, StoreError> {
        let next = match self.next {
            Some(next) => next,
            None => conn
                .prepare_cached("SELECT coalesce(max(id), 0) + 1 FROM block")?
                .query_row([], |row| row.get(0))?,
        };
        self.next = Some(next + 1);
        Ok(next)
    }

    fn close(&mut self, conn: &Connection, holds: Holds) -> Result<(), StoreError> {
        let Filling { id, mut bytes } = std::mem::take(self.filling(holds));
        if bytes.is_empty() {
            return Ok(());
        }
        self.insert(conn, holds, id, &bytes)?;
        bytes.clear();
        self.filling(holds).bytes = bytes;
        Ok(())
    }

    fn insert(&mut self, conn: &Connection, holds: Holds, id: i64, bytes: &[u8]) -> Result<(), StoreError> {
        let packed = Packer::pack(&mut self.packer, holds.level(), bytes);
        conn.prepare_cached("INSERT INTO block (id, size, data) VALUES (?1, ?2, ?3)")?.execute(params![
            id,
            size(bytes.len()),
            packed.as_ref()
        ])?;
        Ok(())
    }

    /// Compresses a piece of a record, if it gets smaller by it.
    pub(crate) fn pack<'b>(&'b mut self, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        Packer::pack(&mut self.packer, Holds::Records.level(), bytes)
    }
}

impl Packer {
    fn pack<'b>(own: &'b mut Option<Self>, level: i32, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        if own.is_none() {
            *own = Compressor::new(level).ok().map(|compressor| Self { compressor, packed: Vec::new() });
        }
        let Some(Self { compressor, packed }) = own else { return Cow::Borrowed(bytes) };
        if compressor.set_compression_level(level).is_err() {
            return Cow::Borrowed(bytes);
        }
        if bytes.len() > LARGE {
            // What one giant needs is not kept.
            return match compressor.compress(bytes) {
                Ok(packed) if packed.len() < bytes.len() => Cow::Owned(packed),
                _ => Cow::Borrowed(bytes),
            };
        }
        packed.clear();
        packed.reserve(zstd::zstd_safe::compress_bound(bytes.len()));
        match compressor.compress_to_buffer(bytes, packed) {
            Ok(_) if packed.len() < bytes.len() => Cow::Borrowed(packed),
            _ => Cow::Borrowed(bytes),
        }
    }
}

impl Unpacked {
    fn read(&mut self, conn: &Connection, block: i64) -> Result<(), StoreError> {
        self.id = 0;
        let found = conn
            .prepare_cached("SELECT size, data FROM block WHERE id = ?1")?
            .query_row([block], |row| {
                let data = row.get_ref(1)?.as_blob()?;
                Ok(self.unpack(data, row.get::<_, i64>(0)?))
            })
            .optional()?;
        found.unwrap_or_else(|| Err(StoreError::Content(format!("no block of number {block}"))))?;
        self.id = block;
        Ok(())
    }

    fn unpack(&mut self, data: &[u8], before: i64) -> Result<(), StoreError> {
        let before = usize::try_from(before).unwrap_or(0);
        self.bytes.clear();
        if data.len() >= before {
            self.bytes.extend_from_slice(data);
            return Ok(());
        }
        let failed = |error| StoreError::Content(format!("a block that does not unpack: {error}"));
        let unpacker = match &mut self.unpacker {
            Some(unpacker) => unpacker,
            none => none.insert(Decompressor::new().map_err(failed)?),
        };
        self.bytes.reserve(before);
        unpacker.decompress_to_buffer(data, &mut self.bytes).map(drop).map_err(failed)
    }
}

/// Undoes [`Blocks::pack`], given the size before it.
pub(crate) fn unpack(data: &[u8], before: i64) -> Result<Vec<u8>, StoreError> {
    let mut unpacked = Unpacked::default();
    unpacked.unpack(data, before)?;
    Ok(unpacked.bytes)
}

fn cut(block: &[u8], place: Place) -> Result<Vec<u8>, StoreError> {
    let (at, size) = (usize::try_from(place.at).ok(), usize::try_from(place.size).ok());
    let range = at.zip(size).map(|(at, size)| at..at.saturating_add(size));
    range.and_then(|range| block.get(range)).map(<[u8]>::to_vec).ok_or_else(|| {
        StoreError::Content(format!("{} bytes that are not in block {}", place.size, place.block))
    })
}

/// Returns a size as SQLite has it.
pub(crate) fn size(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts() -> Vec<Vec<u8>> {
        [0, 1, 300, 65_535, 65_536, 70_000, 2 << 20, 40]
            .into_iter()
            .enumerate()
            .map(|(n, size)| {
                (0..size).map(|at| b'a' + u8::try_from((at * (n + 3) + at / 7) % 26).unwrap()).collect()
            })
            .collect()
    }

    #[test]
    fn bytes_come_back_from_an_open_block_and_from_a_closed_one() {
        let mut store = Store::open_in_memory().unwrap();
        let writer = store.writer().unwrap();
        let mut places = Vec::new();
        for holds in [Holds::Texts, Holds::Records] {
            for text in texts() {
                places.push((writer.store.put_bytes(holds, &text).unwrap(), text));
            }
        }
        for (place, text) in &places {
            assert_eq!(&writer.store.bytes_at(*place).unwrap(), text, "{place:?} while it is filled");
        }
        writer.commit().unwrap();
        for (place, text) in &places {
            assert_eq!(&store.bytes_at(*place).unwrap(), text, "{place:?}");
        }
    }

    #[test]
    fn what_was_dropped_is_not_what_is_read_under_its_number() {
        let mut store = Store::open_in_memory().unwrap();
        let put = |store: &mut Store, text: &[u8]| store.put_bytes(Holds::Texts, text).unwrap();
        let writer = store.writer().unwrap();
        let dropped = put(writer.store, &vec![b'x'; 70_000]);
        writer.store.bytes_at(dropped).unwrap();
        drop(writer);
        let writer = store.writer().unwrap();
        let kept = put(writer.store, &vec![b'y'; 70_000]);
        writer.commit().unwrap();
        assert_eq!(dropped, kept);
        assert_eq!(store.bytes_at(kept).unwrap(), vec![b'y'; 70_000]);
    }

    #[test]
    fn a_place_that_is_not_in_its_block_is_an_error() {
        let mut store = Store::open_in_memory().unwrap();
        let writer = store.writer().unwrap();
        let place = writer.store.put_bytes(Holds::Texts, b"four").unwrap();
        writer.commit().unwrap();
        let told = store.bytes_at(Place { at: 2, ..place }).unwrap_err().to_string();
        assert!(told.contains("4 bytes that are not in block 1"), "{told}");
        let told = store.bytes_at(Place { block: 7, ..place }).unwrap_err().to_string();
        assert!(told.contains("no block of number 7"), "{told}");
    }
}
