//! Whatever a client sends, it is read or refused. `BERTH_CASES` says how often it is tried.

use proptest::prelude::*;

use super::{Attributes, Content, LONGEST, Malformed, Packet, kind, mode, read};

fn cases(usual: u32) -> u32 {
    std::env::var("BERTH_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(usual)
}

/// Reads one packet in an order that the bytes themselves choose; gives how much was read.
fn take_apart(packet: &[u8], order: &[u8]) -> usize {
    let mut content = Content::new(packet);
    let mut read = 0;
    for step in order {
        let taken = match step % 7 {
            0 => content.kind().map(|_| 1),
            1 => content.number().map(|_| 4),
            2 => content.long().map(|_| 8),
            3 => content.bytes().map(|bytes| 4 + bytes.len()),
            4 => content.name().map(|name| 4 + name.len()),
            5 => content.path().map(|_| 4),
            _ => content.attributes().map(|_| 4),
        };
        match taken {
            Ok(count) => read += count,
            Err(Malformed) => return read,
        }
    }
    read
}

/// Packets as clients send them, to be damaged.
fn packets(choice: u8, number: u32, text: &[u8]) -> Vec<u8> {
    let attributes = Attributes {
        size: Some(u64::from(number)),
        permissions: Some(number),
        ..Attributes::default()
    };
    let packet = match choice % 5 {
        0 => Packet::new(kind::INIT).number(3),
        1 => Packet::numbered(kind::OPEN, number)
            .bytes(text)
            .number(mode::READ)
            .attributes(&attributes),
        2 => Packet::numbered(kind::WRITE, number).bytes(text).long(u64::MAX).bytes(text),
        3 => Packet::numbered(kind::RENAME, number).bytes(text).bytes(text),
        _ => Packet::numbered(kind::EXTENDED, number).bytes("hardlink@openssh.com").bytes(text),
    };
    let mut sent = Vec::new();
    packet.write(&mut sent).unwrap();
    sent
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(256), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_packets_or_refused(
        bytes in proptest::collection::vec(any::<u8>(), 0..400),
        order in proptest::collection::vec(any::<u8>(), 0..12),
    ) {
        let mut source = bytes.as_slice();
        while let Ok(Some(packet)) = read(&mut source) {
            prop_assert!(take_apart(&packet, &order) <= packet.len());
        }
        prop_assert!(take_apart(&bytes, &order) <= bytes.len());
    }

    #[test]
    fn damaged_packets_are_read_or_refused(
        choice: u8,
        number: u32,
        text in proptest::collection::vec(any::<u8>(), 0..40),
        damages in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        order in proptest::collection::vec(any::<u8>(), 0..12),
    ) {
        let mut bytes = packets(choice, number, &text);
        for (at, byte) in damages {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let mut source = bytes.as_slice();
        while let Ok(Some(packet)) = read(&mut source) {
            prop_assert!(take_apart(&packet, &order) <= packet.len());
        }
    }

    #[test]
    fn a_long_packet_is_refused_before_it_is_made_room_for(length in LONGEST + 1..=u32::MAX) {
        prop_assert!(read(&mut length.to_be_bytes().as_slice()).is_err());
    }
}
