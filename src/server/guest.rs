//! The program that is put into containers: part of a release, for each kind of processor that it was built
//! for; read from a file while developing.

use std::path::Path;

use anyhow::Context;
use bytes::{Buf, Bytes};

/// The programs, one for each kind of processor: the length of each and itself, all by brotli.
#[cfg(feature = "embed")]
const PACKED: Option<&[u8]> = Some(include_bytes!(env!("BERTH_GUEST_PACKED")));
#[cfg(not(feature = "embed"))]
const PACKED: Option<&[u8]> = None;

/// The program of the file if one is named, else those of the binary.
pub(crate) fn programs(file: Option<&Path>) -> anyhow::Result<Vec<Bytes>> {
    match file {
        Some(file) => {
            let program = std::fs::read(file);
            let program = program.with_context(|| format!("guest = {}", file.display()))?;
            Ok(vec![program.into()])
        }
        None => {
            if PACKED.is_none() {
                tracing::warn!("there is no guest: nobody can enter a task by SSH");
            }
            PACKED.map_or_else(|| Ok(Vec::new()), unpacked)
        }
    }
}

fn unpacked(mut packed: &[u8]) -> anyhow::Result<Vec<Bytes>> {
    const DAMAGED: &str = "the guest within this binary is damaged";
    let mut content = Vec::new();
    brotli::BrotliDecompress(&mut packed, &mut content).context(DAMAGED)?;
    let (mut rest, mut programs) = (Bytes::from(content), Vec::new());
    while !rest.is_empty() {
        let length = rest.try_get_u64_le().context(DAMAGED)?;
        let length = usize::try_from(length).context(DAMAGED)?;
        anyhow::ensure!(length <= rest.len(), DAMAGED);
        programs.push(rest.split_to(length));
    }
    Ok(programs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_packed_is_itself_again() {
        let programs = [[1_u8, 2, 3].repeat(1_000), [4_u8, 5].repeat(700)];
        let framed = programs.iter().flat_map(|program| {
            [(program.len() as u64).to_le_bytes().as_slice(), program.as_slice()].concat()
        });
        let (framed, mut packed): (Vec<u8>, _) = (framed.collect(), Vec::new());
        let parameters = brotli::enc::BrotliEncoderParams::default();
        brotli::BrotliCompress(&mut framed.as_slice(), &mut packed, &parameters).unwrap();
        assert_eq!(unpacked(&packed).unwrap(), programs);
        assert!(unpacked(&packed[..packed.len() / 2]).is_err());
        let (mut half, mut cut) = (&framed[..framed.len() - 1], Vec::new());
        brotli::BrotliCompress(&mut half, &mut cut, &parameters).unwrap();
        assert!(unpacked(&cut).is_err(), "the last one is not whole");
    }
}
