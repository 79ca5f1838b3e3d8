//! The program that is put into containers: part of a release, read from a file while developing.

use std::path::Path;

use anyhow::Context;
use bytes::Bytes;

/// The program, by brotli.
#[cfg(feature = "embed")]
const PACKED: Option<&[u8]> = Some(include_bytes!(env!("BERTH_GUEST_PACKED")));
#[cfg(not(feature = "embed"))]
const PACKED: Option<&[u8]> = None;

/// The program of the file if one is named, else that of the binary.
pub(crate) fn program(file: Option<&Path>) -> anyhow::Result<Option<Bytes>> {
    match file {
        Some(file) => {
            let program = std::fs::read(file);
            let program = program.with_context(|| format!("guest = {}", file.display()))?;
            Ok(Some(program.into()))
        }
        None => {
            if PACKED.is_none() {
                tracing::warn!("there is no guest: nobody can enter a task by SSH");
            }
            PACKED.map(unpacked).transpose()
        }
    }
}

fn unpacked(mut packed: &[u8]) -> anyhow::Result<Bytes> {
    let mut program = Vec::new();
    let unpacked = brotli::BrotliDecompress(&mut packed, &mut program);
    unpacked.context("the guest within this binary is damaged")?;
    Ok(program.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_packed_is_itself_again() {
        let (program, mut packed) = ([1_u8, 2, 3].repeat(1_000), Vec::new());
        let parameters = brotli::enc::BrotliEncoderParams::default();
        brotli::BrotliCompress(&mut program.as_slice(), &mut packed, &parameters).unwrap();
        assert_eq!(unpacked(&packed).unwrap(), program);
        assert!(unpacked(&packed[..packed.len() / 2]).is_err());
    }
}
