//! Forms of files that few ask for. Of what is compressed there is the brotli form alone: a binary that had
//! them all would be a fifth larger. The others are made of it when somebody wants one, and kept for the next.

use std::collections::VecDeque;
use std::io::{self, Write as _};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};

/// Forms of so many bytes are kept: three times what all of the front end takes by gzip.
const MOST: usize = 16_000_000;

/// What is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// For browsers that do not take brotli.
    Gzip,
    /// For programs that take nothing.
    Plain,
}

/// Of what a form was made, and which it is.
type Name = ([u8; 32], Form);

/// Makes and keeps them.
#[derive(Debug, Default)]
pub(super) struct Forms {
    kept: Mutex<Kept>,
    /// One at a time: whoever asks for the same meanwhile waits for it, and many who ask for different ones
    /// take no more than one processor.
    turn: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct Kept {
    bytes: usize,
    /// The oldest first.
    forms: VecDeque<(Name, Bytes)>,
}

impl Forms {
    /// This form of a file whose brotli form is given. `None`: that is damaged.
    pub(super) async fn of(&self, packed: Bytes, form: Form) -> Option<Bytes> {
        let name: Name = (Sha256::digest(&packed).into(), form);
        if let Some(known) = self.kept().get(&name) {
            return Some(known);
        }
        let _turn = self.turn.lock().await;
        // Somebody may have made it meanwhile.
        if let Some(known) = self.kept().get(&name) {
            return Some(known);
        }
        let made = tokio::task::spawn_blocking(move || made(&packed, form)).await;
        match made.unwrap_or_else(|broken_off| Err(io::Error::other(broken_off))) {
            Ok(made) => {
                let made = Bytes::from(made);
                self.kept().keep(name, made.clone());
                Some(made)
            }
            Err(error) => {
                tracing::error!(%error, "a file of the front end is damaged");
                None
            }
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn get(&self, name: &Name) -> Option<Bytes> {
        let found = self.forms.iter().find(|(known, _)| known == name);
        found.map(|(_, bytes)| bytes.clone())
    }

    fn keep(&mut self, name: Name, made: Bytes) {
        self.bytes += made.len();
        self.forms.push_back((name, made));
        while self.bytes > MOST {
            let Some((_, oldest)) = self.forms.pop_front() else { break };
            self.bytes -= oldest.len();
        }
    }
}

fn made(mut packed: &[u8], form: Form) -> io::Result<Vec<u8>> {
    let mut plain = Vec::new();
    brotli::BrotliDecompress(&mut packed, &mut plain)?;
    match form {
        Form::Plain => Ok(plain),
        Form::Gzip => {
            let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
            gzip.write_all(&plain)?;
            gzip.finish()
        }
    }
}

/// A brotli form.
#[cfg(test)]
pub(super) fn packed(mut plain: &[u8]) -> Vec<u8> {
    let (mut packed, parameters) = (Vec::new(), brotli::enc::BrotliEncoderParams::default());
    brotli::BrotliCompress(&mut plain, &mut packed, &parameters).unwrap();
    packed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_form_is_made_once() {
        let (forms, packed) = (Forms::default(), Bytes::from(packed(&[b'a'; 5_000])));
        let first = forms.of(packed.clone(), Form::Plain).await.unwrap();
        assert_eq!(first.as_ref(), [b'a'; 5_000]);
        let again = forms.of(packed.clone(), Form::Plain).await.unwrap();
        assert_eq!(again.as_ptr(), first.as_ptr());
        let gzip = forms.of(packed.clone(), Form::Gzip).await.unwrap();
        assert_ne!(gzip, first);
        assert_eq!(forms.kept().forms.len(), 2);
        assert_eq!(forms.of(packed.slice(..packed.len() / 2), Form::Plain).await, None);
    }

    #[test]
    fn no_more_is_kept_than_there_is_room_for() {
        let mut kept = Kept::default();
        let name = |number| ([number; 32], Form::Gzip);
        for number in 0..3 {
            kept.keep(name(number), Bytes::from(vec![0; MOST / 2]));
        }
        assert_eq!(kept.get(&name(0)), None);
        assert!(kept.get(&name(1)).is_some() && kept.get(&name(2)).is_some());
        assert_eq!(kept.bytes, MOST);
        kept.keep(name(3), Bytes::from(vec![0; MOST + 1]));
        assert_eq!((kept.bytes, kept.forms.len()), (0, 0), "it is given and not kept");
    }
}
