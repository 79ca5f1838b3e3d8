//! A log cut into blocks of whole lines where possible, each compressed by itself, with an index of
//! where each begins: any place of it is read without the rest.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use protocol::time::Timestamp;
use serde::{Deserialize, Serialize};

/// So many lines are in a block at most.
const BLOCK_LINES: usize = 4_096;
/// Up to so many bytes are kept as they are. What compresses them needs hundreds of kilobytes before it
/// begins, for each of a thousand short logs anew, and makes nothing of it that a disk would notice.
const AS_THEY_ARE: usize = 512;

/// Where a block is, and what is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogBlock {
    /// The number of the first line that begins in it, from 0.
    #[serde(rename = "l")]
    pub line: u64,
    /// How many lines begin in it.
    #[serde(rename = "n")]
    pub lines: u32,
    /// The first byte of the log in it, from 0.
    #[serde(rename = "o")]
    pub offset: u64,
    /// How many bytes of the log are in it.
    #[serde(rename = "b")]
    pub bytes: u32,
    /// So many of them belong to a line that began before it.
    #[serde(rename = "h")]
    pub head: u32,
    /// When its first line was written, where that is known.
    #[serde(rename = "t")]
    pub at: Option<i64>,
    /// Where its compressed form begins.
    #[serde(rename = "p")]
    pub(crate) place: u64,
    /// How many bytes that has.
    #[serde(rename = "s")]
    pub(crate) size: u32,
}

impl LogBlock {
    /// The number of the line after its last one.
    #[must_use]
    pub fn end_line(&self) -> u64 {
        self.line + u64::from(self.lines)
    }

    /// The log's byte after its last one.
    #[must_use]
    pub fn end_offset(&self) -> u64 {
        self.offset + u64::from(self.bytes)
    }
}

/// What is in a block.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BlockText {
    /// When each of its lines was written; empty where that is not known.
    pub times: Vec<i64>,
    /// What the log says, bytes of the line before it first.
    pub text: Vec<u8>,
}

impl BlockText {
    /// The lines that begin in it, with their ends of line.
    pub fn lines<'a>(&'a self, block: &LogBlock) -> impl Iterator<Item = &'a [u8]> {
        let head = (block.head as usize).min(self.text.len());
        self.text[head..].split_inclusive(|byte| *byte == b'\n')
    }

    /// When one of them was written.
    #[must_use]
    pub fn time(&self, line: usize) -> Option<Timestamp> {
        self.times.get(line).copied().map(Timestamp)
    }

    /// Its compressed form: the number of bytes of its times, the times, the text.
    pub(crate) fn compress(&self) -> std::io::Result<Vec<u8>> {
        let times = differences(&self.times);
        let count = u32::try_from(times.len()).map_err(std::io::Error::other)?;
        deflate(&[&count.to_le_bytes(), &times, &self.text])
    }

    /// Whether it takes no time to bring it into its compressed form.
    pub(crate) fn is_short(&self) -> bool {
        self.text.len() <= AS_THEY_ARE
    }

    pub(crate) fn read(block: &LogBlock, compressed: &[u8]) -> std::io::Result<Self> {
        let mut decoder = DeflateDecoder::new(compressed);
        let mut count = [0; 4];
        decoder.read_exact(&mut count)?;
        let mut times = Vec::new();
        decoder.by_ref().take(u64::from(u32::from_le_bytes(count))).read_to_end(&mut times)?;
        // One byte more than there can be tells a damaged block from a whole one.
        let mut text = Vec::with_capacity(block.bytes as usize);
        decoder.take(u64::from(block.bytes) + 1).read_to_end(&mut text)?;
        if text.len() != block.bytes as usize {
            return Err(std::io::Error::other("a block of a kept log is damaged"));
        }
        Ok(Self { times: sums(&times), text })
    }
}

/// These bytes, one after the other, in the form of DEFLATE.
pub(crate) fn deflate(pieces: &[&[u8]]) -> std::io::Result<Vec<u8>> {
    let length: usize = pieces.iter().map(|piece| piece.len()).sum();
    if let Some(length) = u16::try_from(length).ok().filter(|_| length <= AS_THEY_ARE) {
        // A block that is the last one and not compressed, of so many bytes: RFC 1951, 3.2.4.
        let head = [[1_u8].as_slice(), &length.to_le_bytes(), &(!length).to_le_bytes()].concat();
        return Ok([head, pieces.concat()].concat());
    }
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    for piece in pieces {
        encoder.write_all(piece)?;
    }
    encoder.finish()
}

/// The block that is being written.
#[derive(Debug, Clone, Default)]
pub(crate) struct OpenBlock {
    line: u64,
    offset: u64,
    head: usize,
    in_line: bool,
    content: BlockText,
    last: Option<i64>,
}

impl OpenBlock {
    /// Adds as much as there is room for, and says how much that was.
    pub(crate) fn push(&mut self, bytes: &[u8], at: Option<Timestamp>, most: usize) -> usize {
        let room = most.saturating_sub(self.content.text.len()).min(bytes.len());
        for piece in bytes[..room].split_inclusive(|byte| *byte == b'\n') {
            if self.in_line && self.lines() == 0 {
                self.head += piece.len();
            } else if !self.in_line {
                self.last = at.map(|at| at.0).or(self.last);
                self.content.times.push(self.last.unwrap_or(i64::MIN));
            }
            self.content.text.extend_from_slice(piece);
            self.in_line = !piece.ends_with(b"\n");
        }
        room
    }

    fn lines(&self) -> usize {
        self.content.times.len()
    }

    pub(crate) fn is_full(&self, most: usize) -> bool {
        self.content.text.len() >= most || (self.lines() >= BLOCK_LINES && !self.in_line)
    }

    /// What it is so far; `None`: nothing.
    pub(crate) fn block(&self) -> Option<LogBlock> {
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        (!self.content.text.is_empty()).then(|| LogBlock {
            line: self.line,
            lines: count(self.lines()),
            offset: self.offset,
            bytes: count(self.content.text.len()),
            head: count(self.head),
            at: self.content.times.first().copied().filter(|at| *at != i64::MIN),
            place: 0,
            size: 0,
        })
    }

    pub(crate) fn content(&self) -> BlockText {
        let mut content = self.content.clone();
        if content.times.first() == Some(&i64::MIN) {
            content.times.clear();
        }
        content
    }

    /// Begins the next one, and gives what this one was; `None`: nothing.
    pub(crate) fn close(&mut self) -> Option<(LogBlock, BlockText)> {
        let begun = self.begun_line();
        let closed = (self.block()?, self.content());
        *self = Self {
            line: self.line + self.lines() as u64,
            offset: self.offset + self.content.text.len() as u64,
            head: 0,
            in_line: self.in_line,
            content: begun,
            last: self.last,
        };
        Some(closed)
    }

    /// Takes out a line that began in it and is not over: it belongs to the next block as a whole,
    /// so that it is found there. One as long as the block stays.
    fn begun_line(&mut self) -> BlockText {
        let end = self.content.text.iter().rposition(|byte| *byte == b'\n');
        let Some(end) = end.filter(|_| self.in_line) else { return BlockText::default() };
        let text = self.content.text.split_off(end + 1);
        BlockText { times: self.content.times.pop().into_iter().collect(), text }
    }
}

/// Each number's difference to the one before it, small ones in one byte.
fn differences(numbers: &[i64]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(numbers.len() + 8);
    let mut last = 0_i64;
    for number in numbers {
        let difference = number.wrapping_sub(last);
        let mut rest = (difference.wrapping_shl(1) ^ (difference >> 63)).cast_unsigned();
        while rest >= 0x80 {
            bytes.push((rest & 0x7f) as u8 | 0x80);
            rest >>= 7;
        }
        bytes.push(rest as u8);
        last = *number;
    }
    bytes
}

fn sums(bytes: &[u8]) -> Vec<i64> {
    let mut numbers = Vec::new();
    let (mut last, mut rest, mut shift) = (0_i64, 0_u64, 0_u32);
    for byte in bytes {
        rest |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
        if byte & 0x80 != 0 {
            shift += 7;
            continue;
        }
        let difference = (rest >> 1).cast_signed() ^ -(rest & 1).cast_signed();
        last = last.wrapping_add(difference);
        numbers.push(last);
        (rest, shift) = (0, 0);
    }
    numbers
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn times_are_read_as_they_were_written(times in prop::collection::vec(any::<i64>(), 0..50)) {
            prop_assert_eq!(sums(&differences(&times)), times);
        }
    }

    #[test]
    fn times_near_each_other_take_a_byte() {
        let times: Vec<i64> = (0..100).map(|step| 1_795_221_973_000 + step * 20).collect();
        assert!(differences(&times).len() < 110);
    }

    #[test]
    fn what_is_short_is_kept_as_it_is_and_read_like_the_rest() {
        for length in [0, 1, AS_THEY_ARE, AS_THEY_ARE + 1, 70_000] {
            let text = vec![b'a'; length];
            let (one, other) = text.split_at(length / 2);
            let kept = deflate(&[one, other]).unwrap();
            assert_eq!(kept.len() == length + 5, length <= AS_THEY_ARE, "{length}");
            let mut read = Vec::new();
            DeflateDecoder::new(kept.as_slice()).read_to_end(&mut read).unwrap();
            assert_eq!(read, text);
        }
    }

    #[test]
    fn a_damaged_block_is_told() {
        let content = BlockText { times: vec![5], text: b"one\n".to_vec() };
        let compressed = content.compress().unwrap();
        let mut open = OpenBlock::default();
        open.push(b"one\n", Some(Timestamp(5)), 100);
        let block = open.block().unwrap();
        assert_eq!(BlockText::read(&block, &compressed).unwrap(), content);
        let longer = LogBlock { bytes: 5, ..block };
        assert!(BlockText::read(&longer, &compressed).is_err());
        assert!(BlockText::read(&block, b"no block").is_err());
    }
}
